# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 643,340 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# middle of the bin, density
$pit << END
0.0625 1.0212765957446808
0.1875 1.1914893617021276
0.3125 0.5106382978723404
0.4375 1.1914893617021276
0.5625 0.6808510638297872
0.6875 1.0212765957446808
0.8125 1.3617021276595744
0.9375 1.0212765957446808
END
set xlabel 'PIT: probability predicted below the truth' noenhanced
set ylabel 'density' noenhanced
set tmargin at screen 0.89444
set label 'n = 47, distance from uniform 0.073' at graph 0, graph 1 left offset 0, 0.8 noenhanced
set xrange [0:1]
set yrange [0:2.340425532]
set key outside below center horizontal height 1 Left reverse
low = 0.3404255319
high = 1.872340426
plot '+' using 1:(low):(high) with filledcurves fc rgb '#D0D0D0' title 'chance, 95 %', \
  $pit using 1:2:(0.125) with boxes fs transparent solid 0.4 border rgb '#0072B2' fc rgb '#0072B2' lw 1.2 title 'predictions', \
  1 with lines lw 1 dt 2 lc rgb '#202020' title 'calibrated'
gpnn-plot: predictions.tsv: 1 rows without truth or prediction left out
