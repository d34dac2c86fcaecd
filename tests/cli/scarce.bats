#!/usr/bin/env bats
# Every tool where the system has nothing left to give, or will not take what is written.

load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 160 2 >train.tsv
  make_table 12 2 160 >test.tsv
  printf '# gpnn parameters 1\nkernel\texp\nlengthscale\t0.8\nkernelscale\t1\nnoise\t0.05\nneighbours\t10\n' >t.par
  gpnn-index -q --search ivf -m 10 -o t.gpi train.tsv
  gpnn-predict -q -p t.par -o pred.tsv t.gpi test.tsv
}

# Every tool, less its output.
commands=(
  'gpnn-split -f 1:1 -o b train.tsv'
  'gpnn-index -q train.tsv'
  'gpnn-fit -q --effort fast -m 10 t.gpi'
  'gpnn-calibrate -q -p t.par t.gpi'
  'gpnn-predict -q -p t.par t.gpi test.tsv'
  'gpnn-eval -q pred.tsv'
  'gpnn-info t.gpi'
  'gpnn-simulate data -q -n 50'
  'gpnn-simulate limits -q -n 50 -m 5 --test 10 --dimension 2'
  'gpnn-simulate risk -q -n 50,60 -m 5 --test 10 --dimension 2'
  'gpnn-simulate advise -q -p t.par t.gpi'
  'gpnn-plot -q --script predicted pred.tsv'
)

fixture() {
  cp "$BATS_FILE_TMPDIR"/{train.tsv,test.tsv,t.par,t.gpi,pred.tsv} .
}

@test "if address space is short a fit uses fewer threads, or reports it" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  fixture
  export OPENBLAS_NUM_THREADS=1
  # Blocks for six threads, large enough for OpenBLAS to want buffers: more than there is room for.
  gpnn-simulate data -q -n 2400 --dimension 3 >many.tsv
  gpnn-index -q --calibration-rows 0 -o many.gpi many.tsv
  local fit=(gpnn-fit -q --kernel exp --ard no --rotate none --likelihood gaussian --objective block
    --tune blocks=6 --tune block-size=400)
  "${fit[@]}" many.gpi >free.par
  (ulimit -v 400000 && timeout 300 "${fit[@]}" -j 8 many.gpi) >limited.par
  cmp free.par limited.par
  gpnn-index -q --calibration-rows 0 -o few.gpi train.tsv
  gpnn-fit -q --effort fast -o few.par few.gpi
  for command in 'gpnn-fit -q --effort fast --kernel exp -m 10 t.gpi' 'timeout 60 gpnn-calibrate -q -p few.par few.gpi' 'gpnn-index -q --standardise whiten -o w.gpi train.tsv' \
    'gpnn-simulate data --kind gp -n 50'; do
    run -1 bash -c "ulimit -v 150000 && exec $command"
    [[ $output == *'not enough memory for OpenBLAS: it takes 128 MiB of address space'* ]]
  done
  [[ ! -e w.gpi ]]
}

@test "without memory for OpenBLAS tools do without it or report it, and none hangs" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  fixture
  local kind limit
  gpnn-predict -q t.gpi -p t.par test.tsv >free.tsv
  for limit in 110000 150000 190000; do
    (ulimit -v $limit && timeout 60 gpnn-info t.gpi) | grep -q ^fingerprint
    (ulimit -v $limit && timeout 60 gpnn-predict -q -j 1 t.gpi -p t.par test.tsv) | cmp - free.tsv
    for kind in tree flat hnsw; do
      (ulimit -v $limit && timeout 60 gpnn-index -q -j 1 --search $kind -o x.gpi train.tsv)
    done
    rm x.gpi
    run -1 bash -c "ulimit -v $limit && exec timeout 60 gpnn-index -q --search ivf -o x.gpi train.tsv"
    [[ $output == *'not enough memory for OpenBLAS: it takes 128 MiB of address space'* ]]
    [[ ! -e x.gpi ]]
  done
}

@test "what a limit of memory allows, a larger one allows too" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  fixture
  local limit works=''
  make_table 3000 9 >many.tsv
  gpnn-index -q -o t.gpi many.tsv
  gpnn-predict -q t.gpi -p t.par many.tsv >free.tsv
  (ulimit -s 8192 && for limit in {4..28..4}; do
    if gpnn-predict -q -j 2 --memory "${limit}M" t.gpi -p t.par many.tsv >got.tsv 2>err; then
      works=$limit
      cmp got.tsv free.tsv || exit 1
    elif [[ $works ]]; then
      complain "$works M is enough, $limit M is not: $(<err)"
    fi
  done && [[ $works ]])
}

@test "a limit of memory is kept, and what needs more is refused with the need" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  fixture
  local command size
  gpnn-simulate data -q --kind function --function waves --dimension 8 -n 60000 >long.tsv
  gpnn-index -q -o free.gpi long.tsv
  gpnn-index -q --memory 100M -o limited.gpi long.tsv
  cmp free.gpi limited.gpi
  gpnn-fit -q --effort fast -o free.par t.gpi
  gpnn-fit -q --effort fast -j 8 --memory 180M t.gpi | cmp - free.par # memory for one thread of eight
  for command in "${commands[@]}"; do
    [[ $command == gpnn-[is][np][dl]* ]] && command+=' -o y'
    $command --memory 1G >/dev/null
  done
  printf 'kernel\texp\nlengthscale\t1 2 3 4 5 6 7 8\nkernelscale\t1\nnoise\t0.05\nneighbours\t10\n' | tr ' ' '\t' >ard.par
  assert_fails 1 'the search needs about 0.00[0-9]* GB of memory, more than is left of the 0.00[0-9]* GB that are allowed .--memory 5M.' \
    gpnn-calibrate -q -j 1 --memory 5M -p ard.par free.gpi
  assert_fails 1 'memory.* .--memory 4M.' gpnn-index -q --memory 4M -o x.gpi long.tsv
  run -1 gpnn -q --memory 4M --save x.gpm long.tsv
  [[ $output == 'gpnn-index: '*memory*' (--memory 4M)' ]]
  [[ ! -e x.gpi && ! -e x.gpm ]]
  for size in 0 x 2Q -1M ''; do
    run -2 gpnn-eval --memory "$size" pred.tsv
  done
  [[ $output == *'--memory'* ]]
}

@test "with few file descriptors a tool works or reports it" {
  # The sanitizer of objects looks at memory through a pipe, and complains where there is none.
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __ubsan_ || skip 'not with sanitizers'
  fixture
  local before command n status
  for command in "${commands[@]}" 'gpnn-plot -q predicted pred.tsv'; do
    for n in 4 5 6 7 8 9 12 16; do
      before=$(snapshot)
      status=0
      # shellcheck disable=SC2086 # a command
      (ulimit -n $n && exec $command -o x) >/dev/null 2>err.txt 3>&- || status=$?
      mv err.txt "$BATS_TEST_TMPDIR/err"
      ((status != 0)) || break
      ((status != 127)) || continue # too few to load its libraries
      assert_equal "$status" 1
      [[ $(<"$BATS_TEST_TMPDIR/err") =~ ^"${command%% *}: "[^$'\n']*'Too many open files'$ ||
        $command == 'gpnn-plot -q predicted'* ]] || complain "$command" "$(<"$BATS_TEST_TMPDIR/err")"
      assert_equal "$(snapshot)" "$before"
    done
    ((status == 0)) || [[ $command == 'gpnn-plot -q predicted'* ]] # where there is no gnuplot
    rm -f x b
  done
}

@test "an output that cannot be created is reported before anything is written" {
  fixture
  local command size
  mkdir closed
  for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # a command
    assert_fails 1 '^none/x: cannot be created: No such file' $command -o none/x
    # shellcheck disable=SC2086 # a command
    assert_fails 1 '^closed: (cannot be opened: I|i)s a directory' $command -o closed
    # shellcheck disable=SC2086 # a command
    assert_fails 1 '^test.tsv/x: cannot be created: Not a directory' $command -o test.tsv/x
  done
}

@test "tools report outputs that they may not write" {
  fixture
  mkdir closed
  echo old >closed/x
  chmod 555 closed
  if ((EUID == 0)); then
    mount --bind closed closed 2>/dev/null || skip 'cannot mount'
    mount -o remount,bind,ro closed || { umount closed; skip 'cannot mount'; }
  fi
  local command failed=
  for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # a command
    assert_fails 1 '^[^ ]*closed/x: cannot be created: (Read-only|Permission)' $command -o closed/x || failed=1
  done
  ((EUID != 0)) || umount closed
  [[ -z $failed ]]
}

@test "every tool reports help, versions and output that cannot be written" {
  fixture
  local tool option command
  for tool in "$GPNN_BUILD"/bin/*; do
    tool=${tool##*/}
    [[ $tool != gpnn-simulate ]] || tool='gpnn-simulate data'
    for option in --help --version; do
      run -1 bash -c "$tool $option >/dev/full"
      assert_equal "$output" "${tool%% *}: (stdout): cannot be written: No space left on device"
      run -1 bash -c "$tool $option >&-"
      assert_equal "$output" "${tool%% *}: (stdout): cannot be written: Bad file descriptor"
    done
  done
  for command in "${commands[@]}"; do
    [[ $command != gpnn-index* ]] || continue
    run -1 bash -c "$command -o - >/dev/full"
    assert_equal "$output" "${command%% *}: (stdout): cannot be written: No space left on device"
    run -1 bash -c "$command -o - >&-"
    [[ $output == "${command%% *}: (stdout): cannot be "*': Bad file descriptor' ]] || complain "$command: $output"
    rm -f b
  done
}

@test "a closed pipe ends every tool quietly" {
  fixture
  local command size
  for command in "${commands[@]}"; do
    [[ $command != gpnn-index* ]] || continue
    bash -c "exec 3> >(:); wait \$!; { $command -o - >&3; echo \$? >status; } 2>err"
    assert_equal "$(cat err)" ''
    [[ $(cat status) == 1 || $(cat status) == 141 ]] || complain "$command: status $(cat status)"
  done
  rm err status
  assert_equal "$(find . -name '.*' -type f)" ''
}

@test "if two tools write a file at once, it is complete and from one of them" {
  fixture
  local job
  head -n 100 train.tsv >less.tsv
  gpnn-index -q -o a.gpi train.tsv
  gpnn-index -q -o b.gpi less.tsv
  gpnn-predict -q -p t.par -o a.tsv t.gpi test.tsv
  gpnn-predict -q -p t.par -o b.tsv t.gpi train.tsv
  for _ in {1..10}; do
    gpnn-index -q -o x.gpi train.tsv &
    gpnn-index -q -o x.gpi less.tsv &
    gpnn-predict -q -p t.par -o x.tsv t.gpi test.tsv &
    gpnn-predict -q -p t.par -o x.tsv t.gpi train.tsv &
    for job in $(jobs -p); do wait "$job"; done
    gpnn-info --verify x.gpi | grep -qx $'verified\tyes'
    cmp -s x.gpi a.gpi || cmp x.gpi b.gpi
    cmp -s x.tsv a.tsv || cmp x.tsv b.tsv
  done
  assert_equal "$(find . -name '.*' -type f)" ''
}

# wide_table ROWS COLUMNS: numbers of one digit, and a target.
wide_table() {
  awk -v rows="$1" -v d="$2" 'BEGIN {
    for (j = 1; j <= d; j++) printf "x%d\t", j
    print "y"
    for (i = 1; i <= rows; i++) {
      for (j = 1; j <= d; j++) printf "%d\t", (i * j + i * i) % 10
      print i
    }
  }'
}

@test "memory does not grow with columns times rows of a batch, nor time with columns squared" {
  fixture
  wide_table 3 160000 >wide.tsv
  wide_table 60 40000 >many.tsv
  make_parameters exp 1 1 0.1 2 >w.par
  (
    if ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_; then ulimit -v 700000; fi
    ulimit -t 60 # what is quadratic takes longer by far
    gpnn-index -q --calibration-rows 0 -j 2 -o wide.gpi wide.tsv
    gpnn-predict -q -j 2 -p w.par --append wide.gpi wide.tsv >wide.out
    gpnn-info wide.gpi >info.txt
    gpnn-index -q --period x1=7 --calibration-rows 0 -j 2 -o period.gpi wide.tsv
    gpnn-info period.gpi >period.txt
    gpnn-index -q -o many.gpi many.tsv
  )
  assert_equal "$(grep -c $'^input\t' info.txt)" 160000
  assert_equal "$(grep -c ^group period.txt)" "$(($(value inputs period.txt) - 1))"
  assert_equal "$(awk 'NR == 2 { print NF }' wide.out)" 160003
  # A batch has fewer rows than there are, and answers do not depend on it.
  gpnn-predict -q -p w.par many.gpi many.tsv >usual.tsv
  gpnn-predict -q -p w.par --batch 7 many.gpi many.tsv | cmp - usual.tsv
}

@test "memory does not grow with the text that is carried" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  fixture
  awk 'BEGIN { for (t = "x"; length(t) < 1e6; t = t t); while ((getline line <"test.tsv") > 0) for (i = 0; i < 25; i++)
    if (n++ % 25 == 0 || n > 25) print line "\t" (n == 1 ? "text" : t) }' >text.tsv
  (ulimit -v 500000 && gpnn-predict -q -j 2 -p t.par --append t.gpi text.tsv) >usual.tsv
  gpnn-predict -q -p t.par --append --batch 3 t.gpi text.tsv | cmp - usual.tsv
  assert_equal "$(wc -l <usual.tsv)" 301
}

@test "too little memory at the start is reported" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  export OPENBLAS_NUM_THREADS=1
  limited() (
    ulimit -v "$1" && ulimit -c 0 && exec gpnn-info --version
  )
  # The least that it runs with; below, objects of libraries are made before the tool begins.
  local low=1000 high=400000 middle n status
  while ((high - low > 8)); do
    middle=$(((low + high) / 2))
    if limited $middle >/dev/null 2>&1; then high=$middle; else low=$middle; fi
  done
  for ((n = high - 240; n <= high; n += 8)); do
    status=0
    limited $n >/dev/null 2>err.txt || status=$?
    case $status in
      0 | 1 | 127 | 139) ;; # 127, 139: libraries that cannot be loaded
      *) complain "status $status with $n KiB: $(<err.txt)" || return ;;
    esac
    ((status != 1)) || [[ $(<err.txt) == *': not enough memory' ]] || complain "$(<err.txt)" || return
  done
}
