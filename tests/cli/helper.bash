# shellcheck shell=bash
# helper: what the command-line tests share.  A test file begins with 'load helper'.
#
# Each test runs in an empty directory of its own, which is removed after it.

bats_require_minimum_version 1.5.0

: "${GPNN_ROOT:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${GPNN_BUILD:=$GPNN_ROOT/build}"
PATH=$GPNN_BUILD/bin:$PATH
export GPNN_ROOT GPNN_BUILD PATH LC_ALL=C
# Open MPI does not run for root, nor more ranks than there are cores, unless it is asked to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# Skips a test where there are no ranks, where they cannot start, as in some containers, and where
# sanitizers would report what Open MPI does not free.
need_ranks() {
  ! nm "$GPNN_BUILD/bin/gpnn-mpi" | grep -qE '__(asan|tsan)_init' || skip 'sanitizers report Open MPI'
  timeout 30 mpirun -q --oversubscribe -n 2 true >/dev/null 2>&1 || skip 'mpirun does not run here'
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return
}

# Says why a test failed, where bats shows it.
complain() {
  printf '%s\n' "$@" >&2
  return 1
}

# shellcheck source=tests/cli/table.bash
source "$GPNN_ROOT/tests/cli/table.bash"

# make_parameters KERNEL LENGTHSCALE KERNELSCALE NOISE NEIGHBOURS: parameters as tools write them.
make_parameters() {
  printf 'kernel\t%s\nlengthscale\t%s\nkernelscale\t%s\nnoise\t%s\nneighbours\t%s\n' "$@"
}

# make_model ROWS TEST-ROWS CALIBRATION-ROWS NEIGHBOURS: train.tsv, its index t.gpi, parameters t.par,
# and rows to predict in test.tsv.
make_model() {
  make_table "$1" 2 >train.tsv
  make_table "$2" 2 "$1" >test.tsv
  gpnn-index --calibration-rows "$3" -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 "$4" >t.par
}

# column NAME [FILE]: the values of one column of a tab-separated table.
column() {
  awk -F '\t' -v name="$1" '
    NR == 1 {
      for (i = 1; i <= NF; i++) if ($i == name) at = i
      if (!at) exit 1
      next
    }
    { print $at }' "${2--}"
}

# value NAME [FILE]: what stands beside NAME in name<TAB>value lines.
value() {
  awk -F '\t' -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' "${2--}"
}

# json [FILE]: the values of a JSON object, a line each: path, tab, value, as json.awk says.  Fails
# unless the file is one line of strict JSON.
json() {
  awk -f "$GPNN_ROOT/tests/cli/json.awk" "${1--}"
}

# warnings FILE: messages of gpnn-index without the line that every run says.
warnings() {
  sed '/^gpnn-index: .*: targets\{0,1\} .* held out$/d' "$1"
}

# assert_equal ACTUAL EXPECTED
assert_equal() {
  [[ $1 == "$2" ]] || complain "is:     $1" "should: $2"
}

# assert_near ACTUAL EXPECTED TOLERANCE
assert_near() {
  awk -v a="$1" -v b="$2" -v t="$3" \
    'BEGIN { d = a - b; exit !(a ~ /^[-+.0-9]/ && d <= t + 0 && -d <= t + 0) }' ||
    complain "is $1, not $2 within $3"
}

# assert_below ACTUAL LIMIT
assert_below() {
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[-+.0-9]/ && a + 0 < b + 0) }' ||
    complain "is $1, not below $2"
}

# The files here with their contents, as one text.
snapshot() {
  find . -type f -exec cksum {} + | sort
}

# assert_fails STATUS PATTERN COMMAND...: COMMAND ends with STATUS and says so in exactly one
# line on standard error, "TOOL: " and then something that PATTERN (an extended regular
# expression) matches; indented lines may follow, and after a wrong command line one that points to
# --help.  It leaves the files here as they were.  Standard input is passed on.
assert_fails() {
  local wanted=$1 pattern=$2 status=0 before message line tool lines=()
  shift 2
  tool=${1##*/}
  before=$(snapshot)
  message=$("$@" 2>&1 >/dev/null) || status=$?
  ((status == wanted)) || complain "status $status, not $wanted, of: $*" "$message" || return
  while IFS= read -r line; do
    [[ ${#lines[@]} -gt 0 && ($line == "  "* || ($status == 2 && $line == *"try '$tool "*"--help'"*)) ]] ||
      lines+=("$line")
  done <<<"$message"
  ((${#lines[@]} == 1)) || complain "not one line:" "$message" || return
  [[ ${lines[0]} == "$tool: "* ]] || complain "does not begin with '$tool: ':" "$message" || return
  [[ ${lines[0]#"$tool: "} =~ $pattern ]] || complain "no '$pattern' in:" "$message" || return
  [[ $(snapshot) == "$before" ]] || complain "files changed:" "$before" "now:" "$(snapshot)"
}
