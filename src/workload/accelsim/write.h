/* write.h: kernels back into the text of Accel-Sim, for unpack, cut and synth. */
#ifndef ACCELSIM_WRITE_H
#define ACCELSIM_WRITE_H

#include "base/text.h"
#include "workload/sink.h"
#include "workload/trace.h"

/* ------------------------------------------------------------------------------------------------- text */

/* Everything before the first block, from the info alone, as a tracer of info->tracer_version writes it. */
void write_header(text_buffer *out, const ls_kernel_info *info);

/* Adds one thread block, from #BEGIN_TB to the line of #END_TB; `first` says that no block stands before it.
 * LS_ERR_UNSUPPORTED if the kernel's source has no text. */
ls_status write_cta(text_buffer *out, const trace_kernel *kernel, const ls_kernel_info *info,
                    const ls_cta *cta, bool first, ls_error *err);

/* Adds the lines of `count` executions of a warp, from its number `first` on. */
ls_status write_warp(text_buffer *out, const trace_kernel *kernel, const ls_kernel_info *info,
                     const ls_cta *cta, uint32_t warp, uint32_t first, uint32_t count, ls_error *err);

/* Copies a header with another grid: only the line that names it changes. */
void write_header_grid(text_buffer *out, const char *header, size_t bytes, const uint32_t grid[3]);

/* ------------------------------------------------------------------------------------------------- files */

typedef enum text_compression {
    LS_COMPRESS_SAME, /* as each kernel's name in the list says */
    LS_COMPRESS_NONE,
    LS_COMPRESS_XZ,
    LS_COMPRESS_ZST,
    LS_COMPRESS_GZ,
    LS_COMPRESS_TRACEZ, /* .tracez files of Accel-Sim 2.0 */
    LS_COMPRESS_COUNT
} text_compression;

extern const char *const compression_names[LS_COMPRESS_COUNT + 1]; /* "same", "none", ...; NULL at the end */

/* A directory with kernelslist.g and one file per kernel, which appears under its name when it is complete.
 * A directory of that name must not exist, or be empty. */
ls_status write_dir_create(const char *path, text_compression compression, trace_sink **out, ls_error *err);

#endif
