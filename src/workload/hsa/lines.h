/* lines.h: source lines and call frames of a code object, from its DWARF. libdw reads it; the library is loaded when
 * the first code object with a line table is asked, as SQLite is (report/sqlite.h). Addresses are offsets in the
 * object's image. */
#ifndef WORKLOAD_HSA_LINES_H
#define WORKLOAD_HSA_LINES_H

#include "workload/hsa/hsa.h"

typedef struct hsa_lines hsa_lines;

/* A place in a source. Texts live as long as the lines. */
typedef struct hsa_place {
    const char *file; /* as the compiler wrote it */
    uint32_t line;
} hsa_place;

/* A function, or one inlined into it. */
typedef struct hsa_frame {
    const char *name; /* "" if the file does not say */
    hsa_place at;     /* where control is in it */
    uint64_t begin;   /* address of its first instruction, or of those that were inlined */
    bool is_inlined;
} hsa_frame;

/* LS_ERR_UNSUPPORTED: the object has no line table, or libdw is not there. The object is borrowed. */
ls_status hsa_lines_read(const hsa_object *object, hsa_lines **out, ls_error *err);
void hsa_lines_destroy(hsa_lines *lines); /* NULL is fine */

/* The line of an instruction; false: none is known. */
bool hsa_lines_find(const hsa_lines *lines, uint64_t address, hsa_place *out);
/* Whether a statement begins at the address. */
bool hsa_lines_is_start(const hsa_lines *lines, uint64_t address);
/* Where code of a line begins: one address in each function or inlined copy that has it. A line without code
 * stands for the next that has some; *line becomes that. file: the whole path or its end after a '/'. Returns how many
 * there are; fills at most `capacity`. */
size_t hsa_lines_starts(const hsa_lines *lines, const char *file, uint32_t *line, uint64_t *out,
                        size_t capacity);
/* The frames at an address, innermost first; returns how many there are, and fills at most `capacity`. */
size_t hsa_lines_frames(const hsa_lines *lines, uint64_t address, hsa_frame *out, size_t capacity);
/* Where a function begins that was compiled as one; false: there is none of that name. */
bool hsa_lines_function(const hsa_lines *lines, const char *name, uint64_t *address);
/* The name of source i, in the order of their first line; NULL beyond the last. */
const char *hsa_lines_file(const hsa_lines *lines, size_t i);
/* The part of a path after its last '/'. */
const char *hsa_lines_base(const char *path);

#endif
