#include "simulate.h"

int simulate_advise(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  return 2;
}
