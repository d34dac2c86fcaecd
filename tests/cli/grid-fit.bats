#!/usr/bin/env bats
# gpnn-grid fit: what it chooses, keeps and refuses.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

# A grid of 12 sites by 20 times, smooth in both, with a fifth of the cells missing.
make_grid() {
  awk -v OFS='\t' 'BEGIN {
    srand(3); print "x", "z", "t", "y"
    for (i = 0; i < 12; i++) for (j = 1; j <= 20; j++) {
      x = i % 4; z = int(i / 4)
      if (rand() < 0.8) print x, z, j, sin(x + 0.3 * j) + cos(z - 0.2 * j) + 0.05 * rand()
    }
  }' >obs.tsv
  gpnn-grid index -q --site x,z --time t -o g.gpi obs.tsv
}

value() {
  awk -F '\t' -v name="$1" '$1 == name { print $2 }' "${2-g.par}"
}

@test "the same bytes for any number of threads, and for the same seed" {
  make_grid
  gpnn-grid fit -j 1 g.gpi >one.par
  gpnn-grid fit -j 3 -o three.par g.gpi
  cmp one.par three.par
}

@test "what is given is kept, and the rest estimated" {
  make_grid
  gpnn-grid fit --effort fast --site-kernel rbf --kernel time=exp --time-scale log --nugget yes \
    --transform none --mean time --fix site.lengthscale:2=0.75 --fix noise=0.125 g.gpi >g.par
  assert_equal "$(value site.kernel)" rbf
  assert_equal "$(value time.kernel)" exp
  assert_equal "$(value time.inputs)" log
  assert_equal "$(value transform)" ''
  assert_equal "$(awk -F '\t' '$1 == "site.lengthscale" { print $3 }' g.par)" 0.75
  [ "$(value site.nugget)" != '' ]
  # What is kept is not multiplied by a factor either.
  assert_equal "$(value noise)" 0.125
  assert_equal "$(value calibration)" ''
}

@test "a period is found near a guess" {
  awk -v OFS='\t' 'BEGIN {
    srand(5); print "x", "t", "y"
    for (i = 0; i < 8; i++) for (j = 0; j < 60; j++)
      print i, j, sin(6.283185 * j / 7 + 0.2 * i) + 0.1 * rand()
  }' >obs.tsv
  gpnn-grid index -q --site x --time t -o g.gpi obs.tsv
  gpnn-grid fit --effort fast --time-kernel 'rbf*periodic' --guess time.period=6.5 g.gpi >g.par
  awk -v period="$(value time.period)" 'BEGIN { exit !(period > 6.9 && period < 7.1) }'
}

@test "the published method starts from log 2 and follows the likelihood" {
  make_grid
  gpnn-grid fit --preset paper --steps 1 g.gpi >g.par
  assert_equal "$(value site.kernel)" rbf
  assert_equal "$(value calibration)" ''
  # The first step of adam moves x, where 2 = 1 + e^x, by the rate.
  awk -v l="$(value time.lengthscale)" 'BEGIN {
    up = log(1 + exp(0.1)); down = log(1 + exp(-0.1))
    exit !((l - up) ^ 2 < 1e-8 || (l - down) ^ 2 < 1e-8)
  }'
  gpnn-grid fit --preset paper --steps 3 -j 1 g.gpi >one.par
  gpnn-grid fit --preset paper --steps 3 -j 3 g.gpi >three.par
  cmp one.par three.par
}

@test "a later fit starts where an earlier one ended" {
  make_grid
  gpnn-grid fit --effort fast g.gpi >first.par
  gpnn-grid fit --effort fast --start first.par g.gpi >second.par
  [ -s second.par ]
  # Kernels are those of the start, unless an option says otherwise.
  sed 's/^site.kernel.*/site.kernel\trbf/; s/^time.kernel.*/time.kernel\texp/' first.par >edited.par
  gpnn-grid fit --effort fast --start edited.par g.gpi >third.par
  assert_equal "$(value site.kernel third.par) $(value time.kernel third.par)" 'rbf exp'
  gpnn-grid fit --effort fast --start edited.par --site-kernel matern52 g.gpi >third.par
  assert_equal "$(value site.kernel third.par) $(value time.kernel third.par)" 'matern52 exp'
  sed -i 's/^factors.*//; /^site/d; /^time/d' first.par
  run -1 --separate-stderr gpnn-grid fit --start first.par g.gpi
}

@test "candidates and scores are told" {
  make_grid
  gpnn-grid fit -v g.gpi 2>err.txt >g.par
  grep -q '^gpnn-grid: tried site matern32, time matern32, nugget: NLL ' err.txt
  gpnn-grid fit --effort fast --json g.gpi 2>err.txt >g.par
  grep -q '"tried": \[{"name": "site matern32' err.txt
  grep -q '^# chosen: site ' g.par
}

@test "what the grid does not have is refused" {
  make_grid
  for option in '--mean depth' '--noise-per depth' '--kernel depth=rbf' '--inputs depth=raw'; do
    # shellcheck disable=SC2086 # two words
    run -2 --separate-stderr gpnn-grid fit $option g.gpi
    [[ $stderr == *"the grid has no factor 'depth'"* ]]
  done
  run -2 --separate-stderr gpnn-grid fit --site-kernel wavy g.gpi
  run -2 --separate-stderr gpnn-grid fit --site-kernel periodic g.gpi
  run -2 --separate-stderr gpnn-grid fit --guess time.period=-3 --time-kernel periodic g.gpi
  run -2 --separate-stderr gpnn-grid fit --fix time.period=3 g.gpi
  run -2 --separate-stderr gpnn-grid fit --kernel site=rbf --site-kernel exp g.gpi
  [[ $stderr == *"the kernel of factor 'site' is given twice"* ]]
  run -2 --separate-stderr gpnn-grid fit --nugget no --fix site.nugget=0.1 g.gpi
  run -1 --separate-stderr gpnn-grid fit --inputs site=log g.gpi
  [[ $stderr == *"factor 'site' has a level at "*", of which there is no logarithm"* ]]
  run -2 --separate-stderr gpnn-grid fit --guess period g.gpi
  [[ $stderr == *"not of the form NAME=VALUE"* ]]
  run -2 --separate-stderr gpnn-grid fit --transform square g.gpi
  gpnn-index -q -y y -o rows.gpi obs.tsv
  run -1 --separate-stderr gpnn-grid fit rows.gpi
  [[ $stderr == *"an index of rows, not of a grid"* ]]
}

@test "small grids, and targets that do not vary, are fitted" {
  printf 'x\tt\ty\n1\t1\t3\n1\t2\t4\n2\t1\t5\n' >obs.tsv
  gpnn-grid index -q --site x --time t -o g.gpi obs.tsv
  gpnn-grid fit g.gpi >g.par
  # Three cells show neither a transform, nor which kernel it is, nor that there is no noise.
  assert_equal "$(value transform)" ''
  assert_equal "$(value site.kernel) $(value time.kernel)" 'matern32 matern32'
  awk -v noise="$(value noise)" -v factor="$(value calibration)" \
    'BEGIN { exit !(noise > 1e-3 && factor > 0.3) }'
}

@test "a state keeps solutions, which predictions begin with" {
  awk -v OFS='\t' 'BEGIN {
    srand(4); print "x", "t", "y"
    for (i = 0; i < 70; i++) for (j = 0; j < 90; j++)
      if (rand() < 0.85) print i / 10, j, sin(i / 10 + j / 20) + 0.3 * rand()
  }' >obs.tsv
  gpnn-grid index -q --site x --time t -o g.gpi obs.tsv
  gpnn-grid fit --effort fast --transform asinh -o g.gps g.gpi
  gpnn-grid fit --effort fast --transform asinh g.gpi >g.par
  gpnn-grid predict -v --complete -p g.par g.gpi 2>without.txt >without.tsv
  gpnn-grid predict -v --complete -p g.gps g.gpi 2>with.txt >with.tsv
  cmp without.tsv with.tsv
  grep -q ' iterations, worst residual' without.txt
  run grep ' iterations, worst residual' with.txt
  assert_equal "$status" 1
}

# A grid of 30 sites by 30 times, a fifth of its cells missing, whose errors are normal, or Student's
# t with 3 degrees of freedom.
make_errors() {
  awk -v heavy="$1" -v OFS='\t' '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(7); print "x", "t", "y"
      for (i = 0; i < 30; i++) for (j = 0; j < 30; j++) {
        e = normal()
        if (heavy) e /= sqrt((normal() ^ 2 + normal() ^ 2 + normal() ^ 2) / 3)
        if (rand() < 0.8) print i, j, 2 * sin(i / 6 + j / 9) + 0.5 * e
      }
    }' | gpnn-grid index -q --site x --time t -o g.gpi -
}

@test "heavy tails are found, and only where they are" {
  make_errors 1
  gpnn-grid fit --effort fast g.gpi >g.par
  assert_equal "$(value likelihood)" student
  awk -v nu="$(value degrees)" 'BEGIN { exit !(nu > 2 && nu < 6) }'
  gpnn-grid fit --effort fast --likelihood gaussian g.gpi >g.par
  assert_equal "$(value likelihood)" ''
  gpnn-grid fit --effort fast --fix noise=0.1 g.gpi >g.par
  assert_equal "$(value noise)" 0.1
  assert_equal "$(value likelihood)" student
  make_errors 0
  gpnn-grid fit --effort fast g.gpi >g.par
  assert_equal "$(value likelihood)" ''
  gpnn-grid fit --effort fast --likelihood student g.gpi >g.par
  assert_equal "$(value likelihood)" student
  awk -v nu="$(value degrees)" 'BEGIN { exit !(nu > 8) }'
}

# make_held Y: an index g.gpi of seven tenths of a grid, and two in held.tsv, of awk's statement for y, given f.
make_held() {
  awk -v OFS='\t' '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(7); print "x", "t", "y" >"held.tsv"; print "x", "t", "y"
      for (i = 0; i < 40; i++) for (j = 0; j < 40; j++) {
        f = 2 * sin(i / 6 + j / 9); '"$1"'; r = rand()
        if (r < 0.7) print i, j, y
        else if (r < 0.9) print i, j, y >"held.tsv"
      }
    }' | gpnn-grid index -q --site x --time t -o g.gpi -
}

# Errors whose sd is 0.07 where the mean is lowest, and 0.9 where it is highest.
@test "errors that grow with the mean are told from heavy tails" {
  make_held 'y = f + 0.25 * exp(f * 0.64) * normal()'
  gpnn-grid fit -q --effort fast g.gpi >g.par
  assert_equal "$(value likelihood)" local
  grep -q '^scale-mean' g.par
  gpnn-grid predict -p g.par g.gpi held.tsv >held.txt
  for half in 0 1; do
    awk -v half=$half 'NR == 1 || (($2 > 0) == half)' held.txt | gpnn-eval -q >scores
    assert_below 0.9 "$(value coverage95 scores)"
    assert_below "$(value coverage95 scores)" 0.985
  done
  gpnn-grid fit -q --effort fast --likelihood student g.gpi >g.par
  assert_equal "$(value likelihood)" student
}

# Two thirds of the cells are 0, and predicted so: no distribution of few parameters has such errors.
@test "intervals cover their share of a target that is mostly zero" {
  make_held 'f += 0.5 * normal() - 0.8; y = f > 0 ? f ^ 2 : 0'
  gpnn-grid fit -q --effort fast g.gpi >g.par
  gpnn-grid predict -p g.par g.gpi held.tsv | gpnn-eval -q >scores
  assert_below 0.92 "$(value coverage95 scores)"
  assert_below "$(value coverage95 scores)" 0.985
}

@test "tasks that go against each other are told from few common observations" {
  awk -v OFS='\t' 'BEGIN {
    srand(9); print "x", "task", "y" >"train.tsv"; print "x", "task", "y" >"test.tsv"
    split("1 -1 0.5 -2 1.5 -0.7", sign, " ")
    for (i = 0; i < 60; i++) for (k = 1; k <= 6; k++)
      print i, "t" k, sign[k] * sin(i / 6) + 0.03 * rand() > (rand() < 0.6 ? "test.tsv" : "train.tsv")
  }'
  gpnn-grid index -q --site x --factor task=task -y y -o g.gpi train.tsv
  gpnn-grid fit --effort fast g.gpi >g.par
  gpnn-grid predict -q -p g.par g.gpi test.tsv | gpnn-eval -q >metrics
  awk '$1 == "rmse" { exit !($2 < 0.05) }' metrics
}

@test "finer points are those of the published method unless they are given" {
  make_grid
  gpnn-grid fit --preset paper --steps 2 g.gpi >g.par
  gpnn-grid fit --preset paper --steps 2 --tune estimator=hutchinson --tune probes=10 --tune precond=pivoted \
    --tune rank=100 --tune rate=0.1 --tune tol=0.01 --tune max-iter=10000 g.gpi | cmp - g.par
  for setting in estimator=pathwise probes=3 rate=0.05; do
    gpnn-grid fit --preset paper --steps 2 --tune "$setting" g.gpi >other.par
    run ! cmp -s g.par other.par
  done
  # Cells held out in another pattern are predicted less well, or better.
  gpnn-grid fit --effort fast g.gpi >g.par
  gpnn-grid fit --effort fast --tune holdout=levels g.gpi >other.par
  run ! cmp -s g.par other.par
  assert_fails 2 'NAME is holdout, rate, estimator' gpnn-grid fit --tune colour=red g.gpi
}

@test "steps that need more memory than there is are refused" {
  awk 'BEGIN { print "x\tt\ty"; for (i = 0; i < 3000; i++) print i "\t" i "\t" sin(i) }' |
    gpnn-grid index -q --site x --time t -o g.gpi -
  run -1 --separate-stderr gpnn-grid fit --preset paper --tune probes=10000 g.gpi
  [[ $stderr == *"steps on all cells need about 4."*"e+03 GiB, and "* ]]
  [[ $stderr == *"of 3000 and 3000 levels"* ]]
}

@test "named levels with few cells each get intervals that hold" {
  # 40 names by 10 times, of which 3 in 10 are missing: two smooth functions shared, and noise of sd 0.3.
  LC_ALL=C awk -v OFS='\t' '
    function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    function normal(  i, sum) { for (i = 0; i < 12; i++) sum += uniform(); return sum - 6 }
    BEGIN {
      seed = 20
      print "name", "time", "y" >"seen.tsv"
      print "name", "time", "y" >"missing.tsv"
      for (i = 1; i <= 40; i++) {
        a = normal(); b = normal(); c = normal()
        for (t = 0; t < 10; t++) {
          y = a * sin(0.7 * t) + b * cos(0.5 * t + 1) + 0.3 * c + 0.3 * normal()
          print "n" i, t, y >(uniform() < 0.3 ? "missing.tsv" : "seen.tsv")
        }
      }
    }'
  gpnn-grid index -q --site name --time time -o n.gpi seen.tsv
  gpnn-grid fit -q --effort fast n.gpi >n.par
  gpnn-grid predict -q -p n.par n.gpi missing.tsv | gpnn-eval >scores
  assert_below "$(value rmse scores)" 0.5
  assert_below 0.7 "$(value coverage80 scores)"
  assert_below "$(value coverage80 scores)" 0.95
}

@test "a kernel scale far below the noise is a warning" {
  make_grid
  grid=(gpnn-grid fit --effort fast --site-kernel rbf --time-kernel rbf --transform none --likelihood gaussian)
  run -0 --separate-stderr "${grid[@]}" --fix kernelscale=1e-5 --fix noise=1 g.gpi
  [[ $stderr == *'a kernel scale of 1e-05 beside a noise variance of 1: predictions are hardly more than the mean'* ]]
  run -0 --separate-stderr "${grid[@]}" g.gpi
  [[ $stderr != *'kernel scale'* ]]
}

@test "intervals cover cells that were not seen, though seasons are not what the kernel is made for" {
  awk '
    function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    function normal(  i, sum) { for (i = 0; i < 12; i++) sum += uniform(); return sum - 6 }
    BEGIN {
      OFS = "\t"; seed = 3; for (i = 0; i < 9; i++) uniform()
      print "x", "y", "month", "t" >"seen.tsv"; print "x", "y", "month", "t" >"missing.tsv"
      for (k = 0; k < 12; k++) { u[k] = normal(); v[k] = normal(); phase[k] = 7 * uniform() }
      for (m = 0; m < 72; m++) for (k = 0; k < 12; k++) w[m, k] = 0.3 * (m ? w[m - 1, k] : 0) + normal()
      for (i = 0; i < 60; i++) {
        x = 4 * uniform(); y = 4 * uniform(); height = -log(uniform())
        swing = 9 + 0.5 * x - height + 0.6 * normal()
        for (m = 0; m < 72; m++) {
          t = swing * cos(0.5236 * m) - 2 * height + 0.3 * normal()
          for (k = 0; k < 12; k++) t += 0.6 * w[m, k] * cos(u[k] * x + v[k] * y + phase[k])
          r = uniform()
          if (r > 0.4) printf "%.3f\t%.3f\t%d\t%.2f\n", x, y, m, t >(r > 0.94 ? "missing.tsv" : "seen.tsv")
        }
      }
    }'
  gpnn-grid index -q -y t --site x,y --time month -o s.gpi seen.tsv
  gpnn-grid fit -q --effort fast --site-kernel rbf --time-kernel exp s.gpi >s.par
  gpnn-grid predict -q -p s.par s.gpi missing.tsv | gpnn-eval >scores
  assert_below 0.92 "$(value coverage95 scores)"
  assert_below 0.8 "$(value cal scores)" # the mean of squared errors, divided by their variances
  assert_below "$(value cal scores)" 1.3
}

# Where a quarter of the sites wave and the others are many small numbers of any size, logarithms make the
# small ones probable and forget the waves.
@test "a transform that spoils the means is not taken, whatever densities gain" {
  awk -v OFS='\t' 'BEGIN {
    srand(3); print "x", "t", "y"
    for (i = 0; i < 16; i++) for (j = 1; j <= 24; j++)
      if (rand() < 0.85) print i, j, i < 12 ? 1e-3 * exp(6 * rand()) : 2 + sin(i + 0.8 * j) + 0.4 * (rand() - 0.5)
  }' >obs.tsv
  gpnn-grid index -q --site x --time t -o g.gpi obs.tsv
  gpnn-grid fit -v --site-kernel rbf --time-kernel rbf --time-scale linear --mean none g.gpi 2>log >g.par
  awk '
    /tried/ { sub(/.*NLL /, ""); sub(/, RMSE/, ""); sub(/,.*/, "") }
    NR == 1 { nll = $1; rmse = $2 }
    NR > 1 && $1 < nll - 0.3 && $2 > 1.5 * rmse { found = 1 }
    END { exit !found }' log
  assert_equal "$(value transform)" ''
}
