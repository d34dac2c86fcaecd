/*
 * mpi: the modes of gpnn-mpi, each a main() that reads what follows the mode on the command line.
 *
 * Rank 0 is the tool of the same name; the others serve it, and say nothing.
 */
#ifndef GPNN_CMD_MPI_MPI_H
#define GPNN_CMD_MPI_MPI_H

/* Lets ranks other than 0 say nothing: rank 0 says what goes wrong on any of them. */
void mpi_silence(void);

/* argv[0] is the tool's name.  Each returns the exit status. */
int mpi_index(int argc, char **argv);
int mpi_calibrate(int argc, char **argv);
int mpi_predict(int argc, char **argv);

#endif
