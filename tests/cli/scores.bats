#!/usr/bin/env bats
# Inputs that are seen by their normal scores.
load helper

# make_skewed ROWS FIRST [MAP]: a table of two inputs, of which the first is e to a power that y waves with,
# one of two values, and numbers, counts and classes that depend on them; MAP is exp, log or same.
make_skewed() {
  make_table "$1" 2 "$2" | awk -v map="${3-same}" -F '\t' '
    BEGIN { OFS = "\t" }
    NR == 1 { print "a", "b", "flag", "y", "z", "class", "count", "site"; next }
    {
      t = 4 * $1 - 2; flag = NR % 2; f = sin(3 * t) + $2; noise = $3 - int($3) - 0.5
      a = exp(2 * t); if (map == "log") a = 2 * t; if (map == "exp") a = exp(a / 60)
      class = f > 0.5 ? "up" : "down"; count = int(exp(1 + f)); if (noise > 0) count++
      printf "%.17g\t%s\t%d\t%.6f\t%.6f\t%s\t%d\ts%d\n", a, $2, flag, f + 0.1 * noise, cos(t) + flag + 0.1 * noise,
        class, count, NR % 25
    }'
}

make_tables() {
  make_skewed 300 0 >train.tsv
  make_skewed 100 300 >test.tsv
  gpnn-index -q -y y -x a,b,flag -o t.gpi train.tsv
}

# fit OPTION...: quickly.
fit() {
  gpnn-fit -q --effort fast "$@"
}

# rmse INDEX PARAMS: of the rows in test.tsv.
rmse() {
  gpnn-predict -q "$1" -p "$2" test.tsv | gpnn-eval -q | value rmse
}

@test "scores of skewed inputs predict better, and are chosen" {
  make_tables
  gpnn-fit -q --input-scores none -o none.par t.gpi
  gpnn-fit -v -o auto.par t.gpi 2>log
  assert_equal "$(grep -Eo 'tried (exp|matern32|matern52) ARD with scores by block' log | sort -u | wc -l)" 3
  assert_equal "$(value input-scores auto.par | cut -f 1)" both
  assert_equal "$(grep -c '^input-scores' none.par)" 0
  assert_below "$(rmse t.gpi auto.par)" "$(awk -v r="$(rmse t.gpi none.par)" 'BEGIN { print 0.8 * r }')"
}

@test "each input with a score is seen as is asked for" {
  make_tables
  fit --input-scores only -o only.par t.gpi
  fit --input-scores both -o both.par t.gpi
  assert_equal "$(grep '^input-scores' only.par)" $'input-scores\tonly\tonly\tnone'
  assert_equal "$(grep '^input-scores' both.par)" $'input-scores\tboth\tboth\tnone'
  assert_equal "$(awk '$1 == "lengthscale" { print NF }' both.par)" 6
  assert_equal "$(gpnn-info both.par | grep '^input-scores')" "$(grep '^input-scores' both.par)"
  assert_equal "$(gpnn-info --json only.par | json | grep -c '^input-scores')" 3
}

@test "by scores alone an input and its logarithm are the same" {
  local map
  for map in same log exp; do
    make_skewed 300 0 "$map" >"$map.tsv"
    gpnn-index -q -y y -x a,b,flag --calibration-rows 0 -o "$map.gpi" "$map.tsv"
    for scores in only both; do
      fit --input-scores "$scores" --kernel matern32 --ard yes -m 30 -o "$map.par" "$map.gpi"
      [[ $map != same ]] || grep -v '^index' same.par >"$scores.par" # parameters for any table
      gpnn-predict -q "$map.gpi" -p "$scores.par" "$map.tsv" 2>"err" | awk -F '\t' '{ print $2, $3 }' >"$map-$scores.out"
    done
  done
  for map in log exp; do
    paste same-only.out "$map-only.out" | awk 'NR > 1 && ($1 - $3) ^ 2 + ($2 - $4) ^ 2 > 1e-18 { exit 1 }'
    ! cmp -s same-both.out "$map-both.out" || return
  done
}

@test "a stored search over scores gives the same bytes" {
  make_tables
  for scores in none only both; do
    fit --input-scores "$scores" -o "$scores.par" t.gpi
    gpnn-index -q --metric "$scores.par" -o "$scores.gpi" t.gpi
  done
  for params in none only both; do
    gpnn-predict -q t.gpi -p "$params.par" -o "$params.tsv" test.tsv
    for index in none only both; do
      gpnn-predict -q "$index.gpi" -p "$params.par" test.tsv | cmp - "$params.tsv"
    done
  done
  gpnn-index -q --metric none.par -o back.gpi both.gpi
  cmp back.gpi none.gpi
  assert_equal "$(gpnn-info --verify both.gpi | value verified)" yes
  assert_equal "$(gpnn-info both.gpi | awk '$1 == "search-input-scores" { printf "%s ", $2 }')" 'both both none '
  assert_equal "$(gpnn-info both.gpi | grep -c '^metric-lengthscale')" 5
  assert_equal "$(gpnn-info none.gpi | grep -c '^search-input-scores')" 0
}

@test "gpnn-info says how many knots each score has" {
  make_tables
  assert_equal "$(gpnn-info t.gpi | awk -F '\t' '$1 == "score" { print $2 }')" $'a\nb'
  assert_equal "$(gpnn-info t.gpi | awk -F '\t' '$1 == "score" { print $3; exit }')" "$(gpnn-info t.gpi | value rows)"
  gpnn-index -q -y y -x flag -o flag.gpi train.tsv
  assert_equal "$(gpnn-info flag.gpi | grep -Ec 'score|SCOR')" 0
}

@test "targets may see inputs differently" {
  make_tables
  gpnn-index -q -y y,z -x a,b,flag -o two.gpi train.tsv
  fit --lengthscales own --input-scores both -o both.par two.gpi
  fit --lengthscales own --input-scores none -o none.par two.gpi
  { sed '/^target\tz/,$d' both.par && sed -n '/^target\tz/,$p' none.par; } >mixed.par
  assert_equal "$(grep -c '^input-scores' mixed.par)" 1
  for params in both none mixed; do gpnn-predict -q two.gpi -p "$params.par" -o "$params.tsv" test.tsv; done
  paste both.tsv none.tsv mixed.tsv | awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF / 3; i++) { y[i] = $i ~ /_y$/; z[i] = $i ~ /_z$/ } next }
    {
      for (i = 1; i <= NF / 3; i++) {
        d = y[i] ? $i - $(i + 2 * NF / 3) : z[i] ? $(i + NF / 3) - $(i + 2 * NF / 3) : 0
        if (d * d > 1e-18) exit 1
      }
    }'
  gpnn-calibrate -q two.gpi -p mixed.par -o mixed.cal
  gpnn-predict -q two.gpi -p mixed.cal test.tsv >out.tsv
}

@test "classes, counts and every method take scores" {
  make_tables
  gpnn-index -q -y class -x a,b,flag -o class.gpi train.tsv
  gpnn-index -q -y count -x a,b,flag -o count.gpi train.tsv
  for scores in only both; do
    fit --input-scores "$scores" -o class.par class.gpi
    gpnn-calibrate -q class.gpi -p class.par | gpnn-predict -q class.gpi -p - test.tsv >class.tsv
    gpnn-fit -q --inference polya-gamma --tune steps=60 --input-scores "$scores" -o class.gps class.gpi
    gpnn-predict -q class.gpi -p class.gps test.tsv >class.tsv
    fit --likelihood poisson --input-scores "$scores" -o count.gps count.gpi
    gpnn-calibrate -q count.gpi -p count.gps -o count.cal
    gpnn-predict -q count.gpi -p count.cal test.tsv >count.tsv
    gpnn-fit -q --method conjugate --input-scores "$scores" -o conjugate.par t.gpi
    gpnn-predict -q t.gpi -p conjugate.par test.tsv >out.tsv
    for file in class.par class.gps count.gps conjugate.par; do
      assert_equal "$(gpnn-info "$file" | value input-scores)" "$scores" || return
    done
  done
  fit --input-scores none -o none.par class.gpi
  assert_equal "$(grep -c input-scores none.par)" 0
}

@test "reports, draws, sums and left-out rows take scores" {
  make_tables
  fit --input-scores both t.gpi | gpnn-calibrate -q -p - -o t.cal t.gpi
  gpnn-predict -q t.gpi -p t.cal -o out.tsv test.tsv
  gpnn-predict -q t.gpi -p t.cal --samples 2 test.tsv | column sample2 >draws
  gpnn-predict -q t.gpi -p t.cal --group site test.tsv | column mean >sums
  gpnn-predict -q t.gpi -p t.cal --loo | column logp >left-out
  gpnn-predict -q t.gpi -p t.cal --loo --cross-fit | column logp >crossed
  gpnn-predict -q t.gpi -p t.cal --share 8 --debias test.tsv | column mean >shared
  assert_equal "$(cat draws sums left-out crossed shared | grep -c NA)" 0
  assert_equal "$(gpnn-predict -q t.gpi -p t.cal -m 400 --samples 1 test.tsv | column mean | wc -l)" 100
  for rows in --row-weights --like --by; do
    case $rows in
      --row-weights) fit --input-scores both --row-weights yes -o new.par t.gpi ;;
      --like) fit --input-scores both --like test.tsv -o new.par t.gpi ;;
      --by) gpnn-index -q -y y -x a,b,flag --by site -o by.gpi train.tsv && fit --input-scores both -o new.par by.gpi ;;
    esac
    gpnn-calibrate -q t.gpi -p new.par -o new.cal 2>err || gpnn-calibrate -q by.gpi -p new.par -o new.cal
  done
}

@test "a transform of the target is chosen for the inputs that are seen" {
  make_tables
  gpnn-fit -q --transform auto -o auto.par t.gpi
  assert_equal "$(value input-scores auto.par)" both
  assert_below "$(rmse t.gpi auto.par)" 0.3
}

@test "coefficients of scores are in their own units" {
  make_table 400 1 | awk -F '\t' 'NR == 1 { print "x\ty" } NR > 1 { x = exp(5 * $1 ^ 3); print x "\t" x }' >x.tsv
  gpnn-index -q -y y -x x --calibration-rows 0 -o x.gpi x.tsv
  fit --mean-function linear --input-scores only -o x.par x.gpi
  grep -q '^# coefficient score of x .* in y per unit of score of x$' x.par
}

@test "what is seen follows --start, or is refused beside it" {
  make_tables
  fit --input-scores both -o both.par t.gpi
  fit --input-scores none -o none.par t.gpi
  fit --start both.par -o new.par t.gpi
  assert_equal "$(grep '^input-scores' new.par)" "$(grep '^input-scores' both.par)"
  fit --start none.par -o new.par t.gpi
  assert_equal "$(grep -c '^input-scores' new.par)" 0
  fit --start none.par --input-scores only -o new.par t.gpi
  assert_equal "$(value input-scores new.par)" only
  assert_fails 1 '^none.par: the parameters to start from do not see inputs as --input-scores both does' \
    gpnn-fit --start none.par --input-scores both t.gpi
  assert_fails 1 '^both.par: the parameters to start from do not see inputs as --input-scores none does' \
    gpnn-fit --start both.par --input-scores none t.gpi
}

@test "parameters that do not fit the index are refused" {
  make_tables
  gpnn-index -q -y y -x a,b -o two.gpi train.tsv
  fit --input-scores both -o both.par t.gpi
  change() { sed "s/^input-scores.*/input-scores\t$1/" both.par >changed.par; }
  assert_fails 1 '^both.par: input-scores: the parameters have 3 inputs, the index has 2$' \
    gpnn-predict two.gpi -p both.par test.tsv
  change 'both\tboth\tonly'
  assert_fails 1 "^changed.par: input-scores: the index has no scores of 'flag'$" gpnn-predict t.gpi -p changed.par test.tsv
  change 'both\tbath\tnone'
  assert_fails 1 '^changed.par:[0-9]+: input-scores: "bath" is not one of none, only, both$' \
    gpnn-predict t.gpi -p changed.par test.tsv
  change 'both\tonly\tnone'
  assert_fails 1 'the parameters have 5 lengthscales, the index has 4 inputs' gpnn-predict t.gpi -p changed.par test.tsv
  fit --input-scores none -o none.par t.gpi
  sed 's/^kernel\t.*/&\ninput-scores\tnone\tnone\tnone/' none.par >said.par
  gpnn-predict -q t.gpi -p none.par -o none.tsv test.tsv
  gpnn-predict -q t.gpi -p said.par test.tsv | cmp - none.tsv
}

@test "an index without scores says why" {
  make_tables
  gpnn-index -q -y y -x flag -o flag.gpi train.tsv
  gpnn-index -q -y y -x a,b --standardise whiten -o whitened.gpi train.tsv
  for index in flag whitened; do
    assert_fails 1 '^no input has scores: they are whitened, periodic, places or categories, have slopes of groups or fewer than 3 values$' \
      gpnn-fit --input-scores both "$index.gpi"
    fit -o out.par "$index.gpi"
  done
  sed 's/^kernel\t.*/&\ninput-scores\tnone\tnone/' out.par >said.par
  gpnn-predict -q whitened.gpi -p out.par -o out.tsv test.tsv
  gpnn-predict -q whitened.gpi -p said.par test.tsv | cmp - out.tsv
}

@test "models without training rows have no scores" {
  make_tables
  fit --input-scores only --likelihood gaussian --members 1 -o only.par t.gpi
  gpnn-sparse -q --inducing 10 -o t.gpm t.gpi
  assert_equal "$(gpnn-info t.gpm | grep -c SCOR)" 0
  assert_fails 1 '^only.par: they see inputs by their scores, which inducing points do not$' \
    gpnn-sparse --inducing 10 --start only.par -o new.gpm t.gpi
  awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "id" : NR, $0 }' test.tsv >pool.tsv
  gpnn-ask -q -p only.par --count 9 -o ids.tsv t.gpi pool.tsv
  gpnn-answer -q -p only.par --ids ids.tsv --report full -o answers.msg t.gpi pool.tsv
  assert_fails 1 'a model of rows and answers cannot have inputs that are seen by their scores' \
    gpnn-absorb --answers answers.msg --rule full -p only.par -o new.gpm t.gpi pool.tsv
}

@test "few rows, many inputs and copies are no matter" {
  make_tables
  head -n 5 train.tsv >few.tsv
  make_table 30 60 >wide.tsv
  { cat train.tsv && sed 1d train.tsv; } >copies.tsv
  gpnn-index -q -y y -x a,b -o few.gpi few.tsv
  gpnn-index -q -o wide.gpi wide.tsv
  gpnn-index -q -y y -x a,b,flag -o copies.gpi copies.tsv
  for index in few wide copies; do
    for scores in only both; do
      fit --input-scores "$scores" -o out.par "$index.gpi"
      gpnn-predict -q "$index.gpi" -p out.par "$index.tsv" | column mean >out
      assert_equal "$(grep -c NA out)" 0
    done
  done
}
