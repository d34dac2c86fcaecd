#!/usr/bin/env bats
# Columns of dates.
load helper

# make_sales ROWS [SEED]: when (ISO 8601), size, price; prices go with the hour and the weekday.
make_sales() {
  awk -v n="$1" -v seed="${2-1}" 'BEGIN {
    srand(seed)
    print "when,size,price"
    for (i = 0; i < n; i++) {
      h = int(rand() * 24 * 365); s = rand()
      d = int(h / 24); h = h % 24; m = 1
      split("31 28 31 30 31 30 31 31 30 31 30 31", days, " ")
      k = d; while (k >= days[m]) k -= days[m++]
      y = 3 * sin(2 * atan2(0, -1) * h / 24) + 2 * ((d + 4) % 7 >= 5) + s + d / 100
      printf "2014-%02d-%02dT%02d:30Z,%.3f,%.4f\n", m, k + 1, h, s, y
    }
  }'
}

# days FILE: the same table with the dates as the number of days, by date(1).
days() {
  head -n 1 "$1"
  paste -d , <(sed 1d "$1" | cut -d , -f 1 | TZ=UTC date -f - +%s | awk '{ printf "%.17g\n", $1 / 86400 }') \
    <(sed 1d "$1" | cut -d , -f 2-)
}

@test "dates are the same as their numbers of days" {
  make_sales 300 >sales.csv
  make_sales 30 2 >later.csv
  days sales.csv >sales-days.csv
  days later.csv >later-days.csv
  gpnn-index --date when -o dates.gpi sales.csv
  gpnn-index -o days.gpi sales-days.csv
  assert_equal "$(gpnn-info dates.gpi | grep '^input')" "$(gpnn-info days.gpi | grep '^input')"
  make_parameters matern32 0.5 1 0.04 16 >p.par
  cmp <(gpnn-predict dates.gpi -p p.par later.csv) <(gpnn-predict days.gpi -p p.par later-days.csv)
}

@test "the format of dates does not matter" {
  make_sales 200 >iso.csv
  make_parameters matern32 0.5 1 0.04 16 >p.par
  gpnn-index --date when --period when=day,when=week -o iso.gpi iso.csv
  gpnn-predict iso.gpi -p p.par --loo >iso.tsv
  reformat() {
    head -n 1 iso.csv
    paste -d , <(sed 1d iso.csv | cut -d , -f 1 | TZ=UTC date -f - "+\"$1\"") \
      <(sed 1d iso.csv | cut -d , -f 2-)
  }
  local format
  for format in '%d/%m/%Y %H:%M' '%b %d, %Y %I:%M %p' '%A %e-%B-%y %T' '%Y%m%d %R' '%j/%Y,%H.%M'; do
    reformat "$format" >other.csv
    gpnn-index --date "when=$format" --period when=day --period 1=week -o other.gpi other.csv
    assert_equal "$(gpnn-info other.gpi | value date)" when
    assert_equal "$(gpnn-info other.gpi | awk -F '\t' '$1 == "date" { print $3 }')" "$format"
    cmp iso.tsv <(gpnn-predict other.gpi -p p.par --loo) || complain "$format" || return
  done
}

@test "a date has a trend and a circle for each period, with lengthscales of their own" {
  make_sales 400 >sales.csv
  make_sales 50 2 >later.csv
  gpnn-index --date when --period when=day,when=week,when=30.5 -o s.gpi sales.csv
  gpnn-info s.gpi >info
  assert_equal "$(awk -F '\t' '$1 == "group" { print $2 }' info | tr '\n' ' ')" \
    'when when/day when/week when/30.5 size '
  assert_equal "$(awk -F '\t' '$1 == "period" { print $3 }' info | tr '\n' ' ')" '1 7 30.5 '
  gpnn-fit --effort fast --ard yes -m 32 s.gpi >s.par
  assert_equal "$(awk -F '\t' '$1 == "lengthscale" { print NF - 1 }' s.par)" 5
  gpnn-predict s.gpi -p s.par later.csv | gpnn-eval >scores
  assert_below "$(value rmse scores)" 0.6
}

@test "later tables are read with the format of the index" {
  make_sales 200 | sed 's/T/ /; s/Z//' >sales.csv
  make_sales 20 2 >later.csv
  gpnn-index --date 'when=%Y-%m-%d %H:%M' -o s.gpi sales.csv
  make_parameters matern32 0.5 1 0.04 16 >p.par
  assert_fails 1 "^later.csv:2: column 'when': not a date: \"2014-[^\"]*Z\" \(expected %Y-%m-%d %H:%M\)$" \
    gpnn-predict s.gpi -p p.par later.csv
  sed 's/T/ /; s/Z//' later.csv >same.csv
  gpnn-calibrate --with same.csv s.gpi -p p.par >with.par
  gpnn-calibrate --like same.csv s.gpi -p p.par >like.par
  sed '2s/2014-..-../2014-02-30/' same.csv >bad.csv
  assert_fails 1 "^bad.csv:2: column 'when': no such date or time: \"2014-02-30 .*\"$" \
    gpnn-predict s.gpi -p p.par bad.csv
  gpnn-predict -q --skip-bad s.gpi -p p.par bad.csv | tr , '\t' >out.tsv
  assert_equal "$(column mean out.tsv | sed -n 1p)" NA
  assert_equal "$(wc -l <out.tsv)" 21
}

@test "a regressor may be a date" {
  make_sales 200 >sales.csv
  days sales.csv >days.csv
  gpnn-index --date when --regressors when -o a.gpi sales.csv
  gpnn-index --regressors when -o b.gpi days.csv
  assert_equal "$(gpnn-info a.gpi | grep '^regressor')" "$(gpnn-info b.gpi | grep '^regressor')"
}

@test "tables without names find the column of a date for all its inputs" {
  make_sales 100 >named.csv
  sed 1d named.csv >bare.csv
  make_parameters matern32 0.5 1 0.04 16 >p.par
  gpnn-index --no-header --date 1 --period 1=day,1=week -o s.gpi bare.csv
  gpnn-predict --no-header s.gpi -p p.par bare.csv | cut -d , -f 2- >all.csv
  cut -d , -f 1,2 bare.csv | gpnn-predict --no-header s.gpi -p p.par >inputs.csv
  cmp all.csv inputs.csv
}

@test "dates far outside the rest are shown as dates" {
  make_sales 100 >sales.csv
  { cat sales.csv; printf '9999-12-31,0.5,1\n9999-12-31,0.5,2\n'; } >far.csv
  gpnn-index --date when -o s.gpi far.csv 2>err.txt
  grep -q "column 'when': 2 cells are 9999-12-31, far outside the rest (2014-.*T..:30:00 to 2014" err.txt
}

@test "a date that cannot be one is refused" {
  make_sales 20 >sales.csv
  local options text
  while IFS='|' read -r options text; do
    # shellcheck disable=SC2086
    assert_fails 2 "$text" gpnn-index -o x.gpi $options sales.csv
  done <<'END'
--date price|column 'price' is the target, which cannot be a date$
--date nope|no column 'nope'
--date when=%Q|format of dates '%Q': no conversion '%Q'$
--date when=|format of dates '': has neither date nor time, as in %Y-%m-%d$
--date when --one-hot when|column 'when' is a date, so it cannot be one-hot$
--date when --geo when,size|column 'when' is a date, so it cannot be a coordinate$
--date when --drop when|column 'when' is neither input nor regressor, so it cannot be a date$
--date when --period when=month|period 'when=month': a period is a number above 0 of days, or day, week or year$
--date when --period when=day,when=1|column 'when' has that period already$
--period size=day|a period is a number above 0; day, week and year are for dates$
END
}
