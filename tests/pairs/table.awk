# Prints rows of a made-up table for scripts/pairs: those from number 'first' on (0) of one endless
# table, so that tables with different 'first' share a function but no rows.
#
#   awk -v rows=N -v first=N -v unit=U -v want='WORD...' -f table.awk
#
# Inputs a and b are spread over (0, 1); the target y is smooth in them, with a little noise.  Each
# word adds a column and what it does to the target, or says what the target is:
#   categories  c, a category of three            hours   hour, with a period of 24
#   days        day, a date                       globe   lat and lon, in degrees
#   lines       r, which y depends on linearly    sites   site, which says nothing
#   noises      v, the variance of the noise      offsets o, which is added to y
#   wide        a third input that is far-flung   holes   no a in each twentieth row
#   second      z, another target                 heavy   errors with heavy tails
#   positive    y is positive, and skew           grid    sites a and times t, of which 400 make a grid
#   classes     y is one of three names           binary  y is one of two
#   counts      y is a count                      exposed e, which counts are proportional to
#   zeros       y below a bound is 0
# All that has the unit of y is multiplied by 'unit', a power of two, so that no digit is lost.

function has(word) { return (" " want " ") ~ (" " word " ") }
function fraction(x) { return x - int(x) }

# The 'k'-th random number of row 'i', uniform in (0, 1).
function uniform(i, k,    s) {
  s = sin(i * 12.9898 + k * 78.233) * 43758.5453
  return 1e-9 + (1 - 2e-9) * fraction(s < 0 ? -s : s)
}

function normal(i, k) { return sqrt(-2 * log(uniform(i, k))) * cos(6.283185307 * uniform(i, k + 50)) }

function put(name, value) {
  names = names (names == "" ? "" : "\t") name
  values = values (values == "" ? "" : "\t") value
}

# In multiples of 2^-20, which all decimal digits are printed of.
function number(x) { return sprintf("%.20g", (x < 0 ? -1 : 1) * int((x < 0 ? -x : x) * 1048576) / 1048576) }

function scaled(x) { return sprintf("%.25g", unit * number(x)) }

function poisson(mean, u,    k, p, sum) {
  p = sum = exp(-mean)
  for (k = 0; u > sum && k < 1000; k++) sum += p *= mean / (k + 1)
  return k
}

function class(f, i,    high, low) {
  high = exp(4 * (f - 3))
  low = has("binary") ? 0 : exp(-4 * (f - 3))
  if (uniform(i, 9) * (1 + high + low) < high) return "high"
  return uniform(i, 9) * (1 + high + low) < high + low ? "low" : "middle"
}

function put_inputs(i) {
  f = 3
  x = fraction(i * 0.7548776662)
  w = fraction(i * 0.5698402910)
  f += sin(5 * x) + 0.5 * cos(4 * w + 1)
  if (has("grid")) {
    cell = (i * 149) % 400
    x = int(cell / 20) / 20
    w = cell % 20 / 20
    f = 3 + sin(5 * x) * cos(3 * w) + w
    put("a", number(x))
    put("t", cell % 20)
    return
  }
  put("a", has("holes") && i % 20 == 7 ? "NA" : number(x))
  put("b", number(w))
  if (has("categories")) {
    put("c", i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue")
    f += 0.4 * (i % 3 - 1)
  }
  if (has("hours")) {
    put("hour", number(24 * uniform(i, 3)))
    f += 0.5 * sin(6.283185307 / 24 * 24 * uniform(i, 3))
  }
  if (has("days")) {
    k = int(600 * uniform(i, 4))
    put("day", sprintf("%d-%02d-%02d", 2020 + int(k / 336), 1 + int(k % 336 / 28), 1 + k % 28))
    f += 0.001 * k
  }
  if (has("globe")) {
    put("lat", number(40 + 20 * uniform(i, 5)))
    put("lon", number(20 * uniform(i, 6)))
    f += 0.4 * sin(uniform(i, 5) * 3) + 0.3 * uniform(i, 6)
  }
  if (has("wide")) put("w", number(exp(3 * normal(i, 11))))
  if (has("lines")) {
    put("r", number(3 * uniform(i, 7)))
    f += 2 * number(3 * uniform(i, 7))
  }
  if (has("sites")) put("site", i % 12)
}

function put_target(i) {
  variance = 0.02
  if (has("noises")) variance = number(0.005 + 0.08 * uniform(i, 8) ^ 2)
  noise = sqrt(variance) * normal(i, 1)
  if (has("heavy")) noise = sqrt(variance / 3) * normal(i, 1) / sqrt(-log(uniform(i, 12)))
  if (has("noises")) put("v", sprintf("%.25g", unit * unit * variance))
  if (has("exposed")) put("e", e = number(0.5 + 2 * uniform(i, 13)))
  if (has("offsets")) put("o", scaled(5 * uniform(i, 10)))
  if (has("second")) put("z", scaled(4 + cos(5 * x) - w + 0.2 * normal(i, 14)))
  if (has("classes") || has("binary")) return put("y", class(f, i))
  if (has("counts")) return put("y", poisson((has("exposed") ? e : 1) * exp(0.6 * f), uniform(i, 9)))
  if (has("positive")) return put("y", scaled(exp(0.6 * (f + noise))))
  if (has("zeros")) return put("y", scaled(f + noise < 2.9 ? 0 : f + noise - 2.9))
  put("y", sprintf("%.25g", unit * (number(f + noise) + (has("offsets") ? number(5 * uniform(i, 10)) : 0))))
}

BEGIN {
  for (i = first + 1; i <= first + rows; i++) {
    names = values = ""
    put_inputs(i)
    put_target(i)
    if (i == first + 1) print names
    print values
  }
}
