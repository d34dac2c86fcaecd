/*
 * neighbours: the time that the nearest neighbours of simulated points take.
 *
 *   neighbours search|theory N D M POINTS THREADS
 *
 * Prints the seconds to prepare a set of N normal rows with D inputs (with search, drawing it and
 * building its search), and the microseconds per neighbour to find the M nearest of each of POINTS
 * points, on THREADS threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "simulate/neighbours.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  if (argc != 7) {
    fprintf(stderr, "usage: neighbours search|theory N D M POINTS THREADS\n");
    return 2;
  }
  size_t d = strtoul(argv[3], NULL, 10), n_points = strtoul(argv[5], NULL, 10);
  struct gpnn_neighbours_options options = {.inputs = {GPNN_INPUTS_NORMAL, d, 1},
                                            .n = strtoull(argv[2], NULL, 10),
                                            .m = strtoul(argv[4], NULL, 10),
                                            .by_search = strcmp(argv[1], "search") == 0,
                                            .seed = 1,
                                            .threads = atoi(argv[6])};
  struct gpnn_neighbours *near = NULL;
  struct gpnn_error err = {0};
  gpnn_blas_single_thread();
  double *x = gpnn_alloc(n_points, d, sizeof *x);
  double *offsets = gpnn_alloc(n_points, options.m * d, sizeof *offsets);
  if (x == NULL || offsets == NULL) return 1;
  for (size_t i = 0; i < n_points; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, 1, GPNN_RNG_POINT, i);
    gpnn_inputs_draw(&options.inputs, &rng, x + i * d);
  }
  double start = now();
  enum gpnn_status status = gpnn_neighbours_new(&near, &options, &err);
  double ready = now();
  if (status == GPNN_OK) status = gpnn_neighbours_find(near, 0, n_points, x, offsets, &err);
  double end = now();
  if (status != GPNN_OK) fprintf(stderr, "neighbours: %s\n", err.text);
  printf("%.3f %.4g\n", ready - start, 1e6 * (end - ready) / (double)(n_points * options.m));
  gpnn_neighbours_free(near);
  free(offsets);
  free(x);
  return status == GPNN_OK ? 0 : 1;
}
