/* tracez.h: kernel files of Accel-Sim 2.0: a header, a dictionary, pages of instruction lines that are compressed
 * alone, and an index of blocks and warps. The reader gives the text that the kernel has as .traceg, from any thread
 * block on. Private to this folder: input.c makes it one more compression. docs/traces.md describes the file. */
#ifndef ACCELSIM_TRACEZ_H
#define ACCELSIM_TRACEZ_H

#include "lockstep/stream.h"
#include "workload/trace.h"

#define TRACEZ_SUFFIX ".tracez"
#define TRACEZ_PAGE_INSTS 2048u             /* of a page, as Accel-Sim's tools write them */
#define TRACEZ_DICTIONARY_BYTES 65536u      /* at most, likewise */
#define TRACEZ_DICTIONARY_LIMIT (16u << 20) /* more is refused */
#define TRACEZ_HEADER_LIMIT (1u << 20)
#define TRACEZ_BLOCK_NUMBERS 11u /* of a block in the index: position, cluster, place in it, rank, warps */
#define TRACEZ_WARP_LIMIT 32u    /* of a block */
/* In the size of a page, which readers ignore: the text had no lines about clusters. Each block is its own cluster. */
#define TRACEZ_NO_CLUSTERS 0x80000000u

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct tracez tracez;

/* Whether a file that begins with these bytes is one: the text of a header and then a zero byte. */
bool tracez_is(const void *head, size_t bytes);
/* Reads from fd, or from memory if that is not NULL. Checks header, sizes and index. Neither is closed or freed. */
ls_status tracez_open(const char *name, int fd, const void *memory, uint64_t bytes, tracez **out,
                      ls_error *err);
void tracez_close(tracez *t); /* NULL is fine */
/* The next bytes of the text; *got 0 is its end. */
ls_status tracez_read(tracez *t, void *to, size_t bytes, size_t *got, ls_error *err);
uint64_t tracez_blocks(const tracez *t);
/* The text goes on with block `index`; *line: the number of its first line. */
ls_status tracez_seek(tracez *t, uint64_t index, uint64_t *line, ls_error *err);

/* ------------------------------------------------------------------------------------------------- writing */

typedef struct tracez_writer tracez_writer;

/* Creates the file, which must not exist. `header`: the text before the first block. */
ls_status tracez_create(const char *path, const char *header, size_t bytes, tracez_writer **out,
                        ls_error *err);
ls_status tracez_add(tracez_writer *w, const trace_kernel *kernel, const ls_kernel_info *info,
                     const ls_cta *cta, ls_error *err);
/* Writes the index and closes the file; the writer is gone in every case. */
ls_status tracez_finish(tracez_writer *w, ls_error *err);
void tracez_abort(tracez_writer
                      *w); /* NULL is fine; the file stays, and the owner of its directory removes it */

#endif
