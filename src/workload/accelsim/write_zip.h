/* write_zip.h: a file that is compressed while it is written. */
#ifndef ACCELSIM_WRITE_ZIP_H
#define ACCELSIM_WRITE_ZIP_H

#include "workload/accelsim/write.h"

typedef struct zip_writer zip_writer;

/* `compression` is neither LS_COMPRESS_SAME nor LS_COMPRESS_TRACEZ, which has a writer of its own. Creates the file; it must not exist. */
ls_status zip_create(const char *path, text_compression compression, zip_writer **out, ls_error *err);
ls_status zip_write(zip_writer *zip, const void *data, size_t bytes, ls_error *err);
/* Ends the stream and closes the file; the writer is gone in every case. */
ls_status zip_finish(zip_writer *zip, ls_error *err);
void zip_abort(zip_writer *zip); /* NULL is fine; the file stays, and the owner of its directory removes it */

/* ".xz", ".zst", ".gz", ".tracez", "" for the rest. */
const char *zip_suffix(text_compression compression);
/* The compression that a file name stands for. */
text_compression zip_of_name(const char *name);

#endif
