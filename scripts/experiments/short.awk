# Makes the table of the project's README.md from the long one of README.md here: one line a set, under its first split
# and with the options that are its own, if any.
BEGIN { FS = " *[|] *" }
function bare(cell) { sub(/ ± .*/, "", cell); return cell }
function whole(cell) { return sprintf("%.0f", bare(cell)) }
$3 == "split" {
  print "| data, rows | RMSE | NLL | CRPS | 50, 95 % | CPU-s | best rival |"
  print "|---|--:|--:|--:|--:|--:|--:|"
  inside = 1; next
}
inside && !/^[|]/ { exit }
inside && $2 !~ /^-+:?$/ && !($2 in seen) {
  seen[$2]
  sub(/[.][a-z_0-9]+,/, ",", $2)
  sub(/ [(].*/, "", $15)
  split($15, rival, " / ")
  print "| " $2 " | " bare($6) " | " bare($7) " | " bare($8) " | " whole($9) ", " whole($10) " | " \
        $12 + 0 " | " rival[1] " / " rival[2] " |"
}
