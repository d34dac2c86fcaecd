# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 643,387 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
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
0.2 0.3 0.01 0.1 0.1
0.3 0.4 0.01 0.1 0.1
0.4 0.5 0.01 0.1 0.1


0.1 0.11 0.01 0.1 0.1
0.2 0.12 0.01 0.1 0.1
0.3 0.13 0.01 0.1 0.1
0.4 0.14 0.01 0.1 0.1


0.1 0.101 0.01 0.1 0.1
0.2 0.102 0.01 0.1 0.1
0.3 0.103 0.01 0.1 0.1
0.4 0.104 0.01 0.1 0.1
END
# value of the parameter, metric, its se, limit, limit when matched
$panel0_1 << END
2 0.2 0.01 0.1 0.1
4 0.3 0.01 0.1 0.1
8 0.4 0.01 0.1 0.1
16 0.5 0.01 0.1 0.1


2 0.11 0.01 0.1 0.1
4 0.12 0.01 0.1 0.1
8 0.13 0.01 0.1 0.1
16 0.14 0.01 0.1 0.1


2 0.101 0.01 0.1 0.1
4 0.102 0.01 0.1 0.1
8 0.103 0.01 0.1 0.1
16 0.104 0.01 0.1 0.1
END
# value of the parameter, metric, its se, limit, limit when matched
$panel1_0 << END
0.1 -2.3 0.1 -2.6 -2
0.2 -1.3 0.1 -1.6 -2
0.3 -0.3 0.1 -0.6 -2
0.4 0.7 0.1 0.4 -2


0.1 -2.4 0.1 -2.6 -2
0.2 -1.4 0.1 -1.6 -2
0.3 -0.4 0.1 -0.6 -2
0.4 0.6 0.1 0.4 -2


0.1 -2.5 0.1 -2.6 -2
0.2 -1.5 0.1 -1.6 -2
0.3 -0.5 0.1 -0.6 -2
0.4 0.5 0.1 0.4 -2
END
# value of the parameter, metric, its se, limit, limit when matched
$panel1_1 << END
2 0.7 0.1 0.4 -2
4 1.7 0.1 1.4 -2
8 2.7 0.1 2.4 -2
16 3.7 0.1 3.4 -2


2 0.6 0.1 0.4 -2
4 1.6 0.1 1.4 -2
8 2.6 0.1 2.4 -2
16 3.6 0.1 3.4 -2


2 0.5 0.1 0.4 -2
4 1.5 0.1 1.4 -2
8 2.5 0.1 2.4 -2
16 3.5 0.1 3.4 -2
END
set multiplot

set lmargin at screen 0.12353
set rmargin at screen 0.49706
set tmargin at screen 0.96585
set bmargin at screen 0.65854
set label 2 'MSE' noenhanced
set label 2 at screen 0.02353, screen 0.81220 center rotate by 90
unset logscale
set xrange [0.08800000000000001:0.41200000000000003]
set format x '%g'
set xtics 0.1
set yrange [0.08360000000000001:0.5264]
set format y '%g'
set ytics 0.1
unset arrow
set arrow from first 0.3, graph 0 to first 0.3, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
set arrow from first 7, graph 0 to first 7, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
unset xlabel
plot $panel0_0 index 0 using 1:2:3 with yerrorlines lw 1.3 pt 4 ps 0.45 lc rgb '#8CC4EA' notitle, \
  $panel0_0 index 1 using 1:2:3 with yerrorlines lw 1.3 pt 5 ps 0.45 lc rgb '#4A76A5' notitle, \
  $panel0_0 index 2 using 1:2:3 with yerrorlines lw 1.3 pt 6 ps 0.45 lc rgb '#082860' notitle, \
  $panel0_0 index 2 using 1:4 with lines lw 2 dt 2 lc rgb '#D55E00' notitle, \
  $panel0_0 index 2 using 1:5 with lines lw 2 dt 4 lc rgb '#009E73' notitle
unset label

set lmargin at screen 0.60588
set rmargin at screen 0.97941
set tmargin at screen 0.96585
set bmargin at screen 0.65854
unset logscale
set xrange [1.44:16.56]
set format x '%g'
set xtics 5
set yrange [0.08360000000000001:0.5264]
set format y '%g'
set ytics 0.1
unset arrow
set arrow from first 7, graph 0 to first 7, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
unset xlabel
plot $panel0_1 index 0 using 1:2:3 with yerrorlines lw 1.3 pt 4 ps 0.45 lc rgb '#8CC4EA' notitle, \
  $panel0_1 index 1 using 1:2:3 with yerrorlines lw 1.3 pt 5 ps 0.45 lc rgb '#4A76A5' notitle, \
  $panel0_1 index 2 using 1:2:3 with yerrorlines lw 1.3 pt 6 ps 0.45 lc rgb '#082860' notitle, \
  $panel0_1 index 2 using 1:4 with lines lw 2 dt 2 lc rgb '#D55E00' notitle, \
  $panel0_1 index 2 using 1:5 with lines lw 2 dt 4 lc rgb '#009E73' notitle
unset label

set lmargin at screen 0.12353
set rmargin at screen 0.49706
set tmargin at screen 0.58537
set bmargin at screen 0.27805
set label 2 'NLL' noenhanced
set label 2 at screen 0.02353, screen 0.43171 center rotate by 90
unset logscale
set xrange [0.08800000000000001:0.41200000000000003]
set format x '%g'
set xtics 0.1
set yrange [-2.736:0.9359999999999999]
set format y '%g'
set ytics 1
unset arrow
set arrow from first 0.3, graph 0 to first 0.3, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
set arrow from first 7, graph 0 to first 7, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
set xlabel 'noise' noenhanced
plot $panel1_0 index 0 using 1:2:3 with yerrorlines lw 1.3 pt 4 ps 0.45 lc rgb '#8CC4EA' notitle, \
  $panel1_0 index 1 using 1:2:3 with yerrorlines lw 1.3 pt 5 ps 0.45 lc rgb '#4A76A5' notitle, \
  $panel1_0 index 2 using 1:2:3 with yerrorlines lw 1.3 pt 6 ps 0.45 lc rgb '#082860' notitle, \
  $panel1_0 index 2 using 1:4 with lines lw 2 dt 2 lc rgb '#D55E00' notitle, \
  $panel1_0 index 2 using 1:5 with lines lw 2 dt 4 lc rgb '#009E73' notitle
unset label

set lmargin at screen 0.60588
set rmargin at screen 0.97941
set tmargin at screen 0.58537
set bmargin at screen 0.27805
unset logscale
set xrange [1.44:16.56]
set format x '%g'
set xtics 5
set yrange [-2.232:4.032]
set format y '%g'
set ytics 1
unset arrow
set arrow from first 7, graph 0 to first 7, graph 1 nohead lw 1 dt 2 lc rgb '#808080'
set xlabel 'lengthscale' noenhanced
plot $panel1_1 index 0 using 1:2:3 with yerrorlines lw 1.3 pt 4 ps 0.45 lc rgb '#8CC4EA' notitle, \
  $panel1_1 index 1 using 1:2:3 with yerrorlines lw 1.3 pt 5 ps 0.45 lc rgb '#4A76A5' notitle, \
  $panel1_1 index 2 using 1:2:3 with yerrorlines lw 1.3 pt 6 ps 0.45 lc rgb '#082860' notitle, \
  $panel1_1 index 2 using 1:4 with lines lw 2 dt 2 lc rgb '#D55E00' notitle, \
  $panel1_1 index 2 using 1:5 with lines lw 2 dt 4 lc rgb '#009E73' notitle
unset label

set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 0.12683
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
  keyentry with linespoints lw 1.3 pt 4 ps 0.6 lc rgb '#8CC4EA' title 'n = 1000', \
  keyentry with linespoints lw 1.3 pt 5 ps 0.6 lc rgb '#4A76A5' title 'n = 10⁴', \
  keyentry with linespoints lw 1.3 pt 6 ps 0.6 lc rgb '#082860' title 'n = 10⁵', \
  keyentry with lines lw 2 dt 2 lc rgb '#D55E00' title 'limit', \
  keyentry with lines lw 2 dt 4 lc rgb '#009E73' title 'limit, matched'
unset multiplot
