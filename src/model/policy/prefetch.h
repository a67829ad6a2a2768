/* prefetch.h: which lines a cache requests before they are needed. Plain state and arithmetic over line
 * numbers: the cache trains it, calls it, and decides whether there is room. Deterministic: it sees only the
 * cache's own requests.
 *
 *   none       no line
 *   next-line  the lines that follow
 *   stride     the lines at the distance of the last ones, once two distances in a row were the same; a stream is
 *              known by its page
 *
 * A plug-in can bring others (lockstep/policy.h).
 *
 * A prefetcher is trained by reads that miss and by first reads of lines that it brought, so that a stream
 * that hits goes on. No line outside of the page of the request is requested: the next page may belong to
 * other data. */
#ifndef MODEL_POLICY_PREFETCH_H
#define MODEL_POLICY_PREFETCH_H

#include "lockstep/metric.h"
#include "lockstep/state.h"
#include "model/keys.h"
#include "model/policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum prefetch_kind {
    PREFETCH_NONE,
    PREFETCH_NEXT_LINE,
    PREFETCH_STRIDE,
    PREFETCH_KINDS /* from here on: types of slot "prefetch", in the order of the registry */
} prefetch_kind;
extern const char *const prefetch_names[]; /* in the order of prefetch_kind, then NULL */

#define PREFETCH_DEGREE_MAX LS_PREFETCH_DEGREE_MAX
#define PREFETCH_DISTANCE_MAX 64u
#define PREFETCH_PAGE_BYTES LS_PREFETCH_PAGE_BYTES
#define PREFETCH_STREAMS 16u

typedef struct prefetch_spec {
    uint32_t kind;     /* prefetch_kind, or a plug-in's number */
    uint64_t degree;   /* lines per request */
    uint64_t distance; /* of the first of them, in lines (next-line) or strides */
} prefetch_spec;

typedef struct prefetch_counters {
    uint64_t issued;  /* lines or sectors requested */
    uint64_t useful;  /* of them, lines or sectors that a request found here or on their way */
    uint64_t dropped; /* there was no room for the request */
} prefetch_counters;

typedef struct prefetch_stream {
    uint64_t page; /* + 1; 0: not in use */
    uint64_t last; /* line */
    int64_t stride;
    uint32_t repeats; /* times that the stride came in a row */
    uint64_t used;
} prefetch_stream;

typedef struct prefetcher {
    prefetch_spec spec;
    uint32_t page_lines;
    uint64_t clock;
    prefetch_stream streams[PREFETCH_STREAMS];
    const ls_prefetch_ops *ops; /* of a plug-in */
    ls_prefetch_shape shape;
    uint8_t *plugin; /* its state */
    size_t plugin_bytes;
    const char *failure; /* for ls_domain_fail(): the plug-in named a line that may not be fetched */
    ls_domain *domain;
} prefetcher;

#define PREFETCH_ROWS 5
extern const ls_state_row prefetch_rows[PREFETCH_ROWS];

/* Fails when the host has no memory left, or for a plug-in whose table is not whole, which the error names. */
ls_status prefetch_init(prefetcher *p, const prefetch_spec *spec, uint32_t line_bytes, ls_domain *domain,
                        ls_error *err);
/* One of a cache, in memory of the domain; NULL for kind PREFETCH_NONE. */
ls_status prefetch_create(const prefetch_spec *spec, uint32_t line_bytes, ls_domain *domain, prefetcher **out,
                          ls_error *err);
/* A read of this line missed, or was the first of a line that was prefetched. Returns how many lines to
 * request. */
uint32_t prefetch_train(prefetcher *p, uint64_t line, uint64_t out[PREFETCH_DEGREE_MAX]);

/* clang-format off */
#define PREFETCH_PARAMS(spec_, field, prefix)                                                                 \
    POLICY_PARAM(spec_, field.kind, prefix "prefetch", "none", prefetch_names, LS_PREFETCH_SLOT,              \
                 "lines that are fetched before they are needed: none, those that follow, those at the stride of a stream, or as a plug-in says"), \
    KEY_OF(spec_, prefix "prefetch_degree", field.degree, "lines", "1", 1, PREFETCH_DEGREE_MAX,               \
           "lines that a request may prefetch"),                                                              \
    KEY_OF(spec_, prefix "prefetch_distance", field.distance, "lines", "1", 1, PREFETCH_DISTANCE_MAX,         \
           "of the first of them from the request; with stride, in strides")
#define PREFETCH_NEEDS(prefix) { prefix "prefetch_*", prefix "prefetch!=none" }
#define PREFETCH_METRICS(type_, field_, prefix, unit_)                                                        \
    PREFETCH_METRIC_(type_, field_, issued, prefix, unit_, "asked for before anybody needed them"),           \
    PREFETCH_METRIC_(type_, field_, useful, prefix, unit_, "prefetched, and read before they went"),          \
    PREFETCH_METRIC_(type_, field_, dropped, prefix, unit_, "not prefetched: no MSHR, queue entry or line was free")
#define PREFETCH_METRIC_(type_, field_, name_, prefix, unit_, help_)                                          \
    { .name = prefix "prefetches_" #name_, .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(type_, field_.name_), \
      .unit = (unit_), .help = (help_) }
/* clang-format on */

#endif
