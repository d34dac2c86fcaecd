#include "simulate.h"

int simulate_limits(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  return 2;
}
