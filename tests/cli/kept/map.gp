# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 643,261 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# inputs, mean, sd
$map << END
0.0132 0.026 0.0395 0.1132
0.0344 0.069 0.1033 0.1344
0.0476 0.095 0.1428 0.1476
0.0689 0.138 0.2067 0.1689
0.0902 0.18 0.2705 0.1902
0.1033 0.207 0.31 0.2033
0.1246 0.249 0.3738 0.2246
0.1591 0.318 0.4772 0.2591
0.1803 0.361 0.541 0.2803
0.1935 0.387 0.5805 0.2935
0.2148 0.43 0.6443 0.3148
0.2361 0.472 0.7082 0.3361
0.2492 0.498 0.7477 0.3492
0.2705 0.541 0.8115 0.3705
0.305 0.61 0.9149 0.405
0.3262 0.652 0.9787 0.4262
0.3394 0.679 1.0182 0.4394
0.3607 0.721 1.082 0.4607
0.3951 0.79 1.1854 0.4951
0.4164 0.833 1.2492 0.5164
0.4296 0.859 1.2887 0.5296
0.4508 0.902 1.3525 0.5508
0.4721 0.944 1.4164 0.5721
0.4853 0.971 1.4559 0.5853
0.5066 0.013 1.5197 0.6066
0.541 0.082 1.6231 0.641
0.5623 0.125 1.6869 0.6623
0.5755 0.151 1.7264 0.6755
0.5967 0.193 1.7902 0.6967
0.618 0.236 1.8541 0.718
0.6312 0.262 1.8936 0.7312
0.6525 0.305 1.9574 0.7525
0.6656 0.331 1.9969 0.7656
0.6869 0.374 2.0608 0.7869
0.7082 0.416 2.1246 0.8082
0.7214 0.443 2.1641 0.8214
0.7426 0.485 2.2279 0.8426
0.7771 0.554 2.3313 0.8771
0.7984 0.597 2.3951 0.8984
0.8115 0.623 2.4346 0.9115
0.8328 0.666 2.4984 0.9328
0.8541 0.708 2.5623 0.9541
0.8673 0.735 2.6018 0.9673
0.8885 0.777 2.6656 0.9885
0.923 0.846 2.769 1.023
0.9443 0.889 2.8328 1.0443
0.9574 0.915 2.8723 1.0574
0.9787 0.957 2.9361 1.0787
END
set multiplot
unset grid
set border 15
set xtics 0.2
set xrange [-0.006110000000000001:0.9980100000000001]
set format x '%g'
set yrange [-0.0061600000000000005:0.9901599999999999]
set format y '%g'
set xlabel 'x' noenhanced
set ylabel 'z' noenhanced

set lmargin at screen 0.10000
set rmargin at screen 0.37059
set tmargin at screen 0.86260
set bmargin at screen 0.20248
set colorbox vertical user origin screen 0.38235, screen 0.20248 size screen 0.02059, screen 0.66012
set label 2 'y, mean' noenhanced
set label 2 at screen 0.10000, screen 0.92045 left
set palette defined (0 '#440154', 1 '#472D7B', 2 '#3B528B', 3 '#2C728E', 4 '#21918C', 5 '#28AE80', 6 '#5EC962', 7 '#ADDC30', 8 '#FDE725')
set cbrange [0.0395:2.9361]
set format cb '%g'
plot $map using 1:2:3 with points pt 7 ps 1 lc palette notitle
unset label

set lmargin at screen 0.60000
set rmargin at screen 0.87059
set tmargin at screen 0.86260
set bmargin at screen 0.20248
set colorbox vertical user origin screen 0.88235, screen 0.20248 size screen 0.02059, screen 0.66012
set label 2 'y, sd' noenhanced
set label 2 at screen 0.60000, screen 0.92045 left
set palette defined (0 '#00224E', 1 '#123570', 2 '#3B496C', 3 '#575D6D', 4 '#707173', 5 '#8A8678', 6 '#A59C74', 7 '#C3B369', 8 '#FEE838')
set cbrange [0.1132:1.0787]
set format cb '%g'
plot $map using 1:2:4 with points pt 7 ps 1 lc palette notitle
unset label
unset multiplot
