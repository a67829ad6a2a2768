/* test_trace_verdict.c: one verdict. Small traces are damaged in many ways; `trace check`, `run`, `trace pack`
 * and `profile` must all accept a trace or all refuse it with the same first problem. A packed trace must be
 * accepted as well. Packed files are damaged byte by byte. Seeds are fixed. */
#include "workload/kernel_text.h"
#include "workload/temp_dir.h"

#include "base/text.h"
#include "base/vec.h"
#include "cli/run_words.h"
#include "lockstep/random.h"

#include <inttypes.h>
#include <sys/stat.h>

enum { TEXT_MUTANTS = 420, PACKED_MUTANTS = 120, LINES_MAX = 400 };

#define run(...) run_words((const char *const[WORDS]){ "lockstep", __VA_ARGS__ })

/* A small GPU: fast, and kernels of one stream run one after another. */
#define PLATFORM "-p", LS_SOURCE_DIR "/platforms/rtx3070.yaml", "-s", "cores=1", "-s", "memory.channels=8"

/* ---------------------------------------------------------------------------------------------- the trace */

/* A kernel in lines, so that they can be moved. */
typedef struct lines {
    char *at[LINES_MAX];
    size_t count;
} lines;

static void add(lines *l, const char *fmt, ...) LS_PRINTF(2, 3);

static void add(lines *l, const char *fmt, ...)
{
    va_list args;
    assert_true(l->count < LINES_MAX);
    va_start(args, fmt);
    assert_true(vasprintf(&l->at[l->count++], fmt, args) >= 0);
    va_end(args);
}

static void free_lines(lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->at[i]);
    l->count = 0;
}

static void add_inst(lines *l, unsigned version, unsigned block, unsigned warp, unsigned pc, unsigned mask,
                     const char *body)
{
    char prefix[64] = "";
    if (version < 3)
        snprintf(prefix, sizeof prefix, "%u 0 0 %u ", block, warp);
    if (version == 4)
        snprintf(prefix, sizeof prefix, "%u ", pc / 8);
    add(l, "%s%04x %08x %s %s", prefix, pc, mask, body,
        version == 6   ? "0 0 NoVal "
        : version == 5 ? "0 "
                       : "");
}

/* Three blocks of 40 threads: the second warp has 8 lanes. */
static void make_kernel(lines *l, unsigned version)
{
    static const char *const keys[] = {
        "-kernel name = small",
        "-kernel id = 1",
        "-grid dim = (3,1,1)",
        "-block dim = (40,1,1)",
        "-shmem = 0",
        "-nregs = 16",
        "-binary version = 80",
        "-cuda stream id = 0",
        "-shmem base_addr = 0x00007f0002000000",
        "-nvbit version = 1.5",
        "-local mem base_addr = 0x00007f0000000000",
    };
    for (size_t i = 0; i < LS_COUNT_OF(keys); i++)
        add(l, "%s", keys[i]);
    add(l, "-accelsim tracer version = %u", version);
    if (version == 4)
        add(l, "-enable lineinfo = 1");
    for (unsigned block = 0; block < 3; block++) {
        add(l, "#BEGIN_TB");
        add(l, "thread block = %u,0,0", block);
        for (unsigned warp = 0; warp < 2; warp++) {
            unsigned mask = warp == 0 ? 0xffffffff : 0xff;
            char load[80];
            snprintf(load, sizeof load, "1 R4 LDG.E 1 R4 4 1 0x7f00%02x%02x000 4", block, warp);
            add(l, "warp = %u", warp);
            add(l, "insts = 5");
            add_inst(l, version, block, warp, 0x0, mask, "1 R1 IMAD.MOV.U32 2 R255 R255 0");
            add_inst(l, version, block, warp, 0x10, mask, "1 R2 IADD3 3 R1 R1 R255 0");
            add_inst(l, version, block, warp, 0x20, mask, load);
            add_inst(l, version, block, warp, 0x30, mask & 0x0f, "0 STG.E 2 R2 R4 4 2 0x7f1000000000 4 4 4");
            add_inst(l, version, block, warp, 0x40, mask, "0 EXIT 0 0");
        }
        add(l, "#END_TB");
    }
}

static void write_kernel(const char *path, const lines *l, size_t cut)
{
    text_buffer text = { 0 };
    for (size_t i = 0; i < l->count; i++)
        text_printf(&text, "%s\n", l->at[i]);
    write_bytes(path, text_get(&text), cut && cut < text.count ? cut : text.count);
    text_fini(&text);
}

/* -------------------------------------------------------------------------------------------- the damages */

static size_t pick(ls_random *r, size_t count)
{
    return (size_t)ls_random_below(r, count);
}

static void insert(lines *l, size_t at, char *text)
{
    assert_true(l->count < LINES_MAX);
    memmove(&l->at[at + 1], &l->at[at], (l->count - at) * sizeof *l->at);
    l->at[at] = text;
    l->count++;
}

static char *take_out(lines *l, size_t at)
{
    char *text = l->at[at];
    memmove(&l->at[at], &l->at[at + 1], (l->count - at - 1) * sizeof *l->at);
    l->count--;
    return text;
}

/* A line that begins with one of the words: a random one of them. */
static size_t find_line(const lines *l, ls_random *r, const char *word)
{
    size_t found[LINES_MAX], count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (strncmp(l->at[i], word, strlen(word)) == 0)
            found[count++] = i;
    return count ? found[pick(r, count)] : SIZE_MAX;
}

/* [*first, *last] of a block, or of a warp in it. */
static bool find_piece(const lines *l, ls_random *r, bool block, size_t *first, size_t *last)
{
    *first = find_line(l, r, block ? "#BEGIN_TB" : "warp");
    if (*first == SIZE_MAX)
        return false;
    for (*last = *first; *last + 1 < l->count; (*last)++) {
        if (block && strncmp(l->at[*last], "#END_TB", 7) == 0)
            break;
        if (!block && (strncmp(l->at[*last + 1], "warp", 4) == 0 || l->at[*last + 1][0] == '#'))
            break;
    }
    return true;
}

static void damage_lines(lines *l, ls_random *r)
{
    size_t i = pick(r, l->count), k = pick(r, l->count);
    switch (pick(r, 3)) {
    case 0:
        free(take_out(l, i));
        break;
    case 1:
        insert(l, k, strdup(l->at[i]));
        break;
    default: {
        char *text = take_out(l, i);
        insert(l, k < l->count ? k : l->count, text);
    }
    }
}

static void damage_piece(lines *l, ls_random *r, bool block)
{
    size_t first, last, count, to = pick(r, l->count);
    if (!find_piece(l, r, block, &first, &last))
        return;
    count = last - first + 1;
    lines piece = { .count = 0 };
    for (size_t i = 0; i < count; i++)
        piece.at[piece.count++] = strdup(l->at[first + i]);
    size_t how = pick(r, 4);
    if (how != 1)
        for (size_t i = 0; i < count; i++)
            free(take_out(l, first));
    if (how != 0) { /* duplicated, moved to the front of the blocks, or moved anywhere */
        size_t at = how == 1 ? last + 1 : how == 2 ? find_line(l, r, "#BEGIN_TB") : to;
        if (at > l->count)
            at = l->count;
        for (size_t i = 0; i < count; i++)
            insert(l, at + i, strdup(piece.at[i]));
    }
    free_lines(&piece);
}

static void replace_line(lines *l, size_t at, const char *fmt, ...) LS_PRINTF(3, 4);

static void replace_line(lines *l, size_t at, const char *fmt, ...)
{
    va_list args;
    if (at == SIZE_MAX)
        return;
    free(l->at[at]);
    va_start(args, fmt);
    assert_true(vasprintf(&l->at[at], fmt, args) >= 0);
    va_end(args);
}

static void damage_number(lines *l, ls_random *r)
{
    unsigned n = (unsigned)pick(r, 8);
    switch (pick(r, 9)) {
    case 0:
        replace_line(l, find_line(l, r, "insts"), "insts = %u", n);
        break;
    case 1:
        replace_line(l, find_line(l, r, "warp"), "warp = %u", n);
        break;
    case 2:
        replace_line(l, find_line(l, r, "thread block"), "thread block = %u,%u,0", n, n / 4);
        break;
    case 3:
        replace_line(l, find_line(l, r, "-grid dim"), "-grid dim = (%u,%u,1)", n, 1 + n / 6);
        break;
    case 4:
        replace_line(l, find_line(l, r, "-block dim"), "-block dim = (%u,1,1)", 8 * n + 1);
        break;
    case 5:
        replace_line(l, find_line(l, r, "-block dim"), "-block dim = (%u,%u,1)", 300 * n, n);
        break;
    case 6:
        replace_line(l, find_line(l, r, "-binary"), "-binary version = %u", 75 + n);
        break;
    case 7:
        replace_line(l, find_line(l, r, "-accelsim"), "-accelsim tracer version = %u", n);
        break;
    default:
        replace_line(l, find_line(l, r, "-kernel id"), "-kernel id = %u", n);
    }
}

/* One character of an instruction line: masks, addresses, counts, registers, opcodes. */
static void damage_character(lines *l, ls_random *r)
{
    static const char characters[] = "0123456789abcdefR .x-zEX";
    size_t first = find_line(l, r, "#BEGIN_TB");
    if (first == SIZE_MAX || first + 1 >= l->count)
        return;
    char *line = l->at[first + 1 + pick(r, l->count - first - 1)];
    if (*line)
        line[pick(r, strlen(line))] = characters[pick(r, sizeof characters - 1)];
}

/* The mask of a line: other lanes, also lanes that the warp does not have. */
static void damage_mask(lines *l, ls_random *r)
{
    static const char *const masks[] = { "000001ff", "ffffffff", "00000000", "80000000", "0000000f" };
    char from[16];
    snprintf(from, sizeof from, " %08x ", pick(r, 2) ? 0xffu : 0xfu);
    size_t start = pick(r, l->count);
    for (size_t i = 0; i < l->count; i++) {
        char *mask = strstr(l->at[(start + i) % l->count], from);
        if (!mask)
            continue;
        memcpy(mask + 1, masks[pick(r, LS_COUNT_OF(masks))], 8);
        return;
    }
}

static void damage_end(lines *l, ls_random *r)
{
    static const char *const ends[] = {
        "",    "# a comment", "#END_TB",       "#BEGIN_TB", "text that nobody knows",
        "   ", "insts = 1",   "cluster 0,0,0", "warp = 0",  "0050 ffffffff 0 EXIT 0 0 ",
    };
    add(l, "%s", ends[pick(r, LS_COUNT_OF(ends))]);
}

/* --------------------------------------------------------------------------------------------- the verdict */

/* The first line of the report that is an error, as the one line of another command has it. */
static void first_problem(const char *report, char *out, size_t bytes)
{
    static const char mark[] = ": error: ";
    out[0] = '\0';
    for (const char *line = report; *line;) {
        const char *end = strchr(line, '\n'), *found = strstr(line, mark);
        if (!end)
            end = line + strlen(line);
        if (found && found < end) {
            const char *text = found + sizeof mark - 1; /* "kind: text" */
            const char *kind_end = strstr(text, ": ");
            snprintf(out, bytes, "%.*s: %.*s", (int)(found - line), line, (int)(end - kind_end - 2),
                     kind_end + 2);
            return;
        }
        line = *end ? end + 1 : end;
    }
}

static void judge(const char *path, const char *what, bool profile)
{
    char problem[1200], said[1200];
    int check = run("trace", "check", "--limit", "0", path);
    first_problem(out_text, problem, sizeof problem);
    if (check != 0 && !problem[0]) /* nothing could be looked at: its own line */
        snprintf(problem, sizeof problem, "%s", err_text + strlen("lockstep: "));
    for (int command = 0; command < 3; command++) {
        static const char *const names[] = { "run", "trace pack", "profile" };
        if (command == 2 && !profile)
            continue;
        remove(command == 1 ? "out.lspk" : "out.lsprof");
        int code = command == 0   ? run("run", path, PLATFORM)
                   : command == 1 ? run("trace", "pack", path, "-o", "out.lspk")
                                  : run("profile", path, PLATFORM, "-o", "out.lsprof");
        snprintf(said, sizeof said, "%s",
                 strncmp(err_text, "lockstep: note", 14) == 0 ? ""
                 : strchr(err_text, ' ')                      ? strchr(err_text, ' ') + 1
                                                              : "");
        said[strcspn(said, "\n")] = '\0';
        problem[strcspn(problem, "\n")] = '\0';
        if ((code == 0) != (check == 0))
            fail_msg("%s: check: %d '%s', %s: %d '%s'", what, check, problem, names[command], code, said);
        if (code != 0 && strcmp(said, problem) != 0)
            fail_msg("%s: the first problem of check is '%s', that of %s '%s'", what, problem, names[command],
                     said);
    }
    if (check == 0) {
        if (run("trace", "check", "out.lspk") != 0 || run("run", "out.lspk", PLATFORM) != 0)
            fail_msg("%s is accepted as text, but not packed: %s", what, err_text);
    }
}

static void text_mutants(void **state)
{
    static const unsigned versions[] = { 2, 3, 4, 5, 6 };
    unsigned accepted = 0;
    (void)state;
    assert_int_equal(mkdir("t", 0755), 0);
    for (unsigned i = 0; i < TEXT_MUTANTS; i++) {
        lines first = { 0 }, second = { 0 };
        ls_random random;
        char what[64];
        ls_random_init(&random, 1000 + i);
        make_kernel(&first, versions[i % LS_COUNT_OF(versions)]);
        make_kernel(&second, 5);
        lines *damaged = i % 7 == 0 ? &second : &first;
        for (unsigned times = 1 + (i % 11 == 0); times > 0; times--)
            switch (i % 8) {
            case 0:
            case 1:
                damage_lines(damaged, &random);
                break;
            case 2:
                damage_piece(damaged, &random, true);
                break;
            case 3:
                damage_piece(damaged, &random, false);
                break;
            case 4:
                damage_number(damaged, &random);
                break;
            case 5:
                damage_character(damaged, &random);
                break;
            case 6:
                damage_mask(damaged, &random);
                break;
            default:
                damage_end(damaged, &random);
            }
        write_text("t/kernelslist.g", i % 50 == 49 ? "kernel-1.traceg\nkernel-3.traceg\n"
                                      : i % 50 == 48
                                          ? "kernel-1.traceg\nMemcpyHtoD,12\nkernel-2.traceg\n"
                                          : "kernel-1.traceg\nMemcpyHtoD,0x100,64\nkernel-2.traceg\n");
        write_kernel("t/kernel-1.traceg", &first, i % 23 == 5 ? 1 + pick(&random, 2000) : 0);
        write_kernel("t/kernel-2.traceg", &second, 0);
        free_lines(&first);
        free_lines(&second);
        snprintf(what, sizeof what, "text mutant %u", i);
        judge("t", what, i % 4 == 0);
        accepted += out_text[0] != '\0' && err_text[0] == '\0';
    }
    /* A test of verdicts needs both. */
    print_message("%u of %d mutants were accepted\n", accepted, TEXT_MUTANTS);
    assert_true(accepted > TEXT_MUTANTS / 20 && accepted < TEXT_MUTANTS * 9 / 10);
}

/* Nothing of a packed file may be damaged unseen, whichever command reads it. */
static void packed_mutants(void **state)
{
    lines kernel = { 0 };
    (void)state;
    make_kernel(&kernel, 6);
    for (size_t i = 0; i < kernel.count; i++) { /* with register values */
        char *none = strstr(kernel.at[i], "NoVal");
        if (none)
            strcpy(none, "Val 1");
        if (none) {
            char *more;
            assert_true(asprintf(&more, "%s 0x%zx ", kernel.at[i], i) > 0);
            free(kernel.at[i]);
            kernel.at[i] = more;
        }
    }
    write_kernel("v.traceg", &kernel, 0);
    free_lines(&kernel);
    assert_int_equal(run("trace", "pack", "v.traceg", "-o", "v.lspk"), 0);
    FILE *file = fopen("v.lspk", "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 16];
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(count > 500 && count < sizeof bytes);
    for (unsigned i = 0; i < PACKED_MUTANTS; i++) {
        ls_random random;
        char problem[1200];
        ls_random_init(&random, 9000 + i);
        size_t at = i < 100 ? count * i / 100 : pick(&random, count);
        unsigned char was = bytes[at];
        bytes[at] ^= (unsigned char)(1u << pick(&random, 8));
        write_bytes("m.lspk", bytes, i == PACKED_MUTANTS - 1 ? count - 7 : count);
        bytes[at] = was;
        int check = run("trace", "check", "m.lspk");
        snprintf(problem, sizeof problem, "%s", err_text);
        if (check == 0)
            fail_msg("check accepts a packed trace whose byte %zu is wrong", at);
        if (run("run", "m.lspk", PLATFORM) != check)
            fail_msg("byte %zu: check: %d %srun: %s", at, check, problem, err_text);
        assert_string_equal(err_text, problem);
        assert_int_equal(run("profile", "m.lspk", PLATFORM, "-o", "out.lsprof"), check);
        assert_string_equal(err_text, problem);
    }
}

static int tear_down(void **state)
{
    free_texts();
    return temp_dir_leave(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(text_mutants), cmocka_unit_test(packed_mutants) };
    return cmocka_run_group_tests(tests, temp_dir_enter, tear_down);
}
