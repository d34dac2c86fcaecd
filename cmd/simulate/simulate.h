/*
 * simulate: the modes of gpnn-simulate, each a main() that reads what follows the mode on the
 * command line.
 */
#ifndef GPNN_CMD_SIMULATE_SIMULATE_H
#define GPNN_CMD_SIMULATE_SIMULATE_H

/* argv[0] is the tool's name.  Each returns the exit status. */
int simulate_limits(int argc, char **argv);
int simulate_risk(int argc, char **argv);
int simulate_data(int argc, char **argv);
int simulate_grid(int argc, char **argv);
int simulate_views(int argc, char **argv);
int simulate_advise(int argc, char **argv);

#endif
