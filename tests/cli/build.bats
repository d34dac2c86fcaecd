#!/usr/bin/env bats
# What make and tests/run make of what they are given.

load helper

# asked TARGET SCRIPT ARGUMENT...: a line for each word that 'make TARGET ARGUMENT...' would give
# to the script, by the shell's own reading, whatever the make that runs the tests was given.
asked() {
  env -u T -u B -u CELLS make -n -C "$GPNN_ROOT" BUILD="$GPNN_BUILD" "$1" "${@:3}" | grep -F "$2" | tail -n 1 |
    sed "s|.*$2|printf '%s\\\\n'|" | sh
}

@test "a pattern reaches the tests as it was typed" {
  run -0 asked check tests/run T='^(unit|fuzz)/it'\''s x$'
  assert_equal "$output" '^(unit|fuzz)/it'\''s x$'
  run -0 asked faults scripts/faults F='(fit|predict) read;'
  assert_equal "$output" '(fit|predict) read;'
  run -0 asked tsan scripts/tsan T='a|b'
  assert_equal "$output" 'a|b'
}

@test "names reach the scripts one by one" {
  run -0 asked matrix scripts/matrix CELLS='gcc a&b'
  assert_equal "$output" $'gcc\na&b'
  run -0 asked bench scripts/bench/run B='(rows) m'
  assert_equal "$output" $'(rows)\nm'
}

@test "with nothing picked, scripts are given nothing" {
  for target in check/tests/run bench/scripts/bench/run matrix/scripts/matrix; do
    run -0 asked "${target%%/*}" "${target#*/}"
    assert_equal "$output" ''
  done
}

@test "make test runs all tests without the lint" {
  run -0 asked test tests/run
  assert_equal "$output" '^(unit|cli|fuzz)/'
  run -0 asked test tests/run T='^unit/it'\''s x$'
  assert_equal "$output" '^unit/it'\''s x$'
}

@test "make check installs what is missing, make test does not" {
  run -0 make -n -C "$GPNN_ROOT" BUILD="$GPNN_BUILD" check
  [[ $output == *scripts/setup* ]] || complain "$output"
  run -0 make -n -C "$GPNN_ROOT" BUILD="$GPNN_BUILD" test
  [[ $output == *tests/run* && $output != *scripts/setup* ]] || complain "$output"
}

# run_tests CLOCK: tests/run with limits of a second of a processor and of CLOCK s by the clock, on a
# unit test, the script that is read.
run_tests() {
  mkdir -p tree/tests/unit build/tests
  sed "s/ 300 / 1 /; s/10 \* seconds/$1 * seconds/" "$GPNN_ROOT/tests/run" >tree/tests/run
  touch tree/tests/unit/test_it.c
  { echo '#!/bin/sh' && cat; } >build/tests/test_it
  chmod +x tree/tests/run build/tests/test_it
  GPNN_BUILD=build PATIENCE=1 tree/tests/run '^unit/it$'
}

@test "a test that waits is not ended as one that works" {
  run -0 run_tests 100 <<<'sleep 2; echo 1..1; echo ok 1'
  [[ $output == *'1 passed, 0 failed' ]]
}

@test "a test that works for ever is ended, and has failed" {
  run -1 run_tests 100 <<<'echo 1..1; while :; do :; done'
  [[ $output == *'ended after 1 s of a processor'*'0 passed, 1 failed' ]]
}

@test "a child that works for ever is ended, and the test continues" {
  run -1 run_tests 100 <<<'echo 1..2; sh -c "while :; do :; done" || echo not ok 1; echo ok 2'
  [[ $output == *'1 passed, 1 failed' ]]
}

@test "a test that waits for ever is ended, and has failed" {
  run -1 run_tests 2 <<<'echo 1..1; sleep 100'
  [[ $output == *'ended after 2 s by the clock'*'0 passed, 1 failed' ]]
}
