#include "simulate.h"

int simulate_data(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  return 2;
}
