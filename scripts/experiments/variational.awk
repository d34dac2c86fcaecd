# Makes the table that scripts/experiments/variational prints a table in Markdown: means over seeds.
BEGIN { FS = "\t" }
/^#/ || $1 == "data" { next }
$6 == "failed" { failed[$1 FS $2 FS $4 FS $5]++ }
{
  key = $1 FS $2 FS $4 FS $5
  if (!(key in n)) { order[++n_keys] = key; n[key] = 0 }
}
$6 != "failed" {
  n[key]++
  rmse[key] += $6; square[key] += $6 * $6; nll[key] += $7; own[key] += $12; cal[key] += $9
  coverage[key] += $11; seconds[key] += $15; bytes[key] += $17; published[key] = $18 " / " $19
}
function spread(key,    m, v) {
  m = rmse[key] / n[key]
  v = n[key] > 1 ? (square[key] - n[key] * m * m) / (n[key] - 1) : 0
  return sprintf("%.3f ± %.3f", m, v > 0 ? sqrt(v) : 0)
}
END {
  print "| data | split | method | setting | RMSE | NLL | NLL, own variances | mean z² | coverage of 95 % |" \
        " training, CPU-s | MB | published |"
  print "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= n_keys; i++) {
    key = order[i]
    split(key, part, FS)
    printf "| %s | %s | %s | %s |", part[1], part[2], part[3], part[4]
    if (n[key] == 0) { print " failed | | | | | | | |"; continue }
    printf " %s | %.3f | %.3f | %.2f | %.3f | %.1f | %.2f | %s |\n", spread(key), nll[key] / n[key],
           own[key] / n[key], cal[key] / n[key], coverage[key] / n[key], seconds[key] / n[key],
           bytes[key] / n[key] / 1e6, published[key]
  }
}
