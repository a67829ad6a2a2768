/* run_roofline.h: the part of `lockstep run` that compares kernels with the roofs of the machine. The numbers
 * join the metrics, so that every form of results has them. A table of them follows the one of kernels. */
#ifndef SIM_RUN_ROOFLINE_H
#define SIM_RUN_ROOFLINE_H

#include "model/gpu/roofline.h"
#include "report/metrics.h"

#include <stdio.h>

/* Registers the roofline of a GPU. r and its engine outlive the metrics' last reader. */
ls_status run_roofline_begin(gpu_roofline *r, const gpu_instance *gpu, metric_store *metrics, ls_error *err);

/* A row of the table. name NULL: the heading. Scope as for metrics_get(). */
void run_roofline_row(metric_store *metrics, size_t scope, const char *number, const char *name, FILE *to);
/* The peaks, below the rows. */
void run_roofline_peaks(metric_store *metrics, FILE *to);

#endif
