#!/usr/bin/env bats
# Effects of groups: gpnn-index --group-effect, and what is made of them.
load helper

# make_pupils N [SEED]: rows of 20 schools, whose effects have sd 1, with a smooth function of x and
# noise of sd .2; the last tenth is of schools that no other rows have.
make_pupils() {
  awk -v n="$1" -v seed="${2-1}" 'BEGIN {
    OFS = "\t"
    srand(7)
    for (s = 0; s < 20; s++) effect[s] = normal()
    srand(seed)
    print "school", "year", "x", "y"
    for (i = 0; i < n; i++) {
      s = int(20 * rand()); x = 2 * rand(); is_new = i >= 0.9 * n
      print (is_new ? "new" : "school ") s, int(6 * rand()), x, sin(3 * x) + (is_new ? normal() : effect[s]) + 0.2 * normal()
    }
  }
  function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }'
}

# make_model: train.tsv (schools that are known), test.tsv, pupils.gpi, pupils.par and pupils.cal.
make_model() {
  make_pupils 440 | awk 'NR <= 361' >train.tsv
  make_pupils 1000 12 >test.tsv
  gpnn-index -q -y y --group-effect school -o pupils.gpi train.tsv
  gpnn-fit -q --effort fast -o pupils.par pupils.gpi
  gpnn-calibrate -q -o pupils.cal pupils.gpi -p pupils.par
}

@test "effects of known groups are predicted, and groups that are new are wide" {
  make_model
  gpnn-predict -q pupils.gpi -p pupils.cal test.tsv >out.tsv
  awk 'NR > 1 { s = ($1 - $2) ^ 2; if (NR <= 901) { known += s; kn++; ksd += $3 } else { new += s; nn++; nsd += $3 } }
    END { exit !(sqrt(known / kn) < 0.35 && ksd / kn < 0.35 && nsd / nn > 0.7 && nsd / nn < 1.6 && new / nn > 0.3) }' out.tsv ||
    complain "$(tail -n 5 out.tsv)"
  head -n 901 out.tsv | gpnn-eval - >scores
  awk '$1 == "coverage95" { exit !($2 > 0.9 && $2 < 0.99) }' scores || complain "$(cat scores)"
}

@test "effects make predictions better than the column as a category, and than without it" {
  make_model
  gpnn-predict -q pupils.gpi -p pupils.cal test.tsv | awk 'NR <= 271' | gpnn-eval - >effects
  gpnn-index -q -y y --drop school -o none.gpi train.tsv
  gpnn-fit -q --effort fast -o none.par none.gpi
  gpnn-predict -q none.gpi -p none.par test.tsv | awk 'NR <= 271' | gpnn-eval - >none
  paste effects none | awk '$1 == "rmse" { exit !($2 < $4 / 2) }' || complain "$(paste effects none)"
}

@test "results depend neither on threads nor on batches, and rows can be left out" {
  make_model
  gpnn-predict -q -j 1 pupils.gpi -p pupils.cal test.tsv >one.tsv
  gpnn-predict -q -j 2 --batch 7 pupils.gpi -p pupils.cal test.tsv | cmp - one.tsv
  gpnn-fit -q -j 2 --effort fast -o two.par pupils.gpi
  cmp two.par pupils.par
  gpnn-predict -q --loo pupils.gpi -p pupils.cal >loo.tsv
  gpnn-eval loo.tsv | awk '$1 == "rmse" { exit !($2 > 0.15 && $2 < 0.35) }'
}

@test "crossed effects and slopes" {
  make_model
  gpnn-index -q -y y --group-effect 'school:year,school(x)' -o more.gpi train.tsv
  gpnn-fit -v --effort fast -o more.par more.gpi 2>messages
  grep -F 'group effect school:year: sd' messages
  grep -F 'group effect school(x): sd' messages
  grep -F 'group effect school(x): sd' messages | grep ' of its slopes$'
  gpnn-info more.par | grep '^# group effect school(x): sd .* of its slopes, per unit of the input$'
  gpnn-predict -q more.gpi -p more.par test.tsv | awk 'NR <= 271' | gpnn-eval - |
    awk '$1 == "rmse" { exit !($2 < 0.4) }'
  gpnn-info more.gpi | grep -q '^section.EFFE'
  gpnn-calibrate -v -o more.cal more.gpi -p more.par 2>messages
  awk '$2 == "scale" { exit !($3 + 0 > 0.3 && $3 + 0 < 3) }' messages || complain "$(cat messages)"
}

@test "a process that does not help is left out" {
  awk 'BEGIN { srand(3); print "g\tx\ty"; for (i = 0; i < 600; i++) print i % 15 "\t" rand() "\t" (i % 15) / 5 + rand() + rand() - rand() }' >flat.tsv
  gpnn-index -q -y y --group-effect g -o flat.gpi flat.tsv
  gpnn-fit -v --effort fast -o flat.par flat.gpi 2>messages
  grep -q 'process: .*: not used' messages
  gpnn-predict -q flat.gpi -p flat.par flat.tsv | gpnn-eval - | awk '$1 == "rmse" { exit !($2 < 0.55) }'
}

@test "the report of gpnn says that groups have effects, and whether there is a process" {
  make_model
  gpnn --group-effect school train.tsv test.tsv 2>with >out.tsv
  grep -q '^model  *effects of groups; ' with || complain "$(cat with)"
  grep '^changes by' with >changes && ! grep -q school changes
  awk 'BEGIN { srand(3); print "g\tx\ty"; for (i = 0; i < 600; i++) print i % 15 "\t" i % 4 "\t" (i % 15) / 5 + rand() + rand() }' >flat.tsv
  gpnn --group-effect g --save flat.gpm flat.tsv 2>without
  grep -q '^model  *effects of groups, without a process; Student' without || complain "$(cat without)"
  assert_equal "$(grep -c '^changes by' without)" 0
  gpnn --json --force --group-effect g --save flat.gpm flat.tsv 2>json
  grep -q '"model": \[\]' json
}

@test "scores are expected of a small table, whose folds have the effects too" {
  make_pupils 330 | awk 'NR < 150' >few.tsv
  gpnn --json -y y --group-effect school --save few.gpm few.tsv 2>json
  grep -q '"on": "cross-fitted", "rmse": [0-9]' json || complain "$(cat json)"
}

@test "a group that is missing is one like any other" {
  make_pupils 330 | awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 9 == 0 { $1 = "NA" } NR < 300' >holes.tsv
  gpnn-index -q -y y --group-effect school -o holes.gpi holes.tsv
  gpnn-fit -q --effort fast -o holes.par holes.gpi
  printf 'school\tyear\tx\nNA\t1\t0.5\nnever seen\t1\t0.5\n' >two.tsv
  gpnn-predict -q holes.gpi -p holes.par two.tsv >out.tsv
  awk 'NR == 2 { known = $2 } NR == 3 { new = $2 } END { exit !(known < new) }' out.tsv || complain "$(cat out.tsv)"
}

@test "tables without names, and of inputs alone" {
  make_model
  tail -n +2 train.tsv >bare.tsv
  gpnn-index -q --no-header -y 4 --group-effect 1 -o bare.gpi bare.tsv
  gpnn-fit -q --effort fast -o bare.par bare.gpi
  tail -n +2 test.tsv >whole.tsv
  gpnn-predict -q --no-header bare.gpi -p bare.par whole.tsv | cut -f 2- >whole.out
  cut -f 2,3,1 whole.tsv | awk -F '\t' -v OFS='\t' '{ print $2, $3, $1 }' >inputs.tsv
  gpnn-predict -q --no-header bare.gpi -p bare.par inputs.tsv >inputs.out
  cmp whole.out inputs.out
}

@test "what an effect cannot be of" {
  make_model
  assert_fails 2 "column 'nowhere'" gpnn-index -y y --group-effect nowhere -o x.gpi train.tsv
  assert_fails 2 "column 'y' is a target" gpnn-index -y y --group-effect y -o x.gpi train.tsv
  assert_fails 2 'has the same effect twice' gpnn-index -y y --group-effect school,school -o x.gpi train.tsv
  assert_fails 2 "column 'year' has the same effect twice" gpnn-index -y y --group-effect school:year,year:school -o x.gpi train.tsv
  assert_fails 2 "column 'school' is crossed with itself" gpnn-index -y y --group-effect school:year:school -o x.gpi train.tsv
  assert_fails 2 'groups have no slopes in it' gpnn-index -y y --one-hot year --group-effect 'school(year)' -o x.gpi train.tsv
  assert_fails 2 'crosses more than 3 columns' gpnn-index -y y --group-effect school:year:x:school -o x.gpi train.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "all" } 1' train.tsv >constant.tsv
  gpnn-index -q -y y --group-effect school -o constant.gpi constant.tsv
  assert_fails 1 "group effect 'school' has one level only" gpnn-fit -o x.par constant.gpi
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "s" NR } 1' train.tsv >own.tsv
  gpnn-index -q -y y --group-effect school -o own.gpi own.tsv
  assert_fails 1 "'school' has 360 effects in 324 rows" gpnn-fit -o x.par own.gpi
  awk -F '\t' -v OFS='\t' 'NR > 1 { $4 = $4 > 0 ? "high" : "low" } 1' train.tsv >classes.tsv
  gpnn-index -q -y y --group-effect school -o classes.gpi classes.tsv
  assert_fails 1 "target 'y' holds classes" gpnn-fit -o x.par classes.gpi
  assert_fails 2 'do not go together with --transform' gpnn-fit --transform rank -o x.par pupils.gpi
}

@test "parameters need the effects that they were written with" {
  make_model
  gpnn-info pupils.par >text.par
  assert_fails 1 'which this text lacks' gpnn-predict pupils.gpi -p text.par test.tsv
  gpnn-index -q -y y --group-effect school -o other.gpi test.tsv
  assert_fails 1 'those of another index' gpnn-predict other.gpi -p pupils.par test.tsv
  gpnn-index -q -y y --drop school -o none.gpi train.tsv
  assert_fails 1 'those of another index' gpnn-predict none.gpi -p pupils.par test.tsv
}

@test "with --by, rows are left out as those of new groups" {
  make_model
  gpnn-index -q -y y --by school --group-effect school -o by.gpi train.tsv
  gpnn-fit -q --effort fast -o by.par by.gpi
  gpnn-predict -q --loo by.gpi -p by.par >new.tsv
  gpnn-eval new.tsv | awk '$1 == "rmse" { exit !($2 > 0.5 && $2 < 2) }'
  awk 'NR > 1 { sd += $3 } END { sd /= NR - 1; exit !(sd > 0.5 && sd < 2) }' new.tsv
  gpnn-predict -q by.gpi -p by.par test.tsv | head -n 901 | gpnn-eval - | awk '$1 == "rmse" { exit !($2 < 0.6) }'
}

@test "a model in one file has its effects" {
  make_model
  gpnn-index --pack pupils.cal -o pupils.gpm pupils.gpi
  gpnn-predict -q pupils.gpm test.tsv >packed.tsv
  gpnn-predict -q pupils.gpi -p pupils.cal test.tsv | cmp - packed.tsv
  gpnn-info --effects pupils.cal pupils.gpi >league.tsv
  gpnn-info --effects pupils.gpm pupils.gpm | cmp - league.tsv
  gpnn-info --effects pupils.gpm | cmp - league.tsv
}

@test "slopes stay where inputs are seen by their scores" {
  awk 'BEGIN { srand(4); print "g\tx\ty"; for (i = 0; i < 500; i++) { g = i % 12; x = 4 * rand() ^ 2
    print g "\t" x "\t" g / 4 + (g - 6) / 3 * x + 0.2 * (rand() - rand()) } }' >slopes.tsv
  gpnn-index -q -y y --group-effect 'g(x)' -o slopes.gpi slopes.tsv
  gpnn-fit -q --effort fast -o slopes.par slopes.gpi
  gpnn-predict -q --loo slopes.gpi -p slopes.par | gpnn-eval - | awk '$1 == "rmse" { exit !($2 < 0.15) }'
  assert_fails 2 'groups of rows have effects, which are not in this covariance' gpnn-linear logdet -p slopes.par slopes.gpi
  assert_fails 1 'no input has scores' gpnn-fit --input-scores only -o x.par slopes.gpi
  assert_fails 2 'do not go together with --row-weights' gpnn-fit --row-weights yes -o x.par slopes.gpi
}

@test "twenty rows of three groups" {
  awk 'BEGIN { srand(2); print "g\tx\ty"; for (i = 0; i < 20; i++) print i % 3 "\t" rand() "\t" i % 3 + rand() }' >few.tsv
  gpnn-index -q -y y --group-effect g -o few.gpi few.tsv
  gpnn-fit -q -o few.par few.gpi
  gpnn-calibrate -q -o few.cal few.gpi -p few.par
  gpnn-predict -q few.gpi -p few.cal few.tsv | awk 'NR > 1 { exit !($2 > -1 && $2 < 4 && $3 > 0 && $3 < 3) }'
}

@test "two effects of the same groups are refused, and groups within groups are not" {
  make_pupils 440 | awk -F '\t' -v OFS='\t' '
    { print $0, NR == 1 ? "town" : "town of " $1, NR == 1 ? "class" : $1 " " NR % 3 }' |
    awk -F '\t' -v OFS='\t' '{ print $1, $5, $6, $3, $4 }' >twice.tsv
  gpnn-index -q -y y --drop class --group-effect school,town -o twice.gpi twice.tsv
  assert_fails 1 "group effects 'school' and 'town' are of the same groups" gpnn-fit -o x.par twice.gpi
  gpnn-index -q -y y --drop town --group-effect school,class -o within.gpi twice.tsv
  gpnn-fit -q --effort fast -o within.par within.gpi
}

# make_coded N SEED EFFECT: rows of 200 groups whose numbers say nothing, in the column "code".
make_coded() {
  awk -v n="$1" -v seed="$2" -v effect="$3" 'BEGIN {
    OFS = "\t"
    srand(3)
    for (g = 0; g < 200; g++) b[g] = effect * (2 * rand() - 1)
    srand(seed)
    print "code", "x", "y"
    for (i = 0; i < n; i++) { g = int(200 * rand()); x = rand(); print 100 + g, x, x + b[g] + 2 * (rand() - rand()) }
  }'
}

@test "gpnn tries effects of numbers that are names, and keeps what predicts rows held out better" {
  make_coded 2300 1 3 >train.tsv
  make_coded 300 2 3 >test.tsv
  gpnn --effort fast --save code.gpm train.tsv test.tsv >out.tsv 2>report.txt
  grep -E '^groups +code have effects of their own' report.txt
  grep -F 'effects ' <(grep '^time' report.txt)
  grep -E 'gpnn-index --auto .*--group-effect code' report.txt
  gpnn-index -q --auto --group-effect code -o by.gpi train.tsv
  gpnn-fit -q --effort fast by.gpi -o by.par
  gpnn-calibrate -q by.gpi -p by.par -o by.cal
  gpnn-predict -q --skip-bad -p by.cal by.gpi test.tsv | cmp - out.tsv
  gpnn-predict -q code.gpm test.tsv | cmp - out.tsv
  gpnn -q --effort fast <train.tsv - test.tsv >once.tsv # which cannot be read again
  run ! cmp -s once.tsv out.tsv
  gpnn --json --effort fast train.tsv test.tsv 2>json >/dev/null
  grep -E '"group-effects": ?\{"of": ?"code", ?"used": ?true,' json
}

@test "gpnn does not try effects where levels do not differ, or an option says what rows have" {
  make_coded 2300 1 0 >train.tsv
  make_coded 2300 1 3 >differ.tsv
  gpnn --effort fast --save a.gpm train.tsv 2>report.txt
  run ! grep '^groups' report.txt
  gpnn --effort fast --transform log --save b.gpm <(sed 's/y$/y/' differ.tsv | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 += 9 } 1') 2>report.txt
  run ! grep '^groups' report.txt
}

@test "gpnn tries effects where at least 200 rows are held out to tell" {
  make_coded 1000 1 3 >train.tsv
  gpnn --effort fast --calibration-rows 200 --save enough.gpm train.tsv 2>report.txt
  grep -E '^groups +code ' report.txt
  gpnn --effort fast --calibration-rows 199 --save few.gpm train.tsv 2>report.txt
  run ! grep '^groups' report.txt
}
