#!/usr/bin/env bats
# gpnn-info --effects: the table of the effects of groups.

load helper

# simulate ROWS: t.tsv, whose y is the effect of a shop, with a slope in x, of a town, a function of
# x, and noise; some rows have no shop.
simulate() {
  awk -v rows="$1" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(5)
      OFS = "\t"
      print "x", "shop", "town", "y"
      for (l = 0; l < 12; l++) { effect[l] = 2 * normal(); slope[l] = normal() }
      for (i = 0; i < rows; i++) {
        l = int(12 * rand())
        x = 4 * rand()
        print x, l == 3 ? "" : "s" l, rand() < 0.5 ? "\"a \"\"b\"\"\"" : "c",
          10 + effect[l] + slope[l] * (x - 2) + sin(2 * x) + 0.2 * normal()
      }
    }' >t.tsv
}

# fit ITEMS NAME [OPTION...]: NAME.gpi and NAME.par, of t.tsv with these group effects.
fit() {
  gpnn-index -q -y y --drop town "${@:3}" --group-effect "$1" -o "$2.gpi" t.tsv
  gpnn-fit -q --effort fast -m 20 "$2.gpi" >"$2.par"
}

@test "an index tells its effects, and how many groups they have" {
  simulate 400
  gpnn-index -q -y y --one-hot town --group-effect 'shop(x),shop:town' -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | grep '^effect')" $'effect\tshop(x)\t12\neffect\tshop:town\t24'
  gpnn-info --json t.gpi | json >facts
  grep -qx $'.effect.1.name\tshop:town' facts && grep -qx $'.effect.1.groups\t24' facts
  gpnn-index -q -y y --drop shop,town -o none.gpi t.tsv
  assert_equal "$(gpnn-info none.gpi | grep -c '^effect')" 0
}

@test "a line for each group and term, with the rows of the group" {
  simulate 400
  fit 'shop(x),shop:town' t
  gpnn-info --effects t.par t.gpi >out.tsv
  assert_equal "$(head -n 1 out.tsv)" $'effect\tgroup\tterm\trows\testimate\tsd'
  assert_equal "$(cut -f 1,3 out.tsv | sed 1d | sort | uniq -c | awk '{ print $1, $2, $3 }')" \
    $'12 shop(x) intercept\n12 shop(x) x\n24 shop:town intercept'
  rows=$(gpnn-info t.gpi | value rows)
  assert_equal "$(awk -F '\t' '$3 == "intercept" { n[$1] += $4 } END { print n["shop(x)"], n["shop:town"] }' out.tsv)" \
    "$rows $rows"
  # Levels are as in the table, in quotes where they have to be; no text at all is a level.
  grep -q $'^shop:town\t"s0:a ""b"""\tintercept\t' out.tsv
  grep -q $'^shop:town\t:c\tintercept\t' out.tsv
  grep -q $'^shop(x)\t\tx\t' out.tsv
  gpnn-info --effects t.par --verify -o file.tsv t.gpi
  cmp out.tsv file.tsv
  gpnn-info --effects - t.gpi <t.par | cmp out.tsv -
}

@test "effects are in units of the target and of its inputs, and near those that made the rows" {
  simulate 2000
  fit 'shop(x)' t
  gpnn-info --effects t.par t.gpi >out.tsv
  # What made the rows, drawn as in simulate().
  awk '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(5)
      OFS = "\t"
      for (l = 0; l < 12; l++) print l == 3 ? "" : "s" l, 2 * normal(), normal()
    }' >truth
  awk -F '\t' '
    NR == FNR { intercept[$1] = $2; slope[$1] = $3; a += $2 / 12; b += $3 / 12; next }
    FNR > 1 {
      error = $3 == "x" ? slope[$2] - b : intercept[$2] - a
      error -= $5
      if ($3 == "x") { s += error * error; sx += error } else { t += error * error; tx += error }
    }
    # Without what all groups have in common, which is not the effects to know.
    END { exit !(s / 12 - (sx / 12) ^ 2 < 0.05 ^ 2 && t / 12 - (tx / 12) ^ 2 < 0.1 ^ 2) }' truth out.tsv
  # The same table in other units.
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 *= 100; $4 *= 10 } 1' t.tsv >other.tsv
  mv other.tsv t.tsv
  fit 'shop(x)' u
  gpnn-info --effects u.par u.gpi >other.tsv
  paste out.tsv other.tsv | awk -F '\t' 'NR > 1 {
    unit = $3 == "x" ? 0.1 : 10
    if (($11 - unit * $5) ^ 2 > 1e-3 * (unit * $6) ^ 2 || ($12 / (unit * $6) - 1) ^ 2 > 1e-4) exit 1
  }'
}

@test "without a process they are the shrunken means of the groups" {
  simulate 300
  cut -f 2,4 t.tsv >rows.tsv
  gpnn-index -q -y y --group-effect shop --calibration-rows 40 -o t.gpi rows.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-info t.par | grep -q '^# no process'
  gpnn-predict -q --loo t.gpi -p t.par | sed 1d | cut -f 1 >numbers
  sd=$(gpnn-info t.gpi | value target-sd)
  noise=$(awk -v s="$sd" '$1 == "effects-unit" { print $2 * s * s }' <(gpnn-info t.par))
  effect=$(awk '$1 == "effects" { print $2 }' <(gpnn-info t.par))
  gpnn-info --effects t.par t.gpi >out.tsv
  awk -F '\t' -v s2="$noise" -v relative="$effect" '
    FILENAME == "numbers" { train[$1] = 1; next }
    FILENAME == "rows.tsv" { if (FNR - 1 in train) { n[$1]++; sum[$1] += $2 } next }
    !tau { # of the mean: generalised least squares
      tau = relative * s2
      for (g in n) { w = 1 / (tau + s2 / n[g]); all += w; mean += w * sum[g] / n[g] }
      mean /= all
    }
    FNR > 1 {
      share = tau / (tau + s2 / n[$2])
      wanted = share * (sum[$2] / n[$2] - mean)
      sd = sqrt(tau * (1 - share) + share * share / all)
      if ($4 != n[$2] || ($5 - wanted) ^ 2 > 1e-8 || ($6 / sd - 1) ^ 2 > 1e-6) { print; exit 1 }
    }' numbers rows.tsv out.tsv
}

@test "of several targets each has its lines" {
  simulate 300
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "z z" : ($2 == "s1") - $4 }' t.tsv >two.tsv
  mv two.tsv t.tsv
  gpnn-index -q -y 'y,z z' --drop town --group-effect shop -o t.gpi t.tsv
  gpnn-fit -q --effort fast -m 20 t.gpi >t.par
  gpnn-info --effects t.par t.gpi >out.tsv
  assert_equal "$(head -n 1 out.tsv)" $'target\teffect\tgroup\tterm\trows\testimate\tsd'
  assert_equal "$(sed 1d out.tsv | cut -f 1,2,4 | uniq -c | awk '{ $1 = $1 } 1')" \
    $'12 y shop intercept\n12 z z shop intercept'
}

@test "slopes in an input that does not vary have no line" {
  simulate 300
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "c" : 7 }' t.tsv >more.tsv
  mv more.tsv t.tsv
  fit 'shop(c)' t
  assert_equal "$(gpnn-info --effects t.par t.gpi | sed 1d | cut -f 3 | sort -u)" intercept
}

@test "what has no effects is refused, and what belongs to others" {
  simulate 300
  fit shop t
  gpnn-info t.par >text.par
  make_parameters exp 1 0.9 0.1 20 >plain.par
  gpnn-index -q -y y --drop shop,town -o none.gpi t.tsv
  head -n 200 t.tsv >half.tsv
  gpnn-index -q -y y --drop town --group-effect shop -o half.gpi half.tsv
  assert_fails 1 'plain.par: the parameters have no group effects' gpnn-info --effects plain.par t.gpi
  assert_fails 1 'none.gpi has no group effects' gpnn-info --effects plain.par none.gpi
  assert_fails 1 "t.par: target 'y': the group effects are those of another index" gpnn-info --effects t.par none.gpi
  assert_fails 1 "t.par: target 'y': the group effects are those of another index" gpnn-info --effects t.par half.gpi
  assert_fails 1 "text.par: .* which this text lacks: use the file that gpnn-fit wrote" gpnn-info --effects text.par t.gpi
  assert_fails 1 't.par is a state file, not an index: did you swap the operands' gpnn-info --effects t.gpi t.par
  assert_fails 1 'gone: cannot be opened' gpnn-info --effects gone t.gpi
  assert_fails 2 'give that as well' gpnn-info --effects t.par
  assert_fails 2 'give it alone' gpnn-info --json --effects t.par t.gpi
  assert_fails 2 'would be overwritten' gpnn-info --effects t.par -o t.par t.gpi
}
