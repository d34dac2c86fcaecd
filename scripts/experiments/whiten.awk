# Standardises two tables by the rows of the first: targets, in the last column, to mean 0 and variance 1;
# inputs to mean 0 and the identity, over the number of inputs, as their covariance.
#
#   awk -v train=FILE -v test=FILE -f whiten.awk TRAIN TEST
#
# Distances are those of gpnn-index --standardise whiten: here the inverse of the Cholesky factor
# of the covariance is applied, which differs from principal components by a rotation.
BEGIN { FS = OFS = "\t" }

# Means, standard deviations, and the factor of the correlations, with 1e-5 added to their diagonal.
function learn(    i, j, k, r) {
  for (i = 1; i <= d + 1; i++) {
    mean[i] = sum[i] / n
    sd[i] = sqrt(product[i, i] / n - mean[i] ^ 2)
    if (sd[i] == 0) sd[i] = 1
  }
  for (i = 1; i <= d; i++)
    for (j = 1; j <= i; j++) {
      r = (product[i, j] / n - mean[i] * mean[j]) / (sd[i] * sd[j]) + (i == j) * 1e-5
      for (k = 1; k < j; k++) r -= factor[i, k] * factor[j, k]
      factor[i, j] = i == j ? sqrt(r) : r / factor[j, j]
    }
}

# The fields of a row, in "value", as a row of output.
function whitened(    i, k, x, text) {
  for (i = 1; i <= d; i++) {
    x = (value[i] - mean[i]) / sd[i]
    for (k = 1; k < i; k++) x -= factor[i, k] * white[k]
    white[i] = x / factor[i, i]
    text = text sprintf("%.9g", white[i] / sqrt(d)) OFS
  }
  return text sprintf("%.9g", (value[d + 1] - mean[d + 1]) / sd[d + 1])
}

FNR == 1 {
  d = NF - 1
  print >(FILENAME == ARGV[1] ? train : test)
  next
}
FILENAME == ARGV[1] {
  # Less those of the first row, so that large means lose no digits.
  for (i = 1; i <= NF; i++) {
    if (n == 0) first[i] = $i
    value[i] = $i - first[i]
    sum[i] += value[i]
    for (j = 1; j <= i; j++) product[i, j] += value[i] * value[j]
  }
  row[++n] = $0
  next
}
!learnt { learn(); learnt = 1 }
{
  for (i = 1; i <= NF; i++) value[i] = $i - first[i]
  print whitened() >test
}
END {
  if (!learnt) learn()
  for (k = 1; k <= n; k++) {
    split(row[k], value)
    for (i = 1; i <= d + 1; i++) value[i] -= first[i]
    print whitened() >train
  }
}
