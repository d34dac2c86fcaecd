#!/usr/bin/env bats
# gpnn-mpi: the bytes of gpnn-predict whatever the number of ranks, and what is told when shards do
# not fit.

load helper

setup() {
  need_ranks
  mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return
}

# ranks N COMMAND...: runs gpnn-mpi on N ranks.
ranks() {
  local n=$1
  shift
  timeout 120 mpirun -q --oversubscribe -n "$n" gpnn-mpi "$@"
}

# same_bytes ROWS PARAMETERS OPTION...: shards of 1 to 4 ranks predict as one machine does.
same_bytes() {
  local r
  gpnn-index -q --recall 1 -o one.gpi "$1"
  gpnn-predict -q "${@:3}" -p "$2" one.gpi test.tsv >one.tsv
  for r in ${how_many:-1 2 3 4}; do
    rm -rf shards
    ranks "$r" index -q -o shards "$1"
    ranks "$r" predict -q "${@:3}" -p "$2" shards test.tsv >out.tsv
    cmp one.tsv out.tsv || complain "$r ranks"
  done
}

# Says what tools write about themselves, without what mpirun says.
said() {
  grep '^gpnn-mpi' "$1"
}

# Shards of two ranks, and parameters, in shards/ and t.par.
make_shards() {
  make_model 300 20 30 8
  ranks 2 index -q -o shards train.tsv
}

@test "ranks predict the bytes of one machine" {
  make_model 500 100 50 8
  how_many='1 2 3 4 8'
  same_bytes train.tsv t.par --interval 0.5,0.9
}

@test "so they do by parameters that were fitted and calibrated, of rows that stand several times" {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 30 == 0' >some.tsv
  awk 'NR == 1 || NR % 9 < 3' some.tsv >more.tsv
  { cat some.tsv; sed 1d more.tsv; } >train.tsv
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 55 == 3' >test.tsv
  gpnn-index -q --recall 1 -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
  grep -q '^scale-misfit' t.par # so that scales are those of places
  same_bytes train.tsv t.par --append
  gpnn-index -q -o t.gpi train.tsv
  cmp t.gpi shards/sample.gpi
}

@test "so they do where rows have fewer neighbours than asked for" {
  make_model 20 30 0 400
  printf 'likelihood\tstudent\nscale\t1\ndegrees\t5\n' >>t.par
  same_bytes train.tsv t.par
}

@test "so they do by several models with metrics of their own, and where rows are far" {
  make_model 300 50 30 8
  {
    sed 's/0\.5/0.5\t0.2/' t.par
    printf 'likelihood\tstudent\nscale\t1\ndegrees\t5\nweight\t0.75\nmember\t2\n'
    make_parameters exp 0.3 1 0.01 8
    printf 'weight\t0.25\n'
  } >a.par
  same_bytes train.tsv a.par --max-distance 0.1 --beyond prior --latent
}

# make_cases: tables of 3000 rows of three inputs and a target, written in several ways.
make_cases() {
  awk 'BEGIN {
    srand(3)
    print "a,b,c,y"
    for (i = 1; i <= 3000; i++) {
      a = rand(); b = i == 2700 ? 1e6 : rand(); c = rand()
      printf "%.5f,%.5f,%.5f,%.5f\n", a, b, c, sin(5 * a) + c + rand() / 9
    }
  }' >plain.csv
  sed 's/$/\r/' plain.csv | head -c -3 >torn.csv
  sed '1d; s/,/ /g' plain.csv >blanks.txt
  awk '{ print } NR % 7 == 1 { print "# " NR "\n" }' plain.csv >comments.csv
  awk -F , 'NR > 1 { printf "{\"a\": %s, \"b\": %s, \"y\": %s}\n", $1, $2, $4 }' plain.csv >objects.jsonl
  awk -F , -v OFS=, 'NR > 1 && NR % 500 == 7 { $2 = "x" } NR == 2800 { $0 = "1,2" } { print }' \
    plain.csv >bad.csv
  awk -F , -v OFS=, '{ print $0, NR == 1 ? "day" : sprintf("2026-%02d-%02d", NR % 12 + 1, NR % 28 + 1) }' \
    plain.csv >dates.csv
  head -n 21 plain.csv >few.csv
  awk -F , -v OFS=, '{ for (j = 1; j < 5; j++) $j = "\"" $j "\""; print $0, "\"a \"\"b\"\"\"" }' \
    plain.csv | sed '1s/,[^,]*$/,t/' >quoted.csv
  awk -F , -v OFS=, 'NR <= 600 { for (j = 4; j < 300; j++) $j = NR == 1 ? "x" j : NR * j * 7 % 1013; print }' \
    plain.csv >wide.csv
}

@test "a table that all ranks read gives the shards and the words of one that rank 0 reads alone" {
  make_cases
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 5 == 0' >bike.tsv
  while read -r how_many table options; do
    for r in ${how_many//,/ }; do
      rm -rf all alone
      # shellcheck disable=SC2086
      ranks "$r" index -v -o all $options "$table" </dev/null 2>all.txt
      # shellcheck disable=SC2086
      ranks "$r" index -v -o alone $options <"$table" 2>alone.txt
      diff -r all alone || complain "$r ranks, $table $options"
      ! grep -q 'reads the table alone' all.txt || complain "$(cat all.txt)"
      grep -q 'reads the table alone' alone.txt
      grep -v ' wall ' all.txt >all.told
      grep -v ' wall \|reads the table alone' alone.txt | sed "s/(stdin)/$table/" | diff all.told - ||
        complain "$table"
    done
  done <<'CASES'
2,3,4,8 bike.tsv
2,4 plain.csv --calibration-rows 1500 --seed 5
3 plain.csv --standardise whiten -j 3
3 torn.csv --tails compress --regressors c -x a,b
3 blanks.txt --no-header
3 comments.csv --comment #
3 objects.jsonl
2,8 bad.csv --skip-bad
3 dates.csv -y y --date day --row-noise c --offset a
3 dates.csv -y y --date day --geo a,c --period day=week
8 few.csv
3 wide.csv
3 quoted.csv -y y --drop t
CASES
  rm -rf all && ranks 3 index -q -o all plain.csv 2>err.txt
  assert_equal "$(said err.txt)" ''
  rm -rf all && ranks 3 index -o all plain.csv 2>err.txt
  grep -q "column 'b': one cell is 1000000, far outside the rest" err.txt
  rm -rf all && ranks 3 index -o all torn.csv 2>err.txt
  grep -q 'torn.csv: the last line has no end' err.txt
}

@test "where it takes all rows in one place rank 0 reads the table alone" {
  make_cases
  awk 'NR < 2002 { print } NR > 1 && NR < 502 { copy[NR] = $0 } END { for (i in copy) print copy[i] }' \
    plain.csv >copies.csv
  awk -F , -v OFS=, 'NR > 1 && NR % 300 == 0 { $1 = "\"" $1 "\""; $5 = "\"a\nb\"" } NR == 1 { $5 = "t" } { print }' \
    plain.csv | sed 's/^\([^,]*,[^,]*,[^,]*,[^,]*\)$/\1,/' >quotes.csv
  gzip -k plain.csv
  while read -r table options; do
    rm -rf all one.gpi
    # shellcheck disable=SC2086
    ranks 3 index -v -o all $options "$table" </dev/null 2>all.txt
    grep -q 'rank 0 reads the table alone: ' all.txt || complain "$(cat all.txt)"
    # shellcheck disable=SC2086
    gpnn-index -q -o one.gpi $options "$table"
    cmp one.gpi all/sample.gpi
  done <<'CASES'
copies.csv
quotes.csv -y y --drop t
plain.csv.gz
plain.csv --unique
plain.csv --auto
CASES
  rm -rf all && mkfifo pipe
  cat plain.csv >pipe &
  ranks 3 index -q -o all pipe
  cmp one.gpi all/sample.gpi
  for table in bad.csv none.csv; do
    sed 2,2000d bad.csv >none.csv
    status=0 other=0
    gpnn-index -o new "$table" 2>one.txt || status=$?
    ranks 3 index -o new "$table" 2>all.txt || other=$?
    assert_equal "$other" "$status"
    [[ ! -e new && $status == 1 ]]
    sed 's/^gpnn-index:/gpnn-mpi:/; s/^    gpnn-index /    gpnn-mpi index /' one.txt |
      diff - <(grep -v mpirun all.txt | head -n "$(wc -l <one.txt)") || complain "$table"
  done
}

@test "ranks fit to the bytes of one machine, with and without copies of rows" {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 30 == 0' >some.tsv
  { cat some.tsv; awk 'NR > 1 && NR % 9 < 3' some.tsv; } >more.tsv
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 55 == 3' >test.tsv
  for case in 'some --effort fast' 'more --effort fast' 'more --preset paper --seed 3' \
    'some --method conjugate' 'more --effort fast --transform asinh --like test.tsv'; do
    read -r table options <<<"$case"
    gpnn-index -q --recall 1 -o one.gpi "$table.tsv"
    # shellcheck disable=SC2086
    gpnn-fit -q $options one.gpi >one.par
    for r in 1 3; do
      rm -rf shards
      ranks $r index -q -o shards "$table.tsv"
      # shellcheck disable=SC2086
      ranks $r fit -q $options shards | cmp one.par - || complain "$case, $r ranks"
    done
  done
}

@test "of many rows ranks fit those that one machine draws, and refuse by name what looks at all" {
  awk 'BEGIN { srand(1); print "a\ty"; for (i = 0; i < 530000; i++) { # and the first once more
    row = i / 5e4 "\t" sin(i / 5e4) + rand(); print row; if (i < 3000) more = more row "\n" } printf "%s", more }' >many.tsv
  gpnn-index -q --recall 1 --calibration-rows 0 -o one.gpi many.tsv
  gpnn-fit -q --effort fast --seed 2 one.gpi >one.par
  ranks 2 index -q --calibration-rows 0 -o shards many.tsv
  grep -q 'rows 533000 distinct 530000 ' shards/manifest
  ranks 2 fit -q --effort fast --seed 2 shards | cmp one.par -
  for options in '--method conjugate' '--effort thorough' '--transform asinh'; do
    # shellcheck disable=SC2086
    run -2 ranks 2 fit $options shards
    [[ $output == *"${options% asinh}"*' looks at all rows, which are more than 524288'* ]] || complain "$output"
  done
}

@test "classes are fitted, calibrated and predicted to the bytes of one machine" {
  gpnn-simulate data --likelihood categorical --kind features -n 2600 --dimension 3 -s 3 >all.tsv
  awk 'NR == 1 || NR % 13 > 1' all.tsv | sed '700,705s/[^\t]*$/rare/' >train.tsv # no class of each rank
  awk 'NR == 1 || NR % 13 == 1' all.tsv >test.tsv
  gpnn-index -q --calibration-rows 250 --recall 1 -o one.gpi train.tsv
  gpnn-fit -q --effort fast -o fit.par one.gpi
  gpnn-calibrate -q -o one.par one.gpi <fit.par
  for r in 1 2 3 8; do
    rm -rf shards
    ranks $r index -q --calibration-rows 250 -o shards train.tsv
    ranks $r fit -q --effort fast shards | cmp fit.par -
    ranks $r calibrate -q shards <fit.par | cmp one.par -
    for words in '' '-m 3000 --labels-only' '--max-distance 0.1 --beyond prior --top 2 --cost c3=2'; do
      # shellcheck disable=SC2086
      gpnn-predict -q $words -p one.par one.gpi test.tsv >one.tsv
      # shellcheck disable=SC2086
      ranks $r predict -q $words -p one.par shards test.tsv | cmp one.tsv - || complain "$r ranks: $words"
    done
  done
  # shellcheck disable=SC2086
  ranks 8 predict -q --shards -o parts $words -p one.par shards test.tsv
  cat parts/* | cmp one.tsv -
}

@test "ranks calibrate to the bytes of one machine" {
  make_model 1000 10 250 8
  sed -i '$a likelihood\tstudent\nscale\t1\ndegrees\t5' t.par
  gpnn-index -q --calibration-rows 250 --recall 1 -o one.gpi train.tsv
  ranks 3 index -q --calibration-rows 250 -o shards train.tsv
  gpnn-calibrate -q --atom none --conformal 0.9 one.gpi <t.par >one.par
  ranks 3 calibrate -q --conformal 0.9 shards <t.par | cmp one.par -
  gpnn-calibrate -q --atom none --with test.tsv one.gpi <t.par >one.par
  ranks 3 calibrate -q --with test.tsv shards <t.par | cmp one.par -
}

@test "how many ranks were asked is told" {
  make_shards
  ranks 2 predict -v -p t.par shards test.tsv 2>err.txt >out.tsv
  grep -qE '^gpnn-mpi: [12]\.[0-9]+ ranks asked a row, and [0-9]+ bytes sent$' err.txt
}

@test "each rank predicts a part of a table, and the parts are the bytes of one machine" {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 30 == 0' >train.tsv
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 7 == 3' >whole.tsv
  sed '1s/\([a-z]*\)/"\1"/; 2000s/^[^\t]*/x/; 2100s/^[^\t]*/"&"/; 2200s/$/\t1/' whole.tsv >bad.tsv
  sed '1d; s/\t/,/g' whole.tsv | head -c -1 >torn.csv
  sed 2q whole.tsv >short.tsv
  sed 1q whole.tsv >empty.tsv
  gpnn-index -q --recall 1 -o one.gpi train.tsv
  gpnn-fit -q --effort fast -o t.par one.gpi
  for r in 1 2 3 8; do
    rm -rf shards
    ranks $r index -q -o shards train.tsv
    for words in '--interval 0.9 whole.tsv' '--skip-bad --append bad.tsv' '--no-header torn.csv' \
      short.tsv empty.tsv '--batch 10 --threads 2 whole.tsv'; do
      # shellcheck disable=SC2086
      gpnn-predict -p t.par one.gpi $words 2>one.err | cat >one.tsv
      # shellcheck disable=SC2086
      ranks $r predict -p t.par --shards -o parts/ shards $words 2>err.txt
      cat parts/part-* | cmp one.tsv - || complain "$r ranks: $words"
      assert_equal "$(find parts -type f | wc -l)" $r
      sed 's/gpnn-predict:/gpnn-mpi:/' one.err | grep -v 'gpnn-fit' | diff - <(said err.txt || :)
      rm -r parts
    done
  done
}

@test "where a part cannot be predicted there is no folder, and lines are those of the table" {
  make_model 300 900 30 8
  ranks 4 index -q -o shards train.tsv
  sed '700s/^[^\t]*/x/' test.tsv >bad.tsv
  sed '700s/^[^\t]*/"1\n"/' test.tsv >quoted.tsv
  gzip -k test.tsv
  while read -r code words; do
    status=0
    # shellcheck disable=SC2086
    ranks 4 predict -p t.par --shards -o parts shards $words 2>err.txt </dev/null || status=$?
    assert_equal "$status" "$code"
    said err.txt | sed 's/ on [^:]*:/:/'
    [[ ! -e parts && ! -e parts.part ]]
  done >told.txt <<'CASES'
1 bad.tsv
1 --skip-bad --fail-on-na 0 bad.tsv
2 quoted.tsv
2 test.tsv.gz
1 none.tsv
CASES
  diff - told.txt <<'TOLD'
gpnn-mpi: rank 3: bad.tsv:700: column 'x1': not a number: "x"
gpnn-mpi: bad.tsv: 1 of 900 rows have no prediction, and --fail-on-na allows 0 %: column 'x1': not a number in 1 row, as "x" (line 700)
gpnn-mpi: quoted.tsv: lines end inside quotes: predict it without --shards
gpnn-mpi: test.tsv.gz: no plain file of text, of which --shards lets each rank read a part
gpnn-mpi: none.tsv: cannot be opened: No such file or directory
TOLD
  mkdir parts
  ! ranks 4 predict -q -p t.par --shards -o parts shards test.tsv 2>err.txt || complain 'it went on'
  [[ $(said err.txt) == *'parts: exists already' ]]
}

@test "without mpirun there is one rank" {
  make_model 100 20 10 8
  gpnn-mpi index -q -o shards train.tsv
  gpnn-predict -q -p t.par t.gpi test.tsv >one.tsv
  gpnn-mpi predict -q -p t.par shards test.tsv | cmp one.tsv -
}

# Two machines for mpirun: namespaces of the network, named by $near and $far, with a cable between
# them, and names of hosts of their own.
make_machines() {
  near=gpnn-near-$$ far=gpnn-far-$$
  # shellcheck disable=SC2015
  ip netns add $near 2>/dev/null && ip netns add $far && unshare --uts true &&
    ip -n $near link add cable type veth peer name cable netns $far || skip 'no namespaces here'
  ip -n $near addr add 10.77.1.1/24 dev cable
  ip -n $far addr add 10.77.1.2/24 dev cable
  for machine in $near $far; do
    ip -n "$machine" link set cable up
    ip -n "$machine" link set lo up
  done
  cat >agent <<AGENT
#!/bin/sh
shift # the host
exec ip netns exec $far unshare --uts sh -c 'hostname far; exec sh -c "\$*"' sh "\$@"
AGENT
  chmod +x agent
}

teardown() {
  [[ -z ${far-} ]] || ip netns del $far 2>/dev/null || :
  [[ -z ${near-} ]] || ip netns del $near 2>/dev/null || :
}

# machines OPTION... COMMAND...: COMMAND as two ranks, one on each machine, which talk over TCP.
machines() {
  timeout 60 ip netns exec $near unshare --uts sh -c 'hostname near; exec "$@"' sh mpirun \
    --mca plm_rsh_agent "$PWD/agent" --mca btl tcp,self --mca btl_tcp_if_include cable \
    --mca oob_tcp_if_include cable --host 10.77.1.1,10.77.1.2 -n 2 "$@"
}

@test "ranks on two machines talk over TCP, and a machine that is lost ends the run" {
  make_machines
  make_model 500 100 50 8
  machines gpnn-mpi index -q -o shards train.tsv
  gpnn-index -q --recall 1 -o one.gpi train.tsv
  gpnn-predict -q -p t.par one.gpi test.tsv >one.tsv
  machines gpnn-mpi predict -q -p t.par shards test.tsv | cmp one.tsv -
  rm shards/1.gpi
  ! machines -q gpnn-mpi predict -q -p t.par shards test.tsv 2>err.txt || complain 'it went on'
  [[ $(said err.txt) == 'gpnn-mpi: rank 1 on far: shards/1.gpi: cannot be opened: '* ]]
  machines gpnn-mpi index -q -o again train.tsv
  mkfifo rows
  { head -n 3 test.tsv; exec sleep 60; } >rows 3>&- &
  writer=$!
  machines --mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 \
    --mca oob_tcp_keepalive_probes 2 gpnn-mpi predict -q -p t.par -o out.tsv again rows 2>err.txt &
  run=$!
  sleep 2
  ip -n $far link set cable down
  ! wait $run || complain 'it went on'
  kill $writer
  grep -q 'lost communication with a remote daemon' err.txt
  [[ -z $(find . -name '*out.tsv*') ]]
}

@test "shards that do not fit are told by one line that names rank and host" {
  make_shards
  ranks 3 index -q -o other train.tsv
  cp -r shards cut && head -c 1000 shards/1.gpi >cut/1.gpi
  cp -r shards few && truncate -s 8 few/1.rows
  cp -r shards gone && rm gone/1.gpi
  cp -r shards mixed && cp other/1.* mixed
  cp -r shards none && rm none/manifest
  cp -r shards less && sed -i 's/distinct 2/distinct 3/' less/manifest
  cp -r shards minus && sed -i 's/ranks 2/ranks -2/' minus/manifest
  cp -r shards void && sed -i 's/distinct [0-9]*/distinct 0/' void/manifest
  for case in '3 shards 0 shards/manifest: the shards of 2 ranks, but 3 are running: use mpirun -n 2' \
    '2 cut 1 cut/1.gpi: truncated: ' '2 few 1 few/1.rows: truncated, damaged, or of another run' \
    '2 gone 1 gone/1.gpi: cannot be opened: No such file or directory' \
    '2 mixed 1 mixed/1.gpi: not the shard that the manifest names: shards of two runs are mixed' \
    '2 less 0 less/manifest: damaged' '2 minus 0 minus/manifest: damaged' '2 void 0 void/manifest: damaged' \
    '2 none 0 none/manifest: no shards of gpnn-mpi index, or none that this rank can see: No such'; do
    read -r n folder rank message <<<"$case"
    for mode in 'fit' 'predict -p t.par'; do
      status=0
      # shellcheck disable=SC2086
      ranks "$n" $mode -o out.tsv "$folder" <test.tsv 2>err.txt || status=$?
      assert_equal "$status" 1
      [[ $(said err.txt) == "gpnn-mpi: rank $rank on "*": $message"* ]] || complain "$(cat err.txt)"
      assert_equal "$(said err.txt | wc -l)" 1
      [[ ! -e out.tsv ]]
    done
  done
}

@test "a rank that cannot see a file, or whose disk is full, is told by one line, and nothing is left" {
  make_shards
  mkdir elsewhere
  while read -r folder limit words; do
    status=0 limited="ulimit -f $limit; exec gpnn-mpi $words"
    # shellcheck disable=SC2086
    timeout 60 mpirun -q --oversubscribe -n 1 gpnn-mpi $words : \
      -n 1 -wdir "$folder" bash -c "$limited" </dev/null 2>err.txt || status=$?
    assert_equal "$status" 1
    said err.txt | sed 's/ on [^:]*:/:/'
    [[ ! -e out.tsv && ! -e new && ! -e new.part ]]
  done >told.txt <<'CASES'
elsewhere unlimited predict -p t.par -o out.tsv shards test.tsv
elsewhere unlimited fit -o out.tsv shards
elsewhere unlimited index -q -o new train.tsv
. 4 index -q -o new train.tsv
CASES
  diff - told.txt <<'TOLD'
gpnn-mpi: rank 1: shards/manifest: no shards of gpnn-mpi index, or none that this rank can see: No such file or directory
gpnn-mpi: rank 1: shards/manifest: no shards of gpnn-mpi index, or none that this rank can see: No such file or directory
gpnn-mpi: rank 1: new.part/sample.gpi: cannot be opened: No such file or directory
gpnn-mpi: rank 1: new.part/1.gpi: cannot be written: File too large
TOLD
}

@test "shards appear when all are whole, and what a killed run left is named" {
  make_model 100 20 10 8
  mkdir new.part
  ! ranks 2 index -q -o new train.tsv 2>err.txt || complain "it went on"
  [[ $(said err.txt) == *'new.part: of a run that was killed, or goes on: remove it' && ! -e new ]]
  ranks 2 index -q -o others/ train.tsv
  ranks 2 predict -q -p t.par others/ test.tsv | cmp - <(gpnn-predict -q -p t.par t.gpi test.tsv)
}

@test "where MPI was not found at build time it is told what to install" {
  cat >start.c <<'C'
#include <stdio.h>
#include "shard/comm.h"
int main(void)
{
  struct gpnn_comm comm;
  struct gpnn_error err;
  if (gpnn_comm_start(&comm, &err) == GPNN_OK) return 1;
  puts(err.text);
  return 0;
}
C
  local compiler
  read -ra compiler <<<"${CC:-cc}"
  "${compiler[@]}" -D_XOPEN_SOURCE=700 -I"$GPNN_ROOT/lib" -I"$GPNN_BUILD/include" -o start start.c \
    "$GPNN_ROOT/lib/shard/comm_mpi.c" "$GPNN_BUILD/libgpnn.a"
  [[ $(./start) == *'(on Debian: openmpi-bin libopenmpi-dev)'* ]]
}

@test "a rank that is killed ends the run, and leaves no output" {
  make_shards
  mkfifo rows
  sed 1q test.tsv >head.tsv
  { cat head.tsv; exec sleep 30; } >rows 3>&- &
  writer=$!
  timeout 60 mpirun --oversubscribe -n 2 \
    gpnn-mpi predict -q -p t.par -o out.tsv shards rows 2>err.txt &
  run=$!
  for _ in $(seq 100); do
    killed=$(pgrep -P "$(pgrep -P $run mpirun)" gpnn-mpi | tail -1)
    [[ -z $killed ]] || break
    sleep 0.1
  done
  sleep 1
  kill -KILL "$killed"
  ! wait $run || complain "it went on"
  kill $writer
  tr '\n' ' ' <err.txt | grep -qE 'rank 1 with PID [0-9]+ on node [^ ]+ exited on +signal 9'
  [[ -z $(find . -name 'out.tsv*') ]]
}

@test "predictions go on where they ended when a rank was killed" {
  make_model 300 6000 30 8
  ranks 2 index -q -o shards train.tsv
  ranks 2 predict -q -p t.par -o one.tsv shards test.tsv
  timeout 60 mpirun -q --oversubscribe -n 2 \
    gpnn-mpi predict -q -p t.par --resume --batch 10 -o out.tsv shards test.tsv 2>err.txt &
  run=$!
  until [[ -e out.tsv.rows ]] && (($(wc -l <out.tsv.rows) > 5)); do
    kill -0 $run
    sleep 0.02
  done
  kill -KILL "$(pgrep -P "$(pgrep -P $run mpirun)" gpnn-mpi | tail -1)"
  ! wait $run || complain "it went on"
  [[ ! -e out.tsv && -s out.tsv.part ]]
  ranks 2 predict -v -p t.par --resume --batch 10 -o out.tsv shards test.tsv 2>err.txt
  grep -q 'goes on after [0-9]* rows' err.txt
  cmp one.tsv out.tsv
}

@test "what shards cannot have or do is refused by name" {
  make_shards
  awk -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, NR % 7 }' train.tsv >two.tsv
  awk -v OFS='\t' '{ print $0, NR == 1 ? "k" : "abcdef" NR % 20 }' train.tsv >groups.tsv
  awk 'NR % 50 == 7 { sub(/^[^\t]*/, "NA") } { print }' train.tsv >lacks.tsv
  awk -v OFS='\t' 'NR > 1 { $3 = NR % 7 } { print }' train.tsv >counts.tsv
  gpnn-index -q -o c.gpi counts.tsv
  gpnn-fit -q --likelihood poisson -o counts.par c.gpi
  refuse() {
    local message=$1
    shift
    ! ranks 2 "$@" >out.tsv 2>err.txt || complain "$*"
    said err.txt | tail -1 | grep -qF -- "$message" || complain "$(cat err.txt)"
    [[ ! -e new ]]
  }
  refuse 'shards cannot have several targets yet: use gpnn-index' index -q -y y,z -o new two.tsv
  refuse 'shards cannot have groups of rows (--by) yet' index -q -y y --by z -o new two.tsv
  refuse 'shards cannot have ids of rows (--id) yet' index -q -y y --id z -x x1 -o new two.tsv
  refuse 'shards cannot have effects of groups yet: use gpnn-index' \
    index -q -y y --group-effect k -o new groups.tsv
  refuse 'shards cannot have rows that lack inputs yet: leave them out by --missing drop --skip-bad' \
    index -q -o new lacks.tsv
  ranks 2 index -q --missing drop --skip-bad -o some lacks.tsv
  refuse 'has numbers for each training row, as counts,' predict -p counts.par shards test.tsv
  refuse 'has numbers for each training row, as counts,' calibrate -p counts.par shards
  refuse '--search is for gpnn-index' index -q --search flat -o new train.tsv
  refuse '--row-weights is for gpnn-fit' fit --row-weights auto shards
  refuse '--likelihood of counts is for gpnn-fit' fit --likelihood poisson shards
  refuse '--loo is for gpnn-predict' predict --loo -p t.par shards
  refuse '--samples is for gpnn-predict' predict --samples 2 -p t.par shards test.tsv
  refuse '--loo is for gpnn-calibrate' calibrate --loo -p t.par shards
  refuse '--atom auto is for gpnn-calibrate' calibrate --atom auto -p t.par shards
  refuse '--shards needs -o DIR' predict --shards -p t.par shards test.tsv
  refuse '--shards needs -p FILE' predict --shards -o new shards test.tsv
  refuse '--shards needs the name of a file' predict --shards -o new -p t.par shards
  mkfifo pipe
  refuse '--shards needs the name of a file' predict --shards -o new -p t.par shards pipe
  refuse '--shards needs -p FILE' predict --shards -o new -p pipe shards test.tsv
  refuse '--shards predicts parts of a table: give it or --resume' \
    predict --shards --resume -o new -p t.par shards test.tsv
  refuse '30 held-out rows are too few to calibrate on' calibrate -p t.par shards
  refuse 'is a directory' index -q -o shards train.tsv
  refuse '3 rows are too few for 2 ranks' index -q --calibration-rows 297 -o new train.tsv
  sed '3s/^[^\t]*/NA/' test.tsv >lack.tsv
  refuse "lack.tsv:3: column 'x1': missing value" predict -p t.par shards lack.tsv
}

@test "what tables and shards do not have is told as on one machine, with the same status" {
  make_shards
  while read -r mode words; do
    one=${words/shards/t.gpi} status=0 other=0
    # shellcheck disable=SC2086
    "gpnn-$mode" $one <t.par >out.tsv 2>one.txt || status=$?
    # shellcheck disable=SC2086
    ranks 2 "$mode" $words <t.par >out.tsv 2>two.txt || other=$?
    assert_equal "$other" "$status"
    sed "s/gpnn-$mode\([: ]\)/gpnn-mpi\1/" one.txt >one.sed
    sed "s/gpnn-mpi $mode/gpnn-mpi/" two.txt | grep -F -x -f one.sed | cmp one.sed - ||
      complain "$(cat two.txt)"
  done <<'CASES'
predict --keep z -p t.par shards test.tsv
predict -p t.par shards none.tsv
fit --start none.par shards
fit --input-scores only --like none.tsv shards
calibrate --with none.tsv shards
index -q -y z -o new train.tsv
CASES
}

@test "a wrong command line is told once, and so is help" {
  ! ranks 3 frob 2>err.txt || complain
  assert_equal "$(said err.txt)" 'gpnn-mpi: no such mode: "frob"; MODE is index, fit, calibrate or predict'
  assert_equal "$(ranks 3 predict --help | grep -c '^usage:')" 1
  assert_equal "$(gpnn-mpi predict --help | tail -n 1)" "Manual: man gpnn-mpi, man 7 gpnn"
}
