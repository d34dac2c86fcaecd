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
$points << END
1.8541 2.1658
0.7082 0.6471
2.5623 1.801
1.4164 0.6075
0.2705 0.6832
2.1246 1.6835
0.9787 1.3786
2.8328 0.9764
1.6869 1.4924
0.541 0.8747
2.3951 1.0246
1.2492 1.2278
0.1033 0.2973
1.9574 2.5794
0.8115 0.8895
2.6656 0.1889
0.3738 0.4778
2.2279 2.0988
1.082 0.7277
2.9361 3.7072
1.7902 1.8591
0.6443 0.4816
2.4984 1.4414
1.3525 1.5458
0.2067 0.5165
2.0608 1.3675
0.9149 1.159
2.769 2.7557
1.6231 1.2199
0.4772 0.6987
2.3313 0.6991
1.1854 2.0386
0.0395 0.1648
1.8936 2.2528
0.7477 0.7041
2.6018 1.8854
1.4559 1.891
0.31 0.3359
2.1641 1.7628
1.0182 1.4556
2.8723 3.2736
1.7264 1.5667
0.5805 0.3303
2.4346 3.0103
1.2887 1.297
0.1428 0.3641
1.9969 1.0657
END
set label 1 'By hand' at screen 0.5, screen 0.94348 center noenhanced
set xlabel 'y, predicted (K)' noenhanced
set ylabel 'y, observed (K)' noenhanced
set xrange [-0.07053099999999998:3.8172309999999996]
set format x '%g'
set yrange [-0.07053099999999998:3.8172309999999996]
set format y '%g'
set tmargin at screen 0.85652
set label 'n = 47, RMSE = 0.6961' at graph 0, graph 1 left offset 0, 0.8 noenhanced
set size ratio 1
plot $points using 1:2 with points pt 7 ps 0.8 lc rgb '#900072B2' notitle, \
  x with lines lw 1.2 dt 2 lc rgb '#202020' notitle
gpnn-plot: predictions.tsv: 1 rows without truth or prediction left out
