#!/usr/bin/env bats
# Many threads, many processes: neither changes a byte.  scripts/threads and scripts/load do this, and
# more, at any length.

load helper

@test "neither threads nor the settings of OpenMP, the BLAS and malloc change a byte" {
  "$GPNN_ROOT/scripts/threads" 0
}

@test "readers of an index that is replaced over and over see the old one or the new" {
  READERS=3 REPLACEMENTS=12 "$GPNN_ROOT/scripts/load" replace
}
