#!/usr/bin/env bats
# What 'make install' puts in place works from there, and 'make uninstall' takes it all away.

load helper

# Runs the project's make with everything below a directory of the test, wherever the make that
# runs the tests would install.
make_there() {
  env -u bindir -u docdir -u libdir -u includedir -u mandir -u bashcompletiondir -u zshcompletiondir make -s -C "$GPNN_ROOT" BUILD="$GPNN_BUILD" DESTDIR="$PWD/dest" PREFIX=/opt/gpnn "$@"
}

# Installs once for the tests that only look at what is there.
setup_file() {
  cd "$BATS_FILE_TMPDIR" && make_there install
}

see_installed() {
  ln -s "$BATS_FILE_TMPDIR/dest" dest
}

# A test build may be sanitized, and then so must be what is linked with it.
sanitizers() {
  case $(nm "$GPNN_BUILD/libgpnn.a") in
    *__asan_init*) echo -fsanitize=address,undefined ;;
    *__tsan_init*) echo -fsanitize=thread ;;
  esac
}

# pkg-config that finds only the installed gpnn, where it now lies.
pkg_config_there() {
  PKG_CONFIG_PATH=$PWD/dest/opt/gpnn/lib/pkgconfig pkg-config --define-prefix "$@" gpnn
}

@test "installed tools run" {
  see_installed
  for tool in "$GPNN_ROOT"/cmd/*.c; do
    name=$(basename "$tool" .c)
    run -0 "dest/opt/gpnn/bin/$name" --version
    [[ $output == *"$name"*"$(pkg_config_there --modversion)"* ]] || complain "$output"
  done
}

@test "a manual is installed for every tool" {
  see_installed
  for tool in dest/opt/gpnn/bin/*; do
    [[ -f dest/opt/gpnn/share/man/man1/${tool##*/}.1 ]] || complain "no manual for ${tool##*/}"
  done
}

@test "shells find a completion for every tool" {
  see_installed
  for tool in dest/opt/gpnn/bin/*; do
    file=dest/opt/gpnn/share/bash-completion/completions/${tool##*/}
    bash --norc -c 'source "$1" && complete -p "$2"' - "$file" "${tool##*/}"
    head -n 1 dest/opt/gpnn/share/zsh/site-functions/_gpnn | grep -qw -- "${tool##*/}"
  done
}

# compile_c SOURCE OPTION..., compile_cxx likewise: without a warning, but for those of objects that
# are initialised in part.
warnings='-Wall -Wextra -Wpedantic -Wno-missing-braces -Wno-missing-field-initializers -Werror'

compile_c() {
  # shellcheck disable=SC2046,SC2086 # lists of words
  ${CC:-cc} -std=c11 $warnings "$1" $(sanitizers) "${@:2}"
}

compile_cxx() {
  # shellcheck disable=SC2046,SC2086 # lists of words
  ${CXX:-c++} -std=c++20 $warnings -x c++ "$1" -x none $(sanitizers) "${@:2}"
}

# compile_client c|cxx SOURCE [--static]: with what pkg-config says where no other package has a
# file.
compile_client() {
  local flags libraries
  export PKG_CONFIG_LIBDIR=$PWD/none
  read -ra flags <<<"$(pkg_config_there --cflags)"
  read -ra libraries <<<"$(pkg_config_there --libs "${@:3}")"
  "compile_$1" "$2" -o client "${flags[@]}" "${libraries[@]}"
}

# A client that does next to nothing.
write_client() {
  cat >client.c <<'END'
#include <gpnn/gpnn.h>
#include <stdio.h>
int main(void)
{
  return printf("%s %d\n", GPNN_VERSION, gpnn_threads_available() > 0) < 0;
}
END
}

@test "a client compiles with the flags of pkg-config, in C and in C++" {
  see_installed
  write_client
  for language in c cxx; do
    compile_client "$language" client.c
    run -0 ./client
    assert_equal "$output" "$(pkg_config_there --modversion) 1"
  done
}

@test "a client links with the flags of pkg-config --static as without them" {
  see_installed
  write_client
  compile_client c client.c --static
  run -0 ./client
}

@test "a client needs only the include directory for every header" {
  see_installed
  for language in c cxx; do
    "compile_$language" "$GPNN_ROOT/tests/cli/client.c" -c -o client.o -Idest/opt/gpnn/include
  done
}

@test "gpnn.h and the headers that it includes are installed" {
  see_installed
  write_client
  compile_c client.c -M -MF client.d -Idest/opt/gpnn/include
  assert_equal "$(tr -s ' \\' '\n' <client.d | grep '^dest/' | sort)" \
    "$(find dest/opt/gpnn/include -type f | sort)"
}

@test "a client goes from a table to scored predictions, as the tools do" {
  see_installed
  make_table 400 >train.tsv
  make_table 100 2 400 >test.tsv
  for language in c cxx; do
    compile_client "$language" "$GPNN_ROOT/tests/cli/client.c"
    run -0 ./client train.tsv test.tsv "$language.gpi" "$language.par"
    gpnn-predict -p "$language.par" "$language.gpi" test.tsv >predictions.tsv
    assert_near "$output" "$(gpnn-eval predictions.tsv | value rmse)" 1e-5
  done
  cmp c.gpi cxx.gpi
  cmp c.par cxx.par
}

@test "install-strip leaves no debugging symbols" {
  make_there install-strip
  for tool in "$GPNN_ROOT"/cmd/*.c; do
    name=$(basename "$tool" .c)
    run -0 "dest/opt/gpnn/bin/$name" --version
    run -0 readelf --section-headers "dest/opt/gpnn/bin/$name"
    [[ $output != *.debug_info* && $output != *.symtab* ]] || complain "$name is not stripped"
  done
  write_client
  compile_client c client.c
}

@test "a directory may have any name" {
  make_there install DESTDIR="$PWD/it's (new) & \"mine\""
  make_there uninstall DESTDIR="$PWD/it's (new) & \"mine\""
  assert_equal "$(find it* ! -type d)" ""
  assert_equal "$(find . -path '*gpnn/include/gpnn')" ""
}

@test "only public headers are installed" {
  see_installed
  run ! grep -rlE '#include <(faiss|cblas|lapacke|zlib|nlopt|suitesparse|rapidjson)' dest/opt/gpnn/include
}

@test "directories can be chosen one by one" {
  local places='bindir=/b libdir=/l includedir=/i mandir=/m docdir=/d bashcompletiondir=/c zshcompletiondir=/z'
  # shellcheck disable=SC2086 # a list of words
  make_there install $places
  [[ -f dest/l/libgpnn.a && -f dest/i/gpnn/gpnn.h && -f dest/c/gpnn && -f dest/z/_gpnn && -f dest/d/LICENSE && ! -e dest/opt ]]
  grep -qx 'libdir=/l' dest/l/pkgconfig/gpnn.pc
  # shellcheck disable=SC2086
  make_there uninstall $places
  assert_equal "$(find dest ! -type d)" ""
}

@test "uninstall removes our files and no others" {
  mkdir -p dest/opt/gpnn/bin
  touch dest/opt/gpnn/bin/other
  make_there install
  make_there uninstall
  assert_equal "$(find dest ! -type d)" dest/opt/gpnn/bin/other
  [[ ! -e dest/opt/gpnn/include/gpnn ]]
}

@test "every global name of the library begins with gpnn_" {
  [[ -z $(sanitizers) ]] || skip "sanitizers add names of their own"
  run -0 nm --extern-only --defined-only "$GPNN_BUILD/libgpnn.a"
  [[ $output == *' T gpnn_predict'* ]]
  assert_equal "$(awk 'NF == 3 && $3 !~ /^gpnn_/ { print $3 }' <<<"$output")" ""
}

@test "a tool is linked with the libraries that it needs, and where that is a BLAS keeps it to one thread" {
  [[ -z $(sanitizers) ]] || skip "sanitizers keep more"
  local name
  for name in gpnn-split gpnn-combine gpnn-plot; do
    run -0 readelf --dynamic "$GPNN_BUILD/bin/$name"
    [[ $output == *libz* && $output != *blas* ]] || complain "$name needs a BLAS"
    run -0 "$GPNN_BUILD/bin/$name" --version
    [[ $output != *FAISS* && $output != *BLAS* ]] || complain "$name has what it does not need"
  done
  for name in "$GPNN_BUILD"/bin/gpnn*; do
    if nm "$name" | grep -qE ' U (cblas_|LAPACKE_|openblas_)'; then
      nm "$name" | grep -q ' T gpnn_blas_single_thread' || complain "$name leaves its BLAS alone"
    fi
  done
}
