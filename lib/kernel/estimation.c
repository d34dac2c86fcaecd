#include "kernel/estimation.h"

static const char *const names[] = {"none", "block", "loo", "mll-k", "vecchia", "labels"};

const char *gpnn_objective_name(enum gpnn_objective_kind kind)
{
  return names[kind];
}
