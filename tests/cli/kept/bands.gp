# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 756,265 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# input, mean, ends of the inner and of the outer interval
$band << END
1 3 2.5 3.75 2 4.5
2 6 5.5 6.75 5 7.5
3 2 1.5 2.75 1 3.5
4 5 4.5 5.75 4 6.5
5 1 0.5 1.75 0 2.5
6 4 3.5 4.75 3 5.5
END
set xlabel 'across' noenhanced
set tmargin at screen 0.95000
set xrange [1:6]
set format x '%g'
set yrange [-0.3:7.8]
set format y '%g'
set ylabel 'mean' noenhanced
set key outside below center horizontal height 1 Left reverse
set style fill noborder
plot $band using 1:5:6 with filledcurves fc rgb '#CFE4F3' title '90 % interval', \
  $band using 1:3:4 with filledcurves fc rgb '#8FBFE0' title '50 % interval', \
  $band using 1:2 with lines lw 1.8 lc rgb '#0072B2' title 'mean'
