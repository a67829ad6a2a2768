/* spool.h: events of all domains, kept in a temporary file (40 bytes each) and read back in one order: by time,
 * domain, and sequence in the domain. Domains write at the same time; reading comes after the run.
 *
 * A full buffer of a domain is a chunk: sorted by time (blocks that run ahead of their clock record events out of
 * order), then written. Reading merges the chunks; a chunk is in memory only while its time is read. */
#ifndef REPORT_TIMELINE_SPOOL_H
#define REPORT_TIMELINE_SPOOL_H

#include "lockstep/timeline.h"

#define SPOOL_CHUNK_EVENTS 4096u

typedef struct event_spool event_spool;

ls_status spool_create(uint32_t domains, event_spool **out, ls_error *err);
void spool_destroy(event_spool *s); /* NULL is fine */
/* From any thread, one at a time per domain. A failure is kept for spool_start(). */
void spool_take(event_spool *s, uint32_t domain, const ls_tap_event *events, size_t count);

/* After the run. Again: from the first event on. */
ls_status spool_start(event_spool *s, ls_error *err);
/* The next event and its domain; false at the end or on a failure, which spool_status() tells. */
bool spool_next(event_spool *s, ls_tap_event *event, uint32_t *domain);
ls_status spool_status(const event_spool *s, ls_error *err);
uint64_t spool_count(const event_spool *s);

#endif
