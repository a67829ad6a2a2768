/* compile.h: from OpenCL C to code objects: the compiler is clang, run as a program that reads and writes
 * memory only. Knows targets and texts, nothing about OpenCL objects. */
#ifndef OPENCL_COMPILE_H
#define OPENCL_COMPILE_H

#include "base/text.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ocl_blob {
    unsigned char *at; /* malloc */
    size_t bytes;
} ocl_blob;

typedef enum ocl_stage {
    OCL_COMPILE, /* source to bitcode */
    OCL_BUILD,   /* source to a code object */
    OCL_LINK,    /* bitcode to a code object */
    OCL_LIBRARY, /* bitcode to bitcode */
} ocl_stage;

typedef struct ocl_job {
    ocl_stage stage;
    const char *target;                                    /* "gfx1010" */
    const char *options;                                   /* as the program gave them; "" for none */
    bool has_arg_info;                                     /* mark the result as having argument info (it
                                                            * always has) */
    const char *source;                                    /* of OCL_COMPILE and OCL_BUILD */
    const char *const *header_names, *const *header_texts; /* that the source may include */
    size_t header_count;
    unsigned group_size;    /* kernels work with so many work-items in a group; 0: the compiler's default */
    const ocl_blob *inputs; /* of OCL_LINK and OCL_LIBRARY */
    size_t input_count;
} ocl_job;

/* Whether there is a compiler at present. */
bool ocl_compile_possible(void);
/* LS_OK; LS_ERR_INPUT: the program is wrong, log says why; LS_ERR_USAGE: an option is; LS_ERR_UNSUPPORTED:
 * there is no compiler. log has the compiler's text in every case. */
ls_status ocl_compile(const ocl_job *job, ocl_blob *out, text_buffer *log, ls_error *err);

/* options.c: the options of a stage as arguments for the compiler, in *words. One malloc holds the array and
 * its texts: release it with free(*words). LS_ERR_USAGE names the first invalid option. wants_library:
 * -create-library. */
typedef struct ocl_words {
    char **at; /* NULL-terminated */
    size_t count;
    bool is_library;
} ocl_words;
ls_status ocl_options_split(ocl_stage stage, const char *options, ocl_words *out, ls_error *err);

/* cache.c: results of earlier compilations by the hash of everything that they depend on. */
typedef struct ocl_cache_key {
    char name[64]; /* "" : do not use it */
} ocl_cache_key;
bool ocl_cache_load(const ocl_cache_key *key, ocl_blob *out, text_buffer *log);
void ocl_cache_store(const ocl_cache_key *key, const ocl_blob *blob, const char *log);

#endif
