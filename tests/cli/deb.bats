#!/usr/bin/env bats
# The Debian packages: what they have, that it works from where it is installed, and that nothing is
# left when they are removed.

load helper

# Packs what is built, once for all tests.  Compressed quickly, not well.
setup_file() {
  ! obstacle || return 0
  touch "$BATS_FILE_TMPDIR"/{gpnn,gpnn_0_all.deb} # what is of the user, and of an earlier version
  export PACKAGES=$BATS_FILE_TMPDIR DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
  "$GPNN_ROOT/scripts/deb" "$(version)" "$PACKAGES" >"$PACKAGES/names" 2>"$PACKAGES/messages"
}

setup() {
  ! obstacle || skip "$(obstacle)"
  mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return
}

# Says why there can be no packages; false if there can.
obstacle() {
  if ! command -v dpkg-shlibdeps >/dev/null; then
    echo 'no dpkg-dev'
  elif nm "$GPNN_BUILD/libgpnn.a" | grep -qE '__(a|t)san_init'; then
    echo 'not of a sanitized build'
  else
    return 1
  fi
}

version() {
  sed -n 's/^VERSION := //p' "$GPNN_ROOT/Makefile"
}

# The file of package $1.
package() {
  grep "/$1_" "$PACKAGES/names"
}

# Every file and folder of package $1 but its folders, as they are installed, sorted.
contents() {
  dpkg-deb --fsys-tarfile "$(package "$1")" | tar -t | sed -n 's|^\.\(/.*[^/]\)$|\1|p' | sort
}

# dpkg in a tree of its own, where no other package is installed.
dpkg_in_tree() {
  local as_root=()
  ((EUID == 0)) || as_root=(fakeroot)
  PATH=/usr/sbin:/sbin:$PATH "${as_root[@]}" dpkg --root="$PWD/tree" --log=/dev/null --force-not-root \
    --force-depends --force-script-chrootless "$@" >dpkg.txt 2>&1 || complain "$(cat dpkg.txt)"
}

make_tree() {
  mkdir -p tree/var/lib/dpkg/{info,updates,triggers} tree/usr/bin
  touch tree/var/lib/dpkg/{status,available} tree/usr/bin/other
}

# What is installed in the tree, without dpkg's own notes.
installed() {
  find tree -path tree/var/lib/dpkg -prune -o -print | sort
}

@test "packages take the place of earlier ones, and of nothing else" {
  assert_equal "$(wc -l <"$PACKAGES/names")" 3
  [[ -e $PACKAGES/gpnn && ! -e $PACKAGES/gpnn_0_all.deb ]]
}

@test "the packages are made without a warning, and named by the version" {
  assert_equal "$(cat "$PACKAGES/messages")" ''
  of=$(version)-0local1_$(dpkg --print-architecture)
  assert_equal "$(sed 's|.*/||' "$PACKAGES/names" | paste -sd ' ')" \
    "gpnn_$of.deb gpnn-mpi_$of.deb libgpnn-dev_$of.deb"
}

@test "every tool and page is in the package gpnn, with completion, licence and changes; gpnn-mpi has its own" {
  contents gpnn >files
  contents gpnn-mpi >of_mpi
  run ! grep mpi files
  cat of_mpi >>files
  for tool in "$GPNN_ROOT"/cmd/*.c; do
    name=$(basename "$tool" .c)
    grep -qx "/usr/bin/$name" files
    grep -qx "/usr/share/bash-completion/completions/$name" files
  done
  for page in "$GPNN_ROOT"/man/*.[1-9]; do
    grep -qx "/usr/share/man/man${page##*.}/${page##*/}.gz" files || complain "no $page"
  done
  grep -qx /usr/share/zsh/vendor-completions/_gpnn files
  grep -qx /usr/share/doc/gpnn/copyright files
  grep -qx /usr/share/doc/gpnn/changelog.gz files
  run ! grep -vE '^/usr/(bin|share)/' files
}

@test "only gpnn-mpi needs an MPI" {
  dpkg-deb -f "$(package gpnn)" Depends >depends
  run ! grep mpi depends
  dpkg-deb -f "$(package gpnn-mpi)" Depends | grep -q openmpi
}

@test "library, headers and the file for pkg-config are in libgpnn-dev" {
  contents libgpnn-dev >files
  grep -qE '^/usr/lib/[^/]+/libgpnn\.a$' files
  grep -qE '^/usr/lib/[^/]+/pkgconfig/gpnn\.pc$' files
  grep -qx /usr/include/gpnn/gpnn.h files
  run ! grep /usr/bin files
}

@test "the package depends on the libraries that its tools load" {
  dpkg-deb -f "$(package gpnn)" Depends >depends
  for library in libopenblas0 liblapacke libcholmod3 libnlopt0 zlib1g libstdc++6 libc6; do
    grep -qwF "$library" depends || complain "not on $library but $(cat depends)"
  done
}

@test "the same build gives the same packages" {
  "$GPNN_ROOT/scripts/deb" "$(version)" again >names 2>/dev/null
  while read -r file; do
    cmp "$file" "$PACKAGES/${file##*/}"
  done <names
}

@test "what is installed works, and removing it leaves nothing" {
  [[ $EUID -eq 0 || -n $(command -v fakeroot) ]] || skip 'neither root nor fakeroot'
  make_tree
  installed >before
  dpkg_in_tree --install "$(package gpnn)" "$(package gpnn-mpi)" "$(package libgpnn-dev)"
  run -0 "$GPNN_ROOT/tests/installed" tree
  [[ $output == *library* ]]
  dpkg_in_tree --purge gpnn gpnn-mpi libgpnn-dev
  installed >after
  diff before after
  run ! grep gpnn tree/var/lib/dpkg/status
}
