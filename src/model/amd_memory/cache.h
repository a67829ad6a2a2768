/* cache.h: a cache that holds bytes: model "cycle" of the slots of lockstep/line_cache.h. Vector, scalar and
 * instruction caches, RDNA's L1, L2 slices and memory-side caches are all this block with other keys.
 *
 * A request is looked up in the cycle in which it is taken; times follow by arithmetic. A hit is answered
 * directory + data cycles later. A miss leaves after the directory's cycles and is answered fill cycles after
 * its line came. A request that cannot be taken (port, bank, MSHR, room) is refused and its requester called
 * again. */
#ifndef MODEL_AMD_MEMORY_CACHE_H
#define MODEL_AMD_MEMORY_CACHE_H

#include "base/address_space.h"
#include "lockstep/line_cache.h"
#include "lockstep/line.h"
#include "model/memory/mem.h"
#include "model/policy/prefetch.h"
#include "model/policy/replacement.h"
#include "model/policy/set_hash.h"
#include "model/policy/write_policy.h"

#define LINE_CACHE_SLOT "line-cache" /* of no machine: a cache alone, for tests */

typedef struct line_cache_spec {
    uint64_t size_kib, ways, line_bytes;
    uint64_t banks;              /* each takes one request per cycle; 0: no such limit */
    uint64_t accesses_per_cycle; /* of all banks together */
    ls_ratio line_cycles; /* that each of them takes; above 1 where the data path is narrower than a line */
    uint64_t directory_cycles, data_cycles, fill_cycles;
    uint64_t mshr_entries, mshr_targets; /* lines on their way; requests per line */
    uint64_t pending;                    /* writes, atomics and passed reads on their way below */
    uint64_t queue_entries;              /* messages that wait for the level below */
    uint64_t atomic_cycles;              /* of the bank, per operand */
    uint32_t write_policy;               /* write_policy */
    uint32_t replacement;                /* replacement_kind, or a plug-in's number */
    set_hash_spec hash;
    prefetch_spec prefetch;
} line_cache_spec;

typedef struct line_cache_counters {
    uint64_t reads, read_hits, read_misses, read_mshr_hits;
    uint64_t writes, write_hits, write_misses, write_mshr_hits;
    uint64_t scalar_reads, scalar_hits, code_reads, code_hits; /* of the reads and their hits */
    uint64_t atomics, passed_reads;                            /* passed_reads: miss on purpose */
    uint64_t fills, evictions, writebacks, invalidates, flushes, faults;
    uint64_t refused_port, refused_bank, refused_mshr, refused_line, refused_room;
    prefetch_counters prefetch;       /* in lines */
    uint64_t answers, latency_cycles; /* of reads and atomics: from taken to answered */
} line_cache_counters;

/* --- wiring, before the run, of any block that stands in a slot for caches --- */

/* The wire to the level below. Fails for a block that does not provide LS_LINE_CACHE_INTERFACE. */
ls_status line_cache_set_below(ls_block *cache, ls_block *memory, ls_error *err);
/* Makes it the home of its lines: atomics happen here, and pages that are not mapped (or not for writing) are
 * answered with LS_LINE_FAULT. */
void line_cache_set_home(ls_block *cache, const ls_memory *memory);
/* Of a die's L2, which is no home: it knows pages too, since it answers writes. Fails for a plug-in's model. */
ls_status line_cache_set_pages(ls_block *cache, const ls_memory *memory, ls_error *err);
/* In a run, from the cache's own domain: the line has changed elsewhere. Bytes that were not written here go, and a
 * line on its way is not kept. Whether there was one. Only for the model of this folder. */
bool line_cache_probe(ls_block *cache, uint64_t address);
/* Requests with one of these flags (LS_LINE_GLC, LS_LINE_DLC; LS_LINE_SYSTEM where host copies pass) go below even if
 * the line is here, and leave no line here. This holds for reads and atomics everywhere, and for writes where
 * they would end here (WRITE_BACK). */
#define LINE_PASS_ALL (1u << 16) /* all requests do */
void line_cache_set_passing(ls_block *cache, uint32_t flags);
/* Sets are picked by addresses without their channel and slice. Copied. */
void line_cache_set_map(ls_block *cache, const mem_map *map);
/* Does it keep what is written, so that a kernel's end must flush it? */
bool line_cache_writes_back(const ls_block *cache);

/* Of the last cache above L2, where L2 keeps lines of other GPUs: an invalidate of this cache goes below too, before all
 * requests that come later. Fails for a model that cannot. */
ls_status line_cache_pass_invalidates(ls_block *cache, ls_error *err);

/* Whether a model is the one of this folder, with a line_cache_spec. */
bool line_cache_is_model(const ls_block_type *type);

/* Drops lines of the range, dirty ones too, because their memory is freed. The machine is at rest. */
void line_cache_discard(ls_block *cache, uint64_t address, uint64_t bytes);
/* The bytes of a line that it has: valid[] and dirty[] have a bit for each. False: it has none, or is a plug-in's. */
bool line_cache_look(const ls_block *cache, uint64_t line_address, uint8_t *data, uint64_t valid[2],
                     uint64_t dirty[2]);
/* Copies the bytes of [address, address + bytes) that it has to the same places of `to`; only_newer: those that it wrote. */
void line_cache_overlay(const ls_block *cache, uint64_t address, uint64_t bytes, bool only_newer, uint8_t *to);
/* Bytes of a line that it has get new values; it stays dirty or clean as it was. */
void line_cache_patch(ls_block *cache, uint64_t line_address, uint64_t offset, const uint8_t *from,
                      uint64_t bytes);
/* At rest, for memory that something else than the machine reads and writes (the emulator). publish gives every line with
 * dirty bytes, which stay dirty; refresh takes the valid bytes of every line anew. False: the model is a plug-in's. */
typedef void (*line_cache_put)(void *self, uint64_t line_address, const uint8_t *data,
                               const uint64_t dirty[2]);
typedef bool (*line_cache_get)(void *self, uint64_t line_address, uint8_t *data);
bool line_cache_publish(const ls_block *cache, line_cache_put put, void *self);
bool line_cache_refresh(ls_block *cache, line_cache_get get, void *self);
/* At rest: dirty lines; for tests and reports. */
uint64_t line_cache_dirty_lines(const ls_block *cache);

#endif
