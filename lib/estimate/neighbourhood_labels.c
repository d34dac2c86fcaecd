/* What the probability of a row's class adds to the evaluation of a neighbourhood. */
#include "estimate/neighbourhood_private.h"

size_t gpnn_labels_width(const struct gpnn_labels *labels)
{
  return GPNN_LINK_NUMBERS + labels->classes.n;
}

/* Writes the latent function of each class. */
static void find_latent(struct gpnn_labels *labels, size_t k)
{
  const struct gpnn_categorical *classes = &labels->classes;
  double sum = 0;
  for (size_t a = 0; a < k; a++) sum += labels->w[a];
  for (size_t c = 0; c < classes->n; c++) labels->latent[c] = -classes->share[c] * sum;
  for (size_t a = 0; a < k; a++) labels->latent[labels->label[a]] += labels->w[a];
}

/* Writes the derivatives of the log probability by the weights. */
static void differentiate(struct gpnn_labels *labels, size_t k)
{
  const struct gpnn_categorical *classes = &labels->classes;
  const double *by_latent = labels->slopes.latent;
  double usual = 0;
  for (size_t c = 0; c < classes->n; c++) usual += classes->share[c] * by_latent[c];
  for (size_t a = 0; a < k; a++) labels->by_w[a] = usual - by_latent[labels->label[a]];
}

double gpnn_labels_error(const struct gpnn_labels *labels, size_t label)
{
  for (size_t c = 0; c < labels->classes.n; c++)
    if (labels->probability[c] > labels->probability[label]) return 1;
  return 0;
}

double gpnn_labels_loss(struct gpnn_labels *labels, size_t label, size_t k, double v,
                        double *by_link, double *by_variance)
{
  struct gpnn_categorical_slopes *slopes = by_link == NULL ? NULL : &labels->slopes;
  find_latent(labels, k);
  double loss = gpnn_categorical_loss(&labels->classes, labels->latent, v, label,
                                      labels->probability, slopes);
  if (slopes == NULL) return loss;
  for (size_t j = 0; j < GPNN_LINK_NUMBERS; j++) by_link[j] = -slopes->link[j];
  for (size_t c = 0; c < labels->classes.n; c++) by_link[GPNN_LINK_NUMBERS + c] = -slopes->bias[c];
  *by_variance = -slopes->variance;
  differentiate(labels, k);
  return loss;
}
