# shellcheck shell=bash
# classes: tables, indexes and parameters of classes, for the tests that source it.

# class_table ROWS [FIRST]: inputs x and y and a class by the distance from the origin, whose last one
# has a comma in its name; the class is a text.
class_table() {
  awk -v n="$1" -v first="${2:-0}" 'BEGIN {
    print "x,y,where"
    for (i = first + 1; i <= first + n; i++) {
      x = 2 * sin(12.9898 * i); y = 2 * cos(78.233 * i * i)
      r = x * x + y * y + 0.4 * sin(3.7 * i)
      printf "%.4f,%.4f,%s\n", x, y, r < 1.5 ? "in" : r < 4 ? "mid" : "\"out, side\""
    }
  }'
}

# class_parameters BIAS...: parameters of as many classes.
class_parameters() {
  printf '%s\t%s\n' kernel matern32 lengthscale 1.1 kernelscale 1 noise 0.1 likelihood categorical \
    link-slope 4 link-evidence 0.3 link-floor 0.02 link-spread 0.3
  printf 'link-bias'
  printf '\t%s' "$@"
  printf '\nneighbours\t%s\n' "${NEIGHBOURS:-32}"
}

# prepare_classes: train.csv and its index c.gpi, parameters c.par written by hand, and rows to predict
# in test.csv.
prepare_classes() {
  class_table 500 >train.csv
  class_table 60 500 >test.csv
  gpnn-index -q --calibration-rows 50 -y where -o c.gpi train.csv
  class_parameters -0.3 -0.2 -0.5 >c.par
}
