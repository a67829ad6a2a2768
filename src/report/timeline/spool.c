/* spool.c: chunks of events in a temporary file, and their merge. */
#include "report/timeline/spool.h"

#include "base/vec.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_EVENTS 512u

typedef struct spool_chunk {
    uint64_t offset; /* in the file, in events */
    ls_time first;   /* time of its first event */
    uint32_t count, domain, sequence;
} spool_chunk;

typedef struct spool_domain {
    LS_VEC(spool_chunk) chunks;
    ls_tap_event *sorted; /* [SPOOL_CHUNK_EVENTS], for a chunk that is out of order */
} spool_domain;

/* A chunk that is being read. */
typedef struct spool_cursor {
    const spool_chunk *chunk;
    uint32_t read, at, have; /* read: of the chunk; at, have: in the buffer */
    ls_tap_event buffer[READ_EVENTS];
} spool_cursor;

struct event_spool {
    FILE *file;
    atomic_uint_fast64_t end; /* of the file, in events */
    atomic_int failure;       /* errno; 0: none */
    uint32_t domain_count;
    spool_domain *domains;
    /* Reading: */
    spool_chunk *chunks; /* of all domains, by first time */
    size_t chunk_count, opened;
    spool_cursor **heap; /* the least first */
    size_t heap_count;
    LS_VEC(spool_cursor *) spare;
};

ls_status spool_create(uint32_t domains, event_spool **out, ls_error *err)
{
    event_spool *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL || (s->domains = calloc(domains + 1, sizeof *s->domains)) == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the events of a timeline");
    s->domain_count = domains;
    s->file = tmpfile();
    if (s->file == NULL)
        return ls_fail(err, LS_ERR_IO, "no temporary file for the events of a timeline: %s", strerror(errno));
    return LS_OK;
}

void spool_destroy(event_spool *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; s->domains != NULL && i < s->domain_count; i++) {
        vec_fini(&s->domains[i].chunks);
        free(s->domains[i].sorted);
    }
    for (size_t i = 0; i < s->heap_count; i++)
        free(s->heap[i]);
    for (size_t i = 0; i < s->spare.count; i++)
        free(s->spare.at[i]);
    vec_fini(&s->spare);
    free(s->heap);
    free(s->chunks);
    free(s->domains);
    if (s->file != NULL)
        fclose(s->file);
    free(s);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* Stable, and fast for events that are nearly in order. */
static void sort_events(ls_tap_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (events[i - 1].time <= events[i].time)
            continue;
        ls_tap_event event = events[i];
        size_t at = i;
        for (; at > 0 && events[at - 1].time > event.time; at--)
            events[at] = events[at - 1];
        events[at] = event;
    }
}

static bool is_sorted(const ls_tap_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (events[i - 1].time > events[i].time)
            return false;
    return true;
}

static bool write_all(int fd, const void *data, size_t bytes, off_t offset)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t done = pwrite(fd, at, bytes, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        offset += done;
        bytes -= (size_t)done;
    }
    return true;
}

void spool_take(event_spool *s, uint32_t domain, const ls_tap_event *events, size_t count)
{
    spool_domain *d = &s->domains[domain];
    for (; count > 0;) {
        size_t now = count < SPOOL_CHUNK_EVENTS ? count : SPOOL_CHUNK_EVENTS;
        const ls_tap_event *from = events;
        if (!is_sorted(events, now)) {
            if (d->sorted == NULL)
                d->sorted = malloc(SPOOL_CHUNK_EVENTS * sizeof *d->sorted);
            if (d->sorted == NULL) {
                atomic_store(&s->failure, ENOMEM);
                return;
            }
            memcpy(d->sorted, events, now * sizeof *events);
            sort_events(d->sorted, now);
            from = d->sorted;
        }
        uint64_t offset = atomic_fetch_add(&s->end, now);
        const spool_chunk chunk = { .offset = offset,
                                    .first = from[0].time,
                                    .count = (uint32_t)now,
                                    .domain = domain,
                                    .sequence = (uint32_t)d->chunks.count };
        if (!write_all(fileno(s->file), from, now * sizeof *from, (off_t)(offset * sizeof *from)))
            atomic_store(&s->failure, errno != 0 ? errno : EIO);
        else if (!vec_push(&d->chunks, chunk))
            atomic_store(&s->failure, ENOMEM);
        events += now;
        count -= now;
    }
}

/* ------------------------------------------------------------------------------------------------ reading */

static int compare_chunks(const void *left, const void *right)
{
    const spool_chunk *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->domain != b->domain)
        return a->domain < b->domain ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static bool is_before(const spool_cursor *a, const spool_cursor *b)
{
    ls_time at = a->buffer[a->at].time, bt = b->buffer[b->at].time;
    if (at != bt)
        return at < bt;
    if (a->chunk->domain != b->chunk->domain)
        return a->chunk->domain < b->chunk->domain;
    return a->chunk->sequence < b->chunk->sequence;
}

static void sift_down(event_spool *s, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < s->heap_count && is_before(s->heap[left], s->heap[least]))
            least = left;
        if (right < s->heap_count && is_before(s->heap[right], s->heap[least]))
            least = right;
        if (least == i)
            return;
        spool_cursor *other = s->heap[i];
        s->heap[i] = s->heap[least];
        s->heap[least] = other;
        i = least;
    }
}

static void sift_up(event_spool *s, size_t i)
{
    for (; i > 0 && is_before(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        spool_cursor *other = s->heap[i];
        s->heap[i] = s->heap[(i - 1) / 2];
        s->heap[(i - 1) / 2] = other;
    }
}

/* The next events of the chunk; false at its end, or on a failure. */
static bool refill(event_spool *s, spool_cursor *c)
{
    uint32_t left = c->chunk->count - c->read, now = left < READ_EVENTS ? left : READ_EVENTS;
    off_t offset = (off_t)((c->chunk->offset + c->read) * sizeof(ls_tap_event));
    size_t bytes = now * sizeof(ls_tap_event), done = 0;
    while (done < bytes) {
        ssize_t got = pread(fileno(s->file), (char *)c->buffer + done, bytes - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            atomic_store(&s->failure, got < 0 ? errno : EIO);
            return false;
        }
        done += (size_t)got;
    }
    c->read += now;
    c->at = 0;
    c->have = now;
    return now > 0;
}

static bool open_chunk(event_spool *s)
{
    spool_cursor *c = s->spare.count > 0 ? s->spare.at[--s->spare.count] : malloc(sizeof *c);
    if (c == NULL) {
        atomic_store(&s->failure, ENOMEM);
        return false;
    }
    c->chunk = &s->chunks[s->opened++];
    c->read = 0;
    if (!refill(s, c)) {
        free(c);
        return false;
    }
    s->heap[s->heap_count++] = c;
    sift_up(s, s->heap_count - 1);
    return true;
}

ls_status spool_start(event_spool *s, ls_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < s->heap_count; i++)
        free(s->heap[i]);
    free(s->heap);
    free(s->chunks);
    s->heap_count = s->chunk_count = s->opened = 0;
    for (uint32_t i = 0; i < s->domain_count; i++)
        count += s->domains[i].chunks.count;
    s->chunks = calloc(count + 1, sizeof *s->chunks);
    s->heap = calloc(count + 1, sizeof(spool_cursor *));
    if (s->chunks == NULL || s->heap == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory to read the events of a timeline");
    for (uint32_t i = 0; i < s->domain_count; i++)
        for (size_t k = 0; k < s->domains[i].chunks.count; k++)
            s->chunks[s->chunk_count++] = s->domains[i].chunks.at[k];
    qsort(s->chunks, s->chunk_count, sizeof *s->chunks, compare_chunks);
    return spool_status(s, err);
}

bool spool_next(event_spool *s, ls_tap_event *event, uint32_t *domain)
{
    /* A chunk that begins no later than the next event may have an event before it. */
    while (s->opened < s->chunk_count &&
           (s->heap_count == 0 || s->chunks[s->opened].first <= s->heap[0]->buffer[s->heap[0]->at].time))
        if (!open_chunk(s))
            return false;
    if (s->heap_count == 0)
        return false;
    spool_cursor *c = s->heap[0];
    *event = c->buffer[c->at];
    *domain = c->chunk->domain;
    if (++c->at == c->have && (c->read == c->chunk->count || !refill(s, c))) {
        s->heap[0] = s->heap[--s->heap_count];
        if (!vec_push(&s->spare, c))
            free(c);
    }
    if (s->heap_count > 0)
        sift_down(s, 0);
    return atomic_load(&s->failure) == 0;
}

ls_status spool_status(const event_spool *s, ls_error *err)
{
    int code = atomic_load(&s->failure);
    return code == 0 ? LS_OK
                     : ls_fail(err, LS_ERR_IO, "the temporary file with the events of the timeline: %s",
                               strerror(code));
}

uint64_t spool_count(const event_spool *s)
{
    return atomic_load(&s->end);
}
