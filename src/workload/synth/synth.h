/* synth.h: traces of parameterised kernels, generated as they are read: workloads for anybody without a GPU,
 * and tests whose numbers are known in closed form. */
#ifndef SYNTH_SYNTH_H
#define SYNTH_SYNTH_H

#include "lockstep/param.h"
#include "workload/trace.h"

/* ------------------------------------------------------------------------------------------------- kinds */

typedef struct synth_kind synth_kind;

size_t synth_kind_count(void);
const synth_kind *synth_kind_at(size_t index); /* in the order of the documentation */
const synth_kind *synth_kind_find(const char *name);
const char *synth_kind_name(const synth_kind *kind);
const char *synth_kind_help(const synth_kind *kind);
/* Its own parameters, then the parameters of every kind. */
size_t synth_param_count(const synth_kind *kind);
const ls_param *synth_param_at(const synth_kind *kind, size_t index);

/* ------------------------------------------------------------------------------------------------- traces */

#define LS_SYNTH_PREFIX "synth:" /* prefix of a path that means a generated trace */

/* "gemm,m=512,n=512,k=512": a kind and its parameters. The trace needs no file; its kernels can seek. Unknown
 * names and values out of range are LS_ERR_USAGE with the nearest name or the range. */
ls_status synth_open(const char *text, const trace_options *options, sass_trace **out, ls_error *err);

extern const trace_source synth_source; /* paths that start with LS_SYNTH_PREFIX */

/* Properties of the whole trace, computed from the parameters and the program's length, without executing
 * it. */
#define LS_SYNTH_UNKNOWN UINT64_MAX /* no closed form: it depends on random numbers */
typedef struct synth_facts {
    uint64_t kernels, ctas, warps;
    uint64_t warp_insts, thread_insts;                    /* lines of the trace; active lanes of all lines */
    uint64_t global_loads, global_stores, global_atomics; /* lines with at least one active lane */
    uint64_t load_sectors, store_sectors, atomic_sectors; /* 32-byte sectors, each line on its own */
    uint64_t shared_accesses; /* lines; an asynchronous copy counts as a global load */
    uint64_t barriers;        /* lines */
    uint64_t global_bytes;    /* distinct bytes of global memory */
} synth_facts;

/* Of a trace that synth_open() made; false for any other. */
bool synth_get_facts(const sass_trace *trace, synth_facts *out);

/* ------------------------------------------------------------------------------------------------ anchors */

/* The one-purpose traces whose cycles are known exactly. `count` instructions are appended by the caller. */
typedef struct synth_anchor {
    const char *name; /* as in accelsim_micro_anchors.csv: "chain_FFMA" */
    const char *text; /* for synth_open(), without count */
} synth_anchor;

size_t synth_anchor_count(void);
const synth_anchor *synth_anchor_at(size_t index);
const synth_anchor *synth_anchor_find(const char *name);

#endif
