/* input.h: the bytes of a trace file, decompressed while they are read. The first bytes of a file decide its
 * format: xz, zstd, gzip, .tracez, else plain text. A name that ends with .tracez decides it, too. */
#ifndef ACCELSIM_INPUT_H
#define ACCELSIM_INPUT_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct acc_input acc_input;

/* Errors name the file. A file that is compressed with something else (bzip2, lz4) is LS_ERR_UNSUPPORTED. */
ls_status acc_input_open(const char *path, acc_input **out, ls_error *err);
/* The same from memory, which must stay; name is for messages. */
ls_status acc_input_open_memory(const char *name, const void *data, size_t bytes, acc_input **out,
                                ls_error *err);
void acc_input_close(acc_input *input); /* NULL is fine */

/* Up to `bytes` further bytes; *got 0 is the end. Data that is damaged or ends too early is LS_ERR_INPUT;
 * earlier calls have already returned the bytes before it. */
ls_status acc_input_read(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err);

/* Whether it gives the text from any thread block on: .tracez files do. */
bool acc_input_has_blocks(const acc_input *input);
/* The text goes on with this block; *line: the number of its first line. Only if acc_input_has_blocks(). */
ls_status acc_input_seek(acc_input *input, uint64_t block, uint64_t *line, ls_error *err);

const char *acc_input_kind(const acc_input *input);              /* "plain", "xz", "zstd", "gzip", "tracez" */
unsigned long long acc_input_file_bytes(const acc_input *input); /* read from the file so far */

#endif
