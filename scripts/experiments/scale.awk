# What gpnn-mpi takes, from what it took: see scripts/experiments/scale, which sets what, inputs,
# price and cores.
#
# With n rows, d inputs, m neighbours and R ranks, processor time in seconds is
#   index              begin + row k log2 k of each rank, k = n / R, and 'first' more of rank 0
#   a prediction       near(n / R) (1 + far (asked - 1)) in all,   near(k) = c k^p
# and memory and disk of a rank grow with n / R over what a process has anyway.  The rows are hashed
# in one chain from rank to rank, while others wait.  c and p come from
# one rank and two numbers of rows, all else from 1, 2 and 4 ranks and the second of these.
# 'asked' counts the boxes that a ball of m rows meets, of a unit cube cut across one input after the
# other, where the centre is uniform and the ball has the volume m / n.

BEGIN {
  hash = 1.5e-9 # seconds a number
  pi = 4 * atan2(1, 1)
}

function log2(v) { return log(v) / log(2) }
function least(a, b) { return a < b ? a : b }
function greatest(a, b) { return a > b ? a : b }

# The logarithm of the volume of the unit ball in d dimensions.
function log_ball(d,  v, k) {
  v = d % 2 ? log(2) : 0
  for (k = d % 2 ? 3 : 2; k <= d; k += 2) v += log(2 * pi / k)
  return v
}

# How many boxes from input j on lie within 'left' (squared) of a random place.
function boxes(j, left,  cells, c, outside, n) {
  if (j > d_boxes || cuts[j] == 0) return 1
  cells = 2 ^ cuts[j]
  for (c = 0; c < cells; c++) {
    outside = greatest(greatest(c / cells - place[j], place[j] - (c + 1) / cells), 0)
    if (outside * outside <= left) n += boxes(j + 1, left - outside * outside)
  }
  return n
}

# Places that fill the cube evenly, and are the same everywhere.
function weyl(q, j,  x) {
  x = (q + 0.5) * sqrt(prime(j))
  return x - int(x)
}

function prime(j,  i, k) {
  for (i = 2; j > 0; i += j > 0) {
    for (k = 2; k * k <= i && i % k; k++);
    if (k * k > i) j--
  }
  return i
}

function asked(n, d, m, R,  r, k, q, j, sum) {
  r = exp((log(m / n) - log_ball(d)) / d)
  d_boxes = d
  for (j = 1; j <= d; j++) cuts[j] = 0
  for (k = 0; 2 ^ k < R; k++) cuts[k % d + 1]++
  for (q = 0; q < 200; q++) {
    for (j = 1; j <= d; j++) place[j] = weyl(q, j)
    sum += boxes(1, r * r)
  }
  return sum / 200
}

function index_of(k) { return begin + row * k * log2(k) }
function near(k) { return c * k ^ p }
function predict_all(n, a, R) { return near(n / R) * (1 + far * (a - 1)) }

/^#/ { next }
/^rows\t/ { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
  n_lines++
  for (name in column) value[n_lines, name] = $(column[name])
  line[$1, $2, $4] = n_lines # rows, inputs, ranks
  if ($4 == 1 && !(($1, $2) in known)) sizes[$2, ++n_sizes[$2]] = $1
  known[$1, $2] = 1
}

function of(i, name) { return value[i, name] }
function predicted(i) { return of(i, "predict_first") + of(i, "predict_others") }

# Sets the constants of tables with d inputs.
function learn(d,  n, zero, one, two, four) {
  n = sizes[d, 2]
  zero = line[sizes[d, 1], d, 1]; one = line[n, d, 1]; two = line[n, d, 2]; four = line[n, d, 4]
  if (!zero || !one || !two || !four) {
    print "scale: 1, 2 and 4 ranks and two numbers of rows are needed" >"/dev/stderr"
    exit 2
  }
  m = of(one, "neighbours")
  row = of(two, "index_busiest") - of(four, "index_busiest")
  row /= n / 2 * log2(n / 2) - n / 4 * log2(n / 4)
  begin = of(four, "index_busiest") - row * n / 4 * log2(n / 4)
  first = of(four, "index_first") - of(four, "index_busiest")
  memory_row = (of(two, "index_mib") - of(four, "index_mib")) / (n / 4)
  memory_0 = of(four, "index_mib") - memory_row * n / 4
  shard_row = of(one, "shard_bytes") / n
  p = log(predicted(one) / predicted(zero)) / log(n / sizes[d, 1])
  c = predicted(one) / n ^ p
  far = greatest(predicted(two) / near(n / 2) - 1, 0) / (of(two, "asked") - 1) / 2
  far += greatest(predicted(four) / near(n / 4) - 1, 0) / (of(four, "asked") - 1) / 2
}

function check(  i, n, d, R, a) {
  print "rows\tinputs\tranks\tindex_first\tpredicted\tindex_busiest\tpredicted\tindex_mib\tpredicted\tshard_bytes\tpredicted\tasked\tpredicted\tpredict_us\tpredicted"
  for (i = 1; i <= n_lines; i++) {
    n = of(i, "rows"); d = of(i, "inputs"); R = of(i, "ranks")
    learn(d)
    a = asked(n, d, m, R)
    printf "%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%d\t%.0f\t%.0f\t%.2f\t%.2f\t%.1f\t%.1f\n", n, d, R,
      of(i, "index_first"), first + index_of(n / R), of(i, "index_busiest"),
      (R > 1 ? index_of(n / R) : 0),
      of(i, "index_mib"), (R > 1 ? memory_0 + memory_row * n / R : 0),
      of(i, "shard_bytes"), shard_row * n / R, of(i, "asked"), a,
      predicted(i), predict_all(n, a, R)
  }
}

function predict(  e, n, R, a, busy, hours, seconds) {
  learn(inputs)
  print "rows\tranks\tindex_minutes\tmemory_gib\tdisk_gib\tasked\tpredict_minutes\tcore_hours\tmoney"
  for (e = 9; e <= 11; e++)
    for (R = 16; R <= 4096; R *= 4) {
      n = 10 ^ e
      a = asked(n, inputs, m, R)
      busy = first + index_of(n / R) + 8 * (inputs + 2) * n / R / 1e9 + hash * (inputs + 1) * n
      # One thread of each rank reads and writes its rows.
      seconds = 1000 * greatest(predict_all(n, a, R) / cores, (inputs + 2) / 10) / R
      hours = R * cores * (busy + seconds) / 3600
      printf "1e%d\t%d\t%.1f\t%.2f\t%.2f\t%.1f\t%.1f\t%.0f\t%.0f\n", e, R, busy / 60,
        (memory_0 + memory_row * n / R) / 1024, (shard_row + 8) * n / R / 2 ^ 30, a, seconds / 60, hours,
        hours * price
    }
}

END {
  if (n_lines == 0) exit 2
  if (what == "check") check()
  else predict()
}
