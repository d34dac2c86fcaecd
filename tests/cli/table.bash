# shellcheck shell=bash
# table: the table that command-line tests and scripts make their data from.

# make_table ROWS [INPUTS [FIRST [DELIMITER]]]: writes a table of inputs x1, x2 ... (2) and a target
# y.  Its rows are those from number FIRST (0) on of one endless table, so that tables with different
# FIRST share a function but no rows.  Inputs are spread over (0, 1); y is smooth, with a little noise.
make_table() {
  local tab=$'\t'
  awk -v rows="$1" -v d="${2:-2}" -v first="${3:-0}" -v delimiter="${4:-$tab}" '
    function fraction(x) { return x - int(x) }
    BEGIN {
      for (j = 1; j <= d; j++) printf "x%d%s", j, delimiter
      print "y"
      for (i = first + 1; i <= first + rows; i++) {
        y = 3
        for (j = 1; j <= d; j++) {
          x = fraction(i * sqrt(j * j + 1))
          y += sin(5 * x + j) / j
          printf "%.6f%s", x, delimiter
        }
        printf "%.6f\n", y + 0.4 * (fraction(43758.5453 * (2 + sin(i * 12.9898))) - 0.5)
      }
    }'
}
