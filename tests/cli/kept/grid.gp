# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 643,831 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# inputs, mean, sd: averages over cells
$map << END
0 0 -3 1
0.10000000000000002 0 -3 1
0.2 0 -3 1
0.30000000000000004 0 -3 1
0.4 0 -3 1
0 1 -3 1
0.10000000000000002 1 -2 1
0.2 1 -1 1
0.30000000000000004 1 0 1
0.4 1 1 1
0 2 -3 1
0.10000000000000002 2 -1 1
0.2 2 1 1
0.30000000000000004 2 3 1
0.4 2 5 1
0 3 -3 1
0.10000000000000002 3 0 1
0.2 3 3 1
0.30000000000000004 3 6 1
0.4 3 9 1
END
half_x = 0.06
half_y = 0.6
set multiplot
unset grid
set border 15
set xtics 0.2
set xrange [-0.05:0.45]
set format x '%g'
set yrange [-0.5:3.5]
set format y '%g'
set xlabel 'a' noenhanced
set ylabel 'b' noenhanced

set lmargin at screen 0.10000
set rmargin at screen 0.33118
set tmargin at screen 0.95682
set bmargin at screen 0.06364
set colorbox vertical user origin screen 0.34294, screen 0.06364 size screen 0.02059, screen 0.89318
set label 2 'mean (m)' noenhanced
set label 2 at screen 0.10000, screen 0.97500 left
set palette defined (0 '#440154', 1 '#472D7B', 2 '#3B528B', 3 '#2C728E', 4 '#21918C', 5 '#28AE80', 6 '#5EC962', 7 '#ADDC30', 8 '#FDE725')
set cbrange [-3:9]
set format cb '%g'
plot $map using 1:2:(half_x):(half_y):3 with boxxyerror fs solid noborder lc palette notitle
unset label

set lmargin at screen 0.56059
set rmargin at screen 0.79176
set tmargin at screen 0.95682
set bmargin at screen 0.06364
set colorbox vertical user origin screen 0.80353, screen 0.06364 size screen 0.02059, screen 0.89318
set label 2 'sd (m)' noenhanced
set label 2 at screen 0.56059, screen 0.97500 left
set palette defined (0 '#00224E', 1 '#123570', 2 '#3B496C', 3 '#575D6D', 4 '#707173', 5 '#8A8678', 6 '#A59C74', 7 '#C3B369', 8 '#FEE838')
set cbrange [0.9:1.1]
set format cb '%g'
plot $map using 1:2:(half_x):(half_y):4 with boxxyerror fs solid noborder lc palette notitle
unset label
unset multiplot
gpnn-plot: grid.csv: 1 rows without inputs or prediction left out
