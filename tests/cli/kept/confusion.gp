# drawn by gnuplot: gnuplot FILE >PICTURE
set terminal svg size 582,546 fixed noenhanced background 'white' font 'Helvetica,Arial,sans-serif,12'
set encoding utf8
set datafile missing 'NaN'
set border 3 lw 0.8 lc rgb '#202020'
set tics nomirror out scale 0.6
set format '%g'
set minussign
set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'
set key noenhanced samplen 3 spacing 1.1
# label, truth, rows, their share of those with this truth
$cells << END
0 0 22 0.6111111111111112
1 0 2 0.05555555555555555
2 0 4 0.1111111111111111
3 0 8 0.2222222222222222
0 1 6 0.1935483870967742
1 1 18 0.5806451612903226
2 1 4 0.12903225806451613
3 1 3 0.0967741935483871
0 2 4 0.125
1 2 3 0.09375
2 2 21 0.65625
3 2 4 0.125
0 3 1 0.047619047619047616
1 3 3 0.14285714285714285
2 3 3 0.14285714285714285
3 3 14 0.6666666666666666
END
set lmargin at screen 0.27273
set rmargin at screen 0.83117
set bmargin at screen 0.29066
set xtics rotate by 90 right noenhanced ('a rook of long…' 0, 'crow' 1, 'jay' 2, 'magpie' 3)
set ytics  noenhanced ('a rook of long…' 0, 'crow' 1, 'jay' 2, 'magpie' 3)
set label 1 'Birds' at screen 0.5, screen 0.95502 center noenhanced
set xlabel 'bird, predicted' noenhanced
set ylabel 'bird, true' noenhanced
set tmargin at screen 0.88581
set label 'n = 120, error = 37.5 %' at graph 0, graph 1 left offset 0, 0.8 noenhanced
set border 15
unset grid
set xrange [-0.5:3.5]
set yrange [3.5:-0.5]
set palette defined (0 '#FFFFFF', 1 '#E1EDF7', 2 '#BBD6EB', 3 '#8DBADF', 4 '#5D9ACD', 5 '#3A7BB8', 6 '#1F5E9E', 7 '#0B407E', 8 '#05204A')
set cbrange [0:1]
set cbtics 0.2
set cblabel 'share of the true class' offset 0.7
plot $cells using 1:2:(0.5):(0.5):4 with boxxyerror fs solid noborder lc palette notitle, \
  $cells using 1:2:($4<0.5?sprintf('%.0f',$3):'') with labels font ',12' tc rgb '#202020' notitle, \
  $cells using 1:2:($4>=0.5?sprintf('%.0f',$3):'') with labels font ',12' tc rgb 'white' notitle
