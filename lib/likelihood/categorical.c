#include "likelihood/categorical.h"

#include <math.h>

#include "likelihood/logistic.h"
#include "stats/sum.h"

/* Shares below 1/20 or so are bent towards zero, instead of cut off there. */
static const double sharpness = 20;

void gpnn_categorical_shares(size_t n_classes, size_t n, const double *y, double *share)
{
  for (size_t c = 0; c < n_classes; c++) share[c] = 0;
  for (size_t i = 0; i < n; i++) share[(size_t)y[i]] += 1;
  for (size_t c = 0; c < n_classes; c++)
    share[c] = gpnn_categorical_share(n_classes, (double)n, share[c]);
}

/* q_c(h) for a class of share 'share'. */
static double soft_share(const struct gpnn_link *link, double share, double h)
{
  return gpnn_logistic_softplus(sharpness * (h + share)) / sharpness + link->floor;
}

/* z_c */
static double unscaled_logit(const struct gpnn_link *link, double share, double h)
{
  return link->slope * h +
         link->evidence * log(soft_share(link, share, h) / soft_share(link, share, 0));
}

/* Writes the logits of a row to 'logit', and returns sqrt(1 + spread v). */
static double find_logits(const struct gpnn_categorical *categorical, const double *h, double v,
                          double *logit)
{
  const struct gpnn_link *link = categorical->link;
  double width = sqrt(1 + link->spread * v);
  for (size_t c = 0; c < categorical->n; c++)
    logit[c] = categorical->temperature *
               (link->bias[c] + unscaled_logit(link, categorical->share[c], h[c]) / width);
  return width;
}

void gpnn_categorical_probabilities(const struct gpnn_categorical *categorical, const double *h,
                                    double v, double *p)
{
  find_logits(categorical, h, v, p);
  gpnn_softmax(categorical->n, p);
}

/* Adds what class 'c' contributes to the derivatives, where 'by_logit' is that by its logit. */
static void add_class(const struct gpnn_categorical *categorical, size_t c, double h, double width,
                      double by_logit, struct gpnn_categorical_slopes *slopes)
{
  const struct gpnn_link *link = categorical->link;
  double share = categorical->share[c], q = soft_share(link, share, h),
         usual = soft_share(link, share, 0), log_ratio = log(q / usual);
  double z = link->slope * h + link->evidence * log_ratio, by_z = by_logit / width;
  double bend = 1 / (1 + exp(-sharpness * (h + share))); /* of q by h */
  slopes->bias[c] = by_logit;
  slopes->latent[c] = by_z * (link->slope + link->evidence * bend / q);
  slopes->link[GPNN_LINK_SLOPE] += by_z * h * link->slope;
  slopes->link[GPNN_LINK_EVIDENCE] += by_z * log_ratio * link->evidence;
  slopes->link[GPNN_LINK_FLOOR] += by_z * link->evidence * (1 / q - 1 / usual) * link->floor;
  slopes->variance -= by_logit * z / (width * width); /* by the width, so far */
}

double gpnn_categorical_loss(const struct gpnn_categorical *categorical, const double *h, double v,
                             size_t label, double *p, struct gpnn_categorical_slopes *slopes)
{
  double spread = categorical->link->spread, width = find_logits(categorical, h, v, p);
  double own = p[label], loss = gpnn_softmax(categorical->n, p) - own;
  if (slopes == NULL) return loss;
  slopes->variance = 0;
  for (int j = 0; j < GPNN_LINK_NUMBERS; j++) slopes->link[j] = 0;
  for (size_t c = 0; c < categorical->n; c++)
    add_class(categorical, c, h[c], width, p[c] - (c == label ? 1 : 0), slopes);
  slopes->link[GPNN_LINK_SPREAD] = slopes->variance * v / (2 * width) * spread;
  slopes->variance *= spread / (2 * width);
  return loss;
}
