/*
 * index_report: what gpnn-index reports as JSON, if it is asked to (gpnn-info has the same names).
 */
#ifndef GPNN_CMD_INDEX_REPORT_H
#define GPNN_CMD_INDEX_REPORT_H

#include "cmd/common/cli.h"
#include "dataset/training.h"
#include "search/search.h"
#include "table/table.h"

/* The rows of 'table', those left out and why, and the columns. */
void index_report_training(const struct cli *cli, const struct gpnn_table *table,
                           const struct gpnn_training *training);

void index_report_search(const struct cli *cli, const struct gpnn_search_report *search);

#endif
