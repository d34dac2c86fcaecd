# Makes of the figures of scripts/experiments/cotraining tables in Markdown.
#
#   awk -f cotraining.awk cotraining-published.tsv [FIGURES.tsv...]
#
# A cell has the median over seeds (views, privacy), or mean ± standard deviation over seeds and all
# that the row does not name, and in parentheses what was published.  Rows and columns come in the
# order of the published figures, and then in that of the others.

BEGIN { FS = "\t" }
/^#/ || FNR == 1 || $1 == "mode" { next }

NR == FNR {
  known[$1, $2, $3] = $4 ($5 == "-" ? "" : " ± " $5)
  place($1, $2, $3)
  next
}

function place(table, row, column) {
  if (!((table, row) in row_at)) { row_at[table, row] = ++n_rows[table]; row_of[table, n_rows[table]] = row }
  if (!((table, column) in column_at)) {
    column_at[table, column] = ++n_columns[table]
    column_of[table, n_columns[table]] = column
  }
}

function add(table, row, column, value,  at) {
  if (!(table in seen)) { seen[table] = 1; table_of[++n_tables] = table }
  place(table, row, column)
  has_row[table, row] = has_column[table, column] = 1
  at = table SUBSEP row SUBSEP column
  values[at, ++count[at]] = value
}

function of_views() {
  add("views", "r = " $2 ", " region ", " $5 " rows", $7, both)
}

# The published method, and the uncertainty that it takes from answers.
function of_tables(  method, uncertainty, table) {
  table = "tables, " noise
  if ($7 == "before") add("before", "r = " $2 ", " region ", " views, $5 " rows", both)
  if ($7 !~ /^(none|marginal|full|hybrid-literal|blocky)$/) return
  method = $7 == "hybrid-literal" ? "hybrid" : $7 == "blocky" ? "blocky" : "noisy"
  uncertainty = method == "noisy" ? $7 : $8
  add(table, "all", method, both)
  add(table, "r = " $2 ", " region, method, both)
  add(table, views, method, both)
  add(table, region ", " views, method, both)
  if (method != "hybrid") add(table, region ", " uncertainty, method, both)
}

function of_ccpp(  method) {
  method = $7 == "full" ? "noisy" : $7 == "hybrid-literal" ? "hybrid" : $7 == "hybrid" ? "hybrid (consistent)" : $7
  add("ccpp, " noise, "view 1, " region ", " method, $5 " rows", $10)
  add("ccpp, " noise, "view 2, " region ", " method, $5 " rows", $11)
}

function of_privacy(  row, column) {
  row = "r = " $2 ", " $5 " rows"
  column = $7 == "before" || $7 == "fused" ? $7 : $9 == "none" ? "no noise" : $9
  add("privacy", row, column, both)
  if ($12 != "-") add("privacy", row, "sd of " column, $12)
}

{
  both = ($10 + $11) / 2
  region = $4 == "yes" ? "masked" : "unmasked"
  views = $3 == "yes" ? "dependent" : "independent"
  noise = $9 ~ /^(none|-)$/ ? "no noise" : "noise"
}
$10 == "failed" { failed++; next }
$1 == "views" { of_views() }
$1 == "tables" { of_tables() }
$1 == "ccpp" { of_ccpp() }
$1 == "privacy" { of_privacy() }

# Three digits that are not leading zeros, as published.
function shown(x) { return x >= 10 ? sprintf("%.1f", x) : x >= 1 ? sprintf("%.2f", x) : sprintf("%.3f", x) }

function median(at,  i, j, x, v, n) {
  n = count[at]
  for (i = 1; i <= n; i++) {
    x = values[at, i]
    for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]
    v[j + 1] = x
  }
  return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
}

function mean_and_sd(at,  i, m, s, n) {
  n = count[at]
  for (i = 1; i <= n; i++) m += values[at, i] / n
  for (i = 1; i <= n; i++) s += (values[at, i] - m) ^ 2
  return shown(m) (n > 1 ? " ± " shown(sqrt(s / (n - 1))) : "")
}

function cell(table, row, column,  at, text) {
  at = table SUBSEP row SUBSEP column
  if (at in count) text = table == "views" || table == "privacy" ? shown(median(at)) : mean_and_sd(at)
  if (text != "" && (at in known)) text = text " (" known[at] ")"
  return text
}

END {
  for (t = 1; t <= n_tables; t++) {
    table = table_of[t]
    line = "| " table " |"
    rule = "|---|"
    for (j = 1; j <= n_columns[table]; j++)
      if ((table, column_of[table, j]) in has_column) { line = line " " column_of[table, j] " |"; rule = rule "--:|" }
    print (t > 1 ? "\n" : "") line "\n" rule
    for (i = 1; i <= n_rows[table]; i++) {
      row = row_of[table, i]
      if (!((table, row) in has_row)) continue
      line = "| " row " |"
      for (j = 1; j <= n_columns[table]; j++)
        if ((table, column_of[table, j]) in has_column) line = line " " cell(table, row, column_of[table, j]) " |"
      print line
    }
  }
  if (failed) print "\nfailed: " failed
}
