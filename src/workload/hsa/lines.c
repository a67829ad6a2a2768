/* lines.c: see lines.h. Everything is read once into two tables: rows of lines by address, and ranges of functions. */
#include "workload/hsa/lines.h"

#include "base/library.h"
#include "base/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libdw.so.1"
#define ROWS_MAX (1u << 24) /* lines of one code object */
#define DEPTH_MAX 64        /* of scopes inside each other */

typedef struct row {
    uint64_t address;
    uint32_t file, line; /* line 0: the sequence ends here */
    uint32_t order;      /* of reading: equal addresses keep it */
    bool is_start;       /* of a statement */
} row;

typedef struct range {
    uint64_t low, high;
    const char *name;
    uint32_t call_file, call_line; /* of an inlined one; file UINT32_MAX: none */
    uint32_t depth;
    bool is_inlined;
} range;

struct hsa_lines {
    mem_arena arena;
    LS_VEC(const char *) files;
    LS_VEC(row) rows;
    LS_VEC(range) ranges;
    bool failed; /* no memory */
};

/* ------------------------------------------------------------------------------------------------- libdw */

#define DW_CALLS(X)                                                                                           \
    X(attr)                                                                                                   \
    X(begin_elf)                                                                                              \
    X(child)                                                                                                  \
    X(diename)                                                                                                \
    X(end)                                                                                                    \
    X(filesrc)                                                                                                \
    X(formudata)                                                                                              \
    X(getsrcfiles)                                                                                            \
    X(getsrclines)                                                                                            \
    X(lineaddr)                                                                                               \
    X(linebeginstatement)                                                                                     \
    X(lineendsequence)                                                                                        \
    X(lineno)                                                                                                 \
    X(linesrc)                                                                                                \
    X(get_units)                                                                                              \
    X(onesrcline)                                                                                             \
    X(ranges)                                                                                                 \
    X(siblingof)                                                                                              \
    X(tag)

static struct {
#define X(name) __typeof__(&dwarf_##name) name;
    DW_CALLS(X)
#undef X
} dw;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
#define X(name) { "dwarf_" #name, &dw.name },
    static const library_call calls[] = { DW_CALLS(X) };
#undef X
    loaded = library_load(LIBRARY, calls, sizeof calls / sizeof *calls);
}

/* ----------------------------------------------------------------------------------------------- reading */

static uint32_t file_number(hsa_lines *l, const char *path)
{
    if (!path)
        path = "?";
    for (size_t i = l->files.count; i-- > 0;)
        if (strcmp(l->files.at[i], path) == 0)
            return (uint32_t)i;
    const char *copy = arena_strdup(&l->arena, path);
    if (!copy || !vec_push(&l->files, copy)) {
        l->failed = true;
        return 0;
    }
    return (uint32_t)(l->files.count - 1);
}

/* Lines of number 0 are code of the compiler's own: it counts as part of the line before it. */
static void read_rows(hsa_lines *l, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    const char *last = NULL;
    uint32_t file = 0;
    if (dw.getsrclines(unit, &lines, &count) != 0)
        return;
    for (size_t i = 0; i < count && l->rows.count < ROWS_MAX && !l->failed; i++) {
        Dwarf_Line *line = dw.onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        bool ends = false, starts = false;
        if (!line || dw.lineaddr(line, &address) != 0 || dw.lineno(line, &number) != 0 ||
            dw.lineendsequence(line, &ends) != 0 || dw.linebeginstatement(line, &starts) != 0)
            continue;
        if (!ends && number <= 0)
            continue;
        const char *source = dw.linesrc(line, NULL, NULL);
        if (source != last) {
            last = source;
            file = file_number(l, source);
        }
        row r = { .address = address,
                  .file = file,
                  .line = ends ? 0 : (uint32_t)number,
                  .order = (uint32_t)l->rows.count,
                  .is_start = starts && !ends };
        l->failed |= !vec_push(&l->rows, r);
    }
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dw.attr(die, name, &attribute) || dw.formudata(&attribute, &value) != 0)
        return 0;
    return value;
}

static void read_scope(hsa_lines *l, Dwarf_Die *die, Dwarf_Files *files, uint32_t depth, bool is_inlined)
{
    range r = { .depth = depth, .is_inlined = is_inlined, .call_file = UINT32_MAX };
    const char *name = dw.diename(die);
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    r.name = arena_strdup(&l->arena, name ? name : "");
    l->failed |= !r.name;
    if (is_inlined) {
        const char *path = files ? dw.filesrc(files, number_of(die, DW_AT_call_file), NULL, NULL) : NULL;
        r.call_line = (uint32_t)number_of(die, DW_AT_call_line);
        if (path && r.call_line != 0)
            r.call_file = file_number(l, path);
    }
    while (!l->failed && (at = dw.ranges(die, at, &base, &low, &high)) > 0 && l->ranges.count < ROWS_MAX) {
        r.low = low;
        r.high = high;
        l->failed |= !vec_push(&l->ranges, r);
    }
}

static void read_scopes(hsa_lines *l, Dwarf_Die *parent, Dwarf_Files *files, uint32_t depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dw.child(parent, &die) != 0)
        return;
    do {
        int tag = dw.tag(&die);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            read_scope(l, &die, files, depth, tag == DW_TAG_inlined_subroutine);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
            tag == DW_TAG_namespace)
            read_scopes(l, &die, files, depth + 1);
    } while (!l->failed && dw.siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    /* The end of one function is the begin of the next. */
    if ((x->line == 0) != (y->line == 0))
        return x->line == 0 ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void read_units(hsa_lines *l, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL, *next = NULL;
    Dwarf_Die die;
    while (!l->failed && dw.get_units(dwarf, unit, &next, NULL, NULL, &die, NULL) == 0) {
        Dwarf_Files *files = NULL;
        size_t count;
        unit = next;
        if (dw.tag(&die) != DW_TAG_compile_unit)
            continue;
        if (dw.getsrcfiles(&die, &files, &count) != 0)
            files = NULL;
        read_rows(l, &die);
        read_scopes(l, &die, files, 0);
    }
    if (l->rows.count > 0)
        qsort(l->rows.at, l->rows.count, sizeof *l->rows.at, by_address);
}

ls_status hsa_lines_read(const hsa_object *object, hsa_lines **out, ls_error *err)
{
    *out = NULL;
    if (!object->has_lines)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the code object has no line table: compile the kernels with -g");
    pthread_once(&once, load);
    if (!loaded)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "source lines need libdw, and its library (%s) cannot be loaded", LIBRARY);
    hsa_lines *l = calloc(1, sizeof *l);
    if (!l)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    Elf *elf = elf_memory((char *)(uintptr_t)object->elf, object->elf_bytes);
    Dwarf *dwarf = elf ? dw.begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (dwarf) {
        read_units(l, dwarf);
        dw.end(dwarf);
    }
    elf_end(elf);
    bool failed = l->failed, empty = l->rows.count == 0;
    if (failed || empty) {
        hsa_lines_destroy(l);
        return failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                      : ls_fail(err, LS_ERR_UNSUPPORTED, "the line table of the code object cannot be read");
    }
    *out = l;
    return LS_OK;
}

void hsa_lines_destroy(hsa_lines *lines)
{
    if (!lines)
        return;
    vec_fini(&lines->files);
    vec_fini(&lines->rows);
    vec_fini(&lines->ranges);
    arena_fini(&lines->arena);
    free(lines);
}

/* ----------------------------------------------------------------------------------------------- queries */

/* The last row at the address or before it; NULL: none. */
static const row *row_at(const hsa_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->rows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->rows.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && lines->rows.at[low - 1].line != 0 ? &lines->rows.at[low - 1] : NULL;
}

bool hsa_lines_find(const hsa_lines *lines, uint64_t address, hsa_place *out)
{
    const row *r = row_at(lines, address);
    if (!r)
        return false;
    *out = (hsa_place){ .file = lines->files.at[r->file], .line = r->line };
    return true;
}

bool hsa_lines_is_start(const hsa_lines *lines, uint64_t address)
{
    const row *r = row_at(lines, address);
    return r && r->address == address && r->is_start;
}

const char *hsa_lines_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_file(const char *path, const char *name)
{
    size_t all = strlen(path), n = strlen(name);
    if (n == 0 || n > all || strcmp(path + all - n, name) != 0)
        return false;
    return n == all || path[all - n - 1] == '/';
}

/* The innermost range around an address; its number, or SIZE_MAX. */
static size_t innermost(const hsa_lines *lines, uint64_t address)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < lines->ranges.count; i++) {
        const range *r = &lines->ranges.at[i];
        if (address >= r->low && address < r->high &&
            (best == SIZE_MAX || r->depth > lines->ranges.at[best].depth))
            best = i;
    }
    return best;
}

/* The wanted line, or the smallest after it that has code. */
static uint32_t line_with_code(const hsa_lines *lines, const char *file, uint32_t wanted)
{
    uint32_t best = 0;
    for (size_t i = 0; i < lines->rows.count; i++) {
        const row *r = &lines->rows.at[i];
        if (r->line >= wanted && r->line != 0 && r->is_start && (best == 0 || r->line < best) &&
            is_file(lines->files.at[r->file], file))
            best = r->line;
    }
    return best;
}

size_t hsa_lines_starts(const hsa_lines *lines, const char *file, uint32_t *line, uint64_t *out,
                        size_t capacity)
{
    uint32_t number = line_with_code(lines, file, *line);
    size_t count = 0;
    if (number == 0)
        return 0;
    *line = number;
    LS_VEC(size_t) seen = { 0 };
    for (size_t i = 0; i < lines->rows.count; i++) {
        const row *r = &lines->rows.at[i];
        if (r->line != number || !r->is_start || !is_file(lines->files.at[r->file], file))
            continue;
        /* Rows are by address, so the first one of a function is its lowest. Parts of one function share a name. */
        size_t scope = innermost(lines, r->address);
        bool known = false;
        for (size_t k = 0; k < seen.count && !known; k++)
            known = seen.at[k] == scope || (scope != SIZE_MAX && seen.at[k] != SIZE_MAX &&
                                            lines->ranges.at[scope].name == lines->ranges.at[seen.at[k]].name);
        if (known || !vec_push(&seen, scope))
            continue;
        if (count < capacity)
            out[count] = r->address;
        count++;
    }
    vec_fini(&seen);
    return count;
}

size_t hsa_lines_frames(const hsa_lines *lines, uint64_t address, hsa_frame *out, size_t capacity)
{
    hsa_place at = { .file = "?" };
    size_t count = 0;
    (void)hsa_lines_find(lines, address, &at);
    for (uint32_t depth = UINT32_MAX;;) {
        const range *best = NULL;
        for (size_t i = 0; i < lines->ranges.count; i++) {
            const range *r = &lines->ranges.at[i];
            if (address >= r->low && address < r->high && r->depth < depth &&
                (!best || r->depth > best->depth))
                best = r;
        }
        if (!best)
            return count;
        if (count < capacity)
            out[count] = (hsa_frame){
                .name = best->name, .at = at, .begin = best->low, .is_inlined = best->is_inlined
            };
        count++;
        depth = best->depth;
        if (best->call_file != UINT32_MAX)
            at = (hsa_place){ .file = lines->files.at[best->call_file], .line = best->call_line };
    }
}

bool hsa_lines_function(const hsa_lines *lines, const char *name, uint64_t *address)
{
    for (size_t i = 0; i < lines->ranges.count; i++) {
        const range *r = &lines->ranges.at[i];
        if (r->is_inlined || strcmp(r->name, name) != 0)
            continue;
        *address = r->low;
        return true;
    }
    return false;
}

const char *hsa_lines_file(const hsa_lines *lines, size_t i)
{
    return i < lines->files.count ? lines->files.at[i] : NULL;
}
