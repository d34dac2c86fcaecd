/*
 * grid: the modes of gpnn-grid, each a main() that reads what follows the mode on the command line.
 */
#ifndef GPNN_CMD_GRID_GRID_H
#define GPNN_CMD_GRID_GRID_H

/* argv[0] is the tool's name.  Each returns the exit status. */
int grid_index(int argc, char **argv);
int grid_fit(int argc, char **argv);
int grid_predict(int argc, char **argv);

#endif
