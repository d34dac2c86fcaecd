#!/usr/bin/env bats
# The tarball that 'make dist' writes.

load helper

@test "the tarball of a commit has what is committed, and always the same bytes" {
  git -C "$GPNN_ROOT" rev-parse -q HEAD >/dev/null 2>&1 || skip 'not in a clone'
  for to in a b; do make -s -C "$GPNN_ROOT" BUILD="$PWD/$to" dist >"$to.name"; done
  cmp "$(cat a.name)" "$(cat b.name)"
  tar -tzf "$(cat a.name)" | sed 's|^[^/]*/||; /\/$/d; /^$/d' | LC_ALL=C sort | diff - <(git -C "$GPNN_ROOT" ls-tree -r --name-only HEAD | LC_ALL=C sort)
}
