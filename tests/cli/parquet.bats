#!/usr/bin/env bats
# Parquet and Arrow files, by the recipes of gpnn-table(5).

load helper

# recipe WORD: the commands of the example in gpnn-table(5) that begins with this word.
recipe() {
  awk -v word="$1" '
    /^\.EX/ { getline; inside = $1 == word }
    /^\.EE/ { inside = 0 }
    inside { gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); gsub(/\\\(dq/, "\""); print }
  ' "$GPNN_ROOT/man/gpnn-table.5"
}

# Sees to it that there is a command duckdb: the program, or else its engine as 'scripts/setup parquet'
# installs it, for one statement given by -c.
find_duckdb() {
  command -v duckdb >/dev/null && return
  local modules=$GPNN_BUILD/duckdb/node_modules
  [[ -d $modules/@duckdb/node-api ]] || return
  cat >duckdb <<END
#!/bin/sh
NODE_PATH='$modules' exec node -e '
  const { DuckDBInstance } = require("@duckdb/node-api");
  (async () => {
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run(process.argv[2]);
  })();' -- "\$@"
END
  chmod +x duckdb
  PATH=$PWD:$PATH
}

# A table with a missing value and text, and the index that it makes.
make_house() {
  make_table 60 2 0 , | awk -F , -v OFS=, '
    NR == 1 { print "area", "place", "price"; next }
    { print $1, NR % 3 ? "flat, top floor" : "house", NR == 7 ? "" : $3 }' |
    sed 's/flat, top floor/"&"/' >house.csv
  gpnn-index -q --skip-bad --one-hot place -y price -o expected.gpi house.csv
}

@test "a Parquet file becomes an index by the recipe with duckdb" {
  find_duckdb || skip "duckdb is not installed ('scripts/setup parquet' gets its engine from npm)"
  make_house
  duckdb -c "copy (from 'house.csv') to 'house.parquet'"
  assert_fails 1 'house.parquet: is a Parquet file: pipe in the output of duckdb' gpnn-index -o t.gpi house.parquet
  local commands
  commands=$(recipe duckdb)
  [[ $commands == *gpnn-index* ]]
  bash -o pipefail -c "${commands/gpnn-index/gpnn-index -q --skip-bad --one-hot place}"
  cmp house.gpi expected.gpi
}

@test "an Arrow file becomes an index by the recipe with pandas" {
  python3 -c 'import pandas, pyarrow' 2>/dev/null || skip 'pandas and pyarrow are not installed'
  make_house
  python3 -c "import pandas; pandas.read_csv('house.csv').to_feather('house.arrow')"
  assert_fails 1 'house.arrow: is an Arrow file: pipe in the output of python3' gpnn-index -o t.gpi house.arrow
  local commands
  commands=$(recipe python3)
  [[ $commands == *gpnn-index* ]]
  bash -o pipefail -c "${commands/gpnn-index/gpnn-index -q --skip-bad --one-hot place}"
  cmp house.gpi expected.gpi
}
