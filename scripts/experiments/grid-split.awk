# Divides a grid into observed and held-out cells, both as long tables: the columns of the site,
# "time" and "y", a row for each cell that the grid has a value of.
#
#   awk -v seed=N -v sites=COLUMNS -v pattern=P -v share=S -v train=FILE -v test=FILE \
#       -v units=FILE -f grid-split.awk GRID.tsv
#
# GRID.tsv has a row for each site: its columns, then a column for each time, called by its number
# after one letter.  What is held out:
#   random     each cell with probability S
#   times      all cells of a share S of the times, chosen at random
#   trailing   all cells of the last S times
#   cut        of a share S of the sites, chosen at random, all times after a random one, the first
#              to be observed or not; the last time stays observed of the other sites alone
# The same seed holds out the same cells with any awk.  'units' gets the mean and the standard
# deviation (n - 1) that scores are in units of: those of the observed cells, under cut those of the
# observed cells of the last time.

# Uniform on (0, 1): the generator of Park and Miller, whose numbers are exact in any awk.
function uniform() {
  state = (16807 * state) % 2147483647
  return state / 2147483647
}

# Whether the next of 'left' is one of those of whom 'wanted' are still to be chosen.
function chosen() {
  if (uniform() * left-- >= wanted) return 0
  wanted--
  return 1
}

function observe(y) {
  n++
  sum += y - origin
  squares += (y - origin) ^ 2
}

BEGIN {
  FS = OFS = "\t"
  state = 2 + seed * 7919
  for (i = 0; i < 20; i++) uniform()
}

NR == 1 {
  head = $1
  for (i = 2; i <= sites; i++) head = head OFS $i
  print head, "time", "y" >train
  print head, "time", "y" >test
  times = NF - sites
  for (j = 1; j <= times; j++) time[j] = substr($(sites + j), 2)
  wanted = int(share * times + 0.5)
  left = times
  for (j = 1; j <= times; j++)
    late[j] = pattern == "times" ? chosen() : pattern == "trailing" ? j > times - share : 0
  next
}

# The sites' number must be known before one is chosen.
{ row[++rows] = $0 }

END {
  wanted = int(share * rows + 0.5)
  left = rows
  for (i = 1; i <= rows; i++) {
    split(row[i], field)
    site = field[1]
    for (j = 2; j <= sites; j++) site = site OFS field[j]
    seen = pattern == "cut" && chosen() ? int(uniform() * times) : times
    for (j = 1; j <= times; j++) {
      y = field[sites + j]
      hidden = pattern == "random" ? uniform() < share : late[j] || j > seen
      if (y == "NA") continue
      print site, time[j], y >(hidden ? test : train)
      if (hidden || (pattern == "cut" && j < times)) continue
      if (!n) origin = y
      observe(y)
    }
  }
  printf "%.17g\t%.17g\n", origin + sum / n, sqrt((squares - sum * sum / n) / (n - 1)) >units
}
