/* checkpoint.h: the file of a checkpoint: named sections of bytes, compressed, with a version and checksums.
 *
 *     header | packed sections | table of sections
 *
 * The header has a magic, a version, and a checksum of the whole file. The table has a name, a place, a size and a checksum
 * for each section. A file appears under its name only when it is complete and on the disk; the one before stays until
 * then. Reading checks everything before it gives out a byte.
 *
 * Sections are named "part" or "part.detail". session_checkpoint.c writes "identity", "options", "engine", "metrics" and
 * others; each kind of run adds its own (run_trace, run_devices, run_program). */
#ifndef SIM_CHECKPOINT_H
#define SIM_CHECKPOINT_H

#include "base/bytes.h"
#include "lockstep/status.h"

typedef struct checkpoint_writer checkpoint_writer;
typedef struct checkpoint_reader checkpoint_reader;

#define CHECKPOINT_NAME_BYTES 40 /* of a section, with the terminator */

/* ------------------------------------------------------------------------------------------------- writing */

ls_status checkpoint_create(checkpoint_writer **out, ls_error *err);
void checkpoint_destroy(checkpoint_writer *writer); /* NULL is fine */
/* Packs a section; no two have the same name. A failure is kept: checkpoint_write() returns it. */
void checkpoint_add(checkpoint_writer *writer, const char *name, const void *bytes, size_t size);
/* The same with bytes that were gathered; frees them. */
void checkpoint_add_out(checkpoint_writer *writer, const char *name, bytes_out *out);
/* Writes the file. On failure the one before is still there. */
ls_status checkpoint_write(checkpoint_writer *writer, const char *path, ls_error *err);
uint64_t checkpoint_packed_bytes(const checkpoint_writer *writer); /* of the file so far */

/* ------------------------------------------------------------------------------------------------- reading */

/* Reads and checks the whole file. */
ls_status checkpoint_open(const char *path, checkpoint_reader **out, ls_error *err);
void checkpoint_close(checkpoint_reader *reader); /* NULL is fine */
const char *checkpoint_path(const checkpoint_reader *reader);
bool checkpoint_has(const checkpoint_reader *reader, const char *name);
/* Unpacks all sections. Later calls of checkpoint_open() with this path give this reader, once, as long as the file is the
 * same: for a process that forks. */
ls_status checkpoint_keep(checkpoint_reader *reader, ls_error *err);
/* The bytes of a section; they live as long as the reader. A section that is not there is an error. */
ls_status checkpoint_find(checkpoint_reader *reader, const char *name, const void **bytes, size_t *size,
                          ls_error *err);
/* The same, to be read piece by piece. */
ls_status checkpoint_find_in(checkpoint_reader *reader, const char *name, bytes_in *in, ls_error *err);
/* After a section was read: LS_OK, or an error if bytes were missing, left over or wrong. */
ls_status checkpoint_check_end(const checkpoint_reader *reader, const char *name, const bytes_in *in,
                               ls_error *err);
/* Forgets the bytes of a section that is not needed any more; they can be large. */
void checkpoint_drop(checkpoint_reader *reader, const char *name);

#endif
