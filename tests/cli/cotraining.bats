#!/usr/bin/env bats
# What two parties gain from each other's predictions, from the tools alone: that questions, answers
# and combination do what they promise, by the experiment that is repeated from the sources.

load helper

cotraining=$GPNN_ROOT/scripts/experiments/cotraining
head=$'mode\tcorrelation\tdependent\tmask\trows\tseed\trule\treport\tnoise\trmse_a\trmse_b\tnoise_sd'

# median_of RULE [NOISE]: over seeds, of the mean of both parties, in figures.tsv.
median_of() {
  awk -F '\t' -v rule="$1" -v noise="${2-}" '$7 == rule && (noise == "" || $9 == noise) { print ($10 + $11) / 2 }' \
    figures.tsv | sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# A party that has seen half of its view; the least that any predictions from one view can reach is
# .436, from both .324.
@test "combined predictions help who has not seen everything" {
  "$cotraining" views --correlations .9 --masks yes --rules '' --seeds 11-20 >figures.tsv
  awk -v before="$(median_of before)" -v fused="$(median_of fused)" 'BEGIN {
    print "# before", before, "fused", fused
    exit !(before > .55 && fused <= .43) }' >said || { cat said && false; }
}

# Twenty-five answers make up for most of what the asking party has not seen; the rule that adds two
# predictions up does harm.
@test "answers help who has not seen everything, unless they are added up" {
  "$cotraining" views --correlations .9 --masks yes --rounds 1 --seeds 11-16 --rules marginal,deflated,blocky >figures.tsv
  awk -v before="$(median_of before)" -v marginal="$(median_of marginal)" -v deflated="$(median_of deflated)" \
    -v blocky="$(median_of blocky)" 'BEGIN {
    print "# before", before, "marginal", marginal, "deflated", deflated, "blocky", blocky
    exit !(before > .55 && marginal <= .53 && deflated <= .5 && blocky > before) }' >said || { cat said && false; }
}

# What hides a response from someone who knows all others leaves half of what answers are worth, if
# it has the shape of what responses do; the noise of a path leaves nothing.
@test "answers with noise of the right shape still help" {
  "$cotraining" privacy --correlations .9 --rows 300 --pool 300 --test 500 --seeds 1-3 >figures.tsv
  awk -v before="$(median_of before)" -v shaped="$(median_of deflated shaped)" -v path="$(median_of deflated path)" 'BEGIN {
    print "# before", before, "shaped", shaped, "path", path
    exit !(shaped < before && path > shaped) }' >said || { cat said && false; }
}

@test "the table has medians or means over seeds, and what was published beside them" {
  printf '%s\n' "$head" $'views\t.9\tno\tyes\t50\t1\tnone\tnone\tnone\t.5\t.54\t-' \
    $'views\t.9\tno\tyes\t50\t2\tnone\tnone\tnone\t.1\t.2\t-' $'views\t.9\tno\tyes\t50\t3\tnone\tnone\tnone\t2\t3\t-' \
    $'views\t.9\tno\tyes\t50\t1\tnew\tnone\tnone\t1\t1\t-' $'tables\t.9\tyes\tno\t25\t1\tfull\tfull\tnone\t.4\t.6\t-' \
    $'tables\t.5\tyes\tno\t25\t1\tfull\tfull\tnone\t.8\t1\t-' $'ccpp\t-\t-\tno\t25\t1\tfull\tfull\tnone\t.4\t.6\t-' \
    $'privacy\t.9\tno\tyes\t1000\t1\tdeflated\tmarginal\tshaped\t.4\t.6\t.7' >figures.tsv
  "$cotraining" --summary figures.tsv >table.md
  grep -qFx '| views | none | new |' table.md
  grep -qFx '| r = .9, masked, 50 rows | 0.520 (.514) | 1.00 |' table.md
  grep -qFx '| all | 0.700 ± 0.283 (.574 ± .286) |' table.md
  grep -qFx '| unmasked, full | 0.700 ± 0.283 (.549) |' table.md
  grep -qFx '| view 2, unmasked, noisy | 0.600 (.806) |' table.md
  grep -qFx '| r = .9, 1000 rows | 0.500 (.463) | 0.700 (.51) |' table.md
  "$cotraining" --summary <figures.tsv | cmp table.md
}

@test "what the experiment cannot do is refused" {
  assert_fails 2 "the first word is views, tables, ccpp, privacy or --summary, not 'x'" "$cotraining" x
  assert_fails 2 'no option --depth' "$cotraining" views --depth 3
  assert_fails 2 '--seeds wants a value' "$cotraining" views --seeds
  assert_fails 2 'no rule yu' "$cotraining" views --rules yu
  assert_fails 2 'a divisor of 25, not 7' "$cotraining" views --rounds 7
  assert_fails 2 '--data DIR, with ccpp.tsv.gz, is needed' "$cotraining" ccpp
}
