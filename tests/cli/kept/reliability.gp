# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 454,435 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# from, to, predicted, observed, 95 % of observed if the probabilities are right, share of rows
$bins << END
0.26666666666666666 0.3333333333333333 0.3115 0 0 1 0.016666666666666666
0.3333333333333333 0.4 0.373 0.5 0 0.8333333333333334 0.05
0.4 0.4666666666666667 0.42983333333333335 0.16666666666666666 0 0.8333333333333334 0.05
0.4666666666666667 0.5333333333333333 0.498125 0.4375 0.25 0.75 0.13333333333333333
0.5333333333333333 0.6 0.5691875 0.5625 0.3125 0.8125 0.13333333333333333
0.6 0.6666666666666666 0.6406666666666667 0.3333333333333333 0.3333333333333333 0.9166666666666666 0.1
0.6666666666666666 0.7333333333333333 0.7012142857142857 0.7142857142857143 0.42857142857142855 0.9285714285714286 0.11666666666666667
0.7333333333333333 0.8 0.7682666666666668 0.8666666666666667 0.5333333333333333 0.9333333333333333 0.125
0.8 0.8666666666666667 0.8403636363636363 0.5454545454545454 0.6363636363636364 1 0.09166666666666666
0.8666666666666667 0.9333333333333333 0.8996000000000001 1 0.7 1 0.08333333333333333
0.9333333333333333 1 0.9571666666666667 1 0.8333333333333334 1 0.1
END
set xlabel 'largest probability predicted' noenhanced
set ylabel 'share of rows that are of this class' noenhanced
set tmargin at screen 0.91739
set label 'n = 120, ECE = 0.12, by chance 0.1' at graph 0, graph 1 left offset 0, 0.8 noenhanced
set xrange [0.2:1]
set yrange [0:1]
set ytics 0.2
set xtics 0.2
set key outside below center horizontal height 1 Left reverse
plot $bins using (($1+$2)/2):($5+$6)/2:(($2-$1)/2):(($6-$5)/2) with boxxyerror fs solid noborder fc rgb '#D0D0D0' title 'chance, 95 %', \
  $bins using (($1+$2)/2):7:($2-$1) with boxes fs transparent solid 0.25 border rgb '#009E73' fc rgb '#009E73' lw 1 title 'share of all rows', \
  x with lines lw 1 dt 2 lc rgb '#202020' title 'calibrated', \
  $bins using 3:4 with linespoints lw 1.5 pt 7 ps 0.6 lc rgb '#0072B2' title 'predictions'
