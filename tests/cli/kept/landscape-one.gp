# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 643,334 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# value of the parameter, metric, its se, limit, limit when matched
$panel0_0 << END
0.1 0.2 0.01 0.1 0.1
END
set multiplot

set lmargin at screen 0.12353
set rmargin at screen 0.97941
set tmargin at screen 0.96045
set bmargin at screen 0.25424
set label 2 'MSE' noenhanced
set label 2 at screen 0.02353, screen 0.60734 center rotate by 90
unset logscale
set xrange [0.096:0.10400000000000001]
set format x '%g'
set xtics 0.002
set yrange [0.0956:0.2144]
set format y '%g'
set ytics 0.02
unset arrow
set xlabel 'noise' noenhanced
plot $panel0_0 index 0 using 1:2:3 with yerrorlines lw 1.3 pt 4 ps 0.45 lc rgb '#082860' notitle, \
  $panel0_0 index 0 using 1:4 with lines lw 2 dt 2 lc rgb '#D55E00' notitle, \
  $panel0_0 index 0 using 1:5 with lines lw 2 dt 4 lc rgb '#009E73' notitle
unset label

set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 0.07910
unset logscale
unset xtics
unset ytics
unset border
unset grid
unset xlabel
unset ylabel
unset arrow
set xrange [0:1]
set yrange [0:1]
set key center center horizontal Left reverse maxcols 4
plot NaN notitle, \
  keyentry with linespoints lw 1.3 pt 4 ps 0.6 lc rgb '#082860' title 'n = 1000', \
  keyentry with lines lw 2 dt 2 lc rgb '#D55E00' title 'limit', \
  keyentry with lines lw 2 dt 4 lc rgb '#009E73' title 'limit, matched'
unset multiplot
