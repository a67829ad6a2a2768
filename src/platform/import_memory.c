/* import_memory.c: converters of the import for clocks, the network, caches and the address map. */
#include "platform/import_rows.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------- clocks */

bool import_convert_clocks(importer *im, const import_row *row)
{
    static const char *const keys[4] = { "clock.core_mhz", NULL, "clock.l2_mhz", "clock.dram_mhz" };
    const char *at = import_value(im, row->option);
    ls_ratio clocks[4];
    for (size_t i = 0; i < 4; i++) {
        char text[LS_FORMAT_BYTES];
        size_t bytes = strcspn(at, ":");
        if (bytes == 0 || (i == 3 && at[bytes]))
            return import_fail(im, row->option, "it must have four clocks, core:network:L2:DRAM");
        if (parse_ratio(at, bytes, &clocks[i], im->err) != LS_OK)
            return import_fail_with(im, row->option);
        format_ratio(clocks[i], text, sizeof text);
        if (keys[i] && !import_put(im, keys[i], text, row->option, NULL))
            return false;
        at += bytes + (at[bytes] != '\0');
    }
    if (clocks[1].num != clocks[2].num || clocks[1].den != clocks[2].den)
        import_note(im, row->option, LS_IMPORT_MISSING, "the network runs on the clock of L2");
    return true;
}

/* ---------------------------------------------------------------------------------------------- network */

/* Accel-Sim keeps a request for -gpgpu_l2_rop_latency core cycles in front of L2, and its crossbars take one
 * cycle each. After a load that bypasses L1 and hits L2, the dependent instruction issues rop +
 * ACCELSIM_L2_HIT_CYCLES cycles later (measured: formats/accelsim.md, "Exact anchors").
 *
 * Here the same time lies in three places: the request link, l2.delay_cycles and the reply link. Links give
 * the parallel engine its lookahead, so they get as much as they can: half of the ROP latency each.
 * PIPELINE_CYCLES is the cost of such a load beside these three keys, from its issue to that of its dependent
 * instruction (measured: `lockstep run synth:chain,op=LDG_L2`). The rest of the sum goes to l2.delay_cycles.
 * Thread blocks travel as long as requests, so that they do not shorten the lookahead. */
#define ACCELSIM_L2_HIT_CYCLES 15
#define PIPELINE_CYCLES 11
#define DELAY_MIN_CYCLES 1
#define LINK_MIN_CYCLES 1
/* A credit comes back after both ways. Accel-Sim's crossbar takes a message every cycle at any distance, also
 * from one core to one slice (stores to one line). So there must be more credits than cycles. */
#define CREDITS_TO_SPARE 64

typedef struct network_split {
    uint64_t request, reply, delay, dispatch; /* cycles */
} network_split;

static network_split split_network(uint64_t rop_latency)
{
    uint64_t total = rop_latency + ACCELSIM_L2_HIT_CYCLES;
    uint64_t free_cycles = total - PIPELINE_CYCLES - DELAY_MIN_CYCLES;
    uint64_t link = rop_latency / 2;
    link = link > free_cycles / 2 ? free_cycles / 2 : link;
    link = link < LINK_MIN_CYCLES ? LINK_MIN_CYCLES : link;
    return (network_split){
        .request = link, .reply = link, .delay = total - PIPELINE_CYCLES - 2 * link, .dispatch = link
    };
}

bool import_convert_network(importer *im, const import_row *row)
{
    uint64_t rop;
    char how[96];
    if (!import_uint(im, row->option, &rop))
        return false;
    network_split split = split_network(rop);
    snprintf(how, sizeof how, "an L2 hit takes %llu + %d cycles", (unsigned long long)rop,
             ACCELSIM_L2_HIT_CYCLES);
    return import_put_uint(im, "noc.request_latency_cycles", split.request, row->option, how) &&
           import_put_uint(im, "noc.reply_latency_cycles", split.reply, row->option, how) &&
           import_put_uint(im, "l2.delay_cycles", split.delay, row->option, how) &&
           import_put_uint(im, "noc.credits", split.request + split.reply + CREDITS_TO_SPARE, row->option,
                           "a message per cycle, however long the way") &&
           import_put_uint(im, "dispatch_latency_cycles", split.dispatch, row->option,
                           "as long as a request, within the launch latency") &&
           import_put_fixed(im, "refill_latency_cycles", "1", "a place is taken again in the next cycle");
}

/* ----------------------------------------------------------------------------------------------- caches */

#define LINE_BYTES 128

/* "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32" in its parts. */
typedef struct cache_string {
    char kind, replacement, write, allocate, write_allocate, hash, mshr;
    uint64_t sets, line, ways, entries, merge, queue, port;
} cache_string;

typedef struct fields {
    const char *at;
    bool bad;
} fields;

static void skip_separator(fields *f, char separator)
{
    if (*f->at == separator)
        f->at++;
    else
        f->bad = true;
}

static char take_letter(fields *f, const char *allowed, char separator)
{
    char c = *f->at;
    if (f->bad || c == '\0' || !strchr(allowed, c)) {
        f->bad = true;
        return '\0';
    }
    f->at++;
    if (separator)
        skip_separator(f, separator);
    return c;
}

/* separator 0: the number is the last of its group. */
static uint64_t take_number(fields *f, char separator)
{
    size_t bytes = strspn(f->at, "0123456789");
    uint64_t value = 0;
    if (f->bad || parse_u64(f->at, bytes, &value, NULL) != LS_OK || value > UINT32_MAX) {
        f->bad = true;
        return 0;
    }
    f->at += bytes;
    if (separator)
        skip_separator(f, separator);
    return value;
}

static bool parse_cache(const char *text, cache_string *out)
{
    fields f = { .at = text };
    *out = (cache_string){ 0 };
    out->kind = take_letter(&f, "NS", ':');
    out->sets = take_number(&f, ':');
    out->line = take_number(&f, ':');
    out->ways = take_number(&f, ',');
    out->replacement = take_letter(&f, "LF", ':');
    out->write = take_letter(&f, "RBTEL", ':');
    out->allocate = take_letter(&f, "mfs", ':');
    out->write_allocate = take_letter(&f, "NWFL", ':');
    out->hash = take_letter(&f, "LPXHC", ',');
    out->mshr = take_letter(&f, "ASFT", ':');
    out->entries = take_number(&f, ':');
    out->merge = take_number(&f, ',');
    out->queue = take_number(&f, 0);
    out->port = LINE_BYTES / 4;
    if (!f.bad && *f.at == ':') { /* entries of a texture cache's FIFO */
        f.at++;
        (void)take_number(&f, 0);
    }
    if (!f.bad && *f.at == ',') {
        f.at++;
        out->port = take_number(&f, 0);
    }
    return !f.bad && *f.at == '\0';
}

static bool is_power_of_two(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool read_cache(importer *im, const char *option, cache_string *out)
{
    const char *text = import_value(im, option);
    char quoted[96];
    if (!parse_cache(text, out))
        return import_fail(im, option,
                           "'%s' is not <N|S>:sets:line:ways,<L|F>:<R|B|T|E|L>:<m|f|s>:<N|W|F|L>:<L|P|X|H|C>,"
                           "<A|S|F|T>:entries:merge,queue[:fifo][,port]",
                           quote_text(text, strlen(text), quoted, sizeof quoted));
    if (out->line != LINE_BYTES)
        return import_fail(im, option, "lines have %d bytes, not %llu", LINE_BYTES,
                           (unsigned long long)out->line);
    if (!is_power_of_two(out->sets))
        return import_fail(im, option, "%llu sets are no power of two", (unsigned long long)out->sets);
    if (out->ways == 0)
        return import_fail(im, option, "it has no ways");
    if (out->write == 'R')
        return import_fail(im, option, "a read-only data cache cannot take stores");
    return true;
}

/* Letters of the cache string that our cache does not model. */
static void note_cache(importer *im, const char *option, const cache_string *c)
{
    if (c->kind == 'N')
        import_note(im, option, LS_IMPORT_MISSING, "N: lines always have four sectors");
    if (c->write == 'L')
        import_note(im, option, LS_IMPORT_MISSING, "L: local stores are written through like global ones");
    if (c->allocate != 'm')
        import_note(im, option, LS_IMPORT_MISSING, "f, s: a line is taken at the miss, not at the fill");
    if (c->write_allocate != 'L' && !(c->write_allocate == 'N' && strchr("TE", c->write)))
        import_note(im, option, LS_IMPORT_MISSING,
                    "N, W, F: a store takes a line and fetches at the next read");
    if (!strchr("LPX", c->hash))
        import_note(im, option, LS_IMPORT_MISSING, "H, C: sets are picked linearly instead");
    if (!strchr("AS", c->mshr))
        import_note(im, option, LS_IMPORT_MISSING, "F, T: misses wait in MSHRs, not in a FIFO");
    if (c->port != LINE_BYTES / 4)
        import_note(im, option, LS_IMPORT_MISSING, "the data port moves one sector of 32 bytes per cycle");
}

static const char *write_policy(const cache_string *c)
{
    if (c->write == 'B')
        return "back";
    if (c->write == 'E')
        return "evict";
    return c->write == 'T' && c->write_allocate == 'N' ? "around" : "through";
}

static bool put_cache(importer *im, const import_row *row, const cache_string *c, const char *ways_how)
{
    const struct {
        const char *name;
        uint64_t value;
        const char *how;
    } numbers[] = {
        { "sets", c->sets, NULL },
        { "ways", c->ways, ways_how },
        { "mshr_entries", c->entries, NULL },
        { "mshr_merge", c->merge, NULL },
        { "miss_queue", c->queue, NULL },
    };
    const struct {
        const char *name, *value;
    } choices[] = {
        { "write_policy", write_policy(c) },
        { "replacement", c->replacement == 'L' ? "lru" : "fifo" },
        { "hash", c->hash == 'P'   ? "ipoly"
                  : c->hash == 'X' ? "xor"
                                   : "none" },
    };
    char key[64];
    for (size_t i = 0; i < LS_COUNT_OF(numbers); i++) {
        snprintf(key, sizeof key, "%s.%s", row->key, numbers[i].name);
        if (!import_put_uint(im, key, numbers[i].value, row->option, numbers[i].how))
            return false;
    }
    for (size_t i = 0; i < LS_COUNT_OF(choices); i++) {
        snprintf(key, sizeof key, "%s.%s", row->key, choices[i].name);
        if (!import_put(im, key, choices[i].value, row->option, NULL))
            return false;
    }
    note_cache(im, row->option, c);
    return true;
}

bool import_convert_l1(importer *im, const import_row *row)
{
    cache_string c;
    uint64_t adaptive, unified_kib;
    if (strcmp(import_value(im, row->option), "none") == 0) {
        import_note(im, row->option, LS_IMPORT_MISSING, "there is always an L1; it has its default shape");
        return true;
    }
    if (!read_cache(im, row->option, &c) || !import_uint(im, "gpgpu_adaptive_cache_config", &adaptive) ||
        !import_uint(im, "gpgpu_unified_l1d_size", &unified_kib))
        return false;
    if (adaptive == 0 || unified_kib == 0)
        return put_cache(im, row, &c, NULL);
    /* The string describes L1 at its smallest; the ways of the whole memory are carved up. */
    uint64_t bytes = unified_kib * 1024, way_bytes = c.sets * LINE_BYTES;
    if (way_bytes * c.ways == 0 || bytes % (way_bytes * c.ways) != 0)
        return import_fail(im, row->option, "%llu KiB of -gpgpu_unified_l1d_size are no multiple of its size",
                           (unsigned long long)unified_kib);
    c.ways = bytes / way_bytes;
    return put_cache(im, row, &c, "the whole of -gpgpu_unified_l1d_size");
}

bool import_convert_l2(importer *im, const import_row *row)
{
    cache_string c;
    return read_cache(im, row->option, &c) && put_cache(im, row, &c, NULL) &&
           import_put_fixed(im, "l2.merge_stall", "slice",
                            "Accel-Sim tries the oldest request until it fits") &&
           import_put_fixed(im, "l2.dirty_limit_percent", "0", "Accel-Sim spares dirty lines in L1 only");
}

bool import_convert_carve_out(importer *im, const import_row *row)
{
    uint64_t adaptive, size;
    char list[256] = "[";
    size_t used = 1;
    if (!import_uint(im, row->option, &adaptive))
        return false;
    if (adaptive == 0) {
        import_note(im, "gpgpu_unified_l1d_size", LS_IMPORT_QUIET, "-gpgpu_adaptive_cache_config is 0");
        import_note(im, "gpgpu_shmem_option", LS_IMPORT_QUIET, "-gpgpu_adaptive_cache_config is 0");
        return import_put(im, "core.unified_kib", "0", row->option, "L1 keeps its size") &&
               import_put(im, "core.shared_options_kib", "[]", row->option, NULL);
    }
    const char *option = "gpgpu_shmem_option", *at = import_value(im, option);
    for (const char *separator = ""; *at; separator = ", ") {
        size_t bytes = strcspn(at, ",");
        if (bytes == 0 || parse_u64(at, bytes, &size, im->err) != LS_OK)
            return bytes == 0 ? import_fail(im, option, "it has an empty field")
                              : import_fail_with(im, option);
        int more = snprintf(list + used, sizeof list - used, "%s%llu", separator, (unsigned long long)size);
        used += (size_t)more;
        if (used + 2 > sizeof list)
            return import_fail(im, option, "it has too many sizes");
        at += bytes + (at[bytes] != '\0');
    }
    memcpy(list + used, "]", 2);
    return import_uint(im, "gpgpu_unified_l1d_size", &size) &&
           import_put_uint(im, "core.unified_kib", size, "gpgpu_unified_l1d_size", NULL) &&
           import_put(im, "core.shared_options_kib", list, option, NULL);
}

/* ------------------------------------------------------------------------------------------ address map */

bool import_convert_slice_hash(importer *im, const import_row *row)
{
    static const char *const names[] = { "none", "xor", "ipoly" };
    uint64_t value;
    if (!import_uint(im, row->option, &value))
        return false;
    if (value == 6)
        return import_put(im, row->key, "ipoly_modulo", row->option, NULL);
    if (value > 6)
        return import_fail(im, row->option, "Accel-Sim has indexing functions 0 to 6, not %llu",
                           (unsigned long long)value);
    if (value < LS_COUNT_OF(names))
        return import_put(im, row->key, names[value], row->option, NULL);
    import_note(im, row->option, LS_IMPORT_MISSING,
                "there is no PAE, random or custom indexing: ipoly stands for it");
    return import_put(im, row->key, "ipoly", row->option, "the nearest one");
}

/* "dramid@8;00000000. ... .RBBBCCCC.BCCSSSSS": leading bytes of zeros say nothing. */
bool import_convert_bit_map(importer *im, const import_row *row)
{
    static const char prefix[] = "dramid@";
    const char *text = import_value(im, row->option), *end;
    uint64_t bit;
    if (!text) {
        import_note(im, "gpgpu_mem_address_mask", LS_IMPORT_MISSING,
                    "without -gpgpu_mem_addr_mapping the default map counts");
        return true;
    }
    if (!starts_with(text, prefix) || !(end = strchr(text, ';')))
        return import_fail(im, row->option, "only maps of the form dramid@B;bits can be imported");
    const char *digits = text + sizeof prefix - 1;
    if (parse_u64(digits, (size_t)(end - digits), &bit, im->err) != LS_OK)
        return import_fail_with(im, row->option);
    if (bit > 16)
        return import_fail(im, row->option, "channels change at bit %llu, at most 16 is possible",
                           (unsigned long long)bit);
    const char *map = end + 1;
    size_t bits = strspn(map, "0RBCSrbcs.|");
    if (map[bits] || bits == 0)
        return import_fail(im, row->option, "'%c' in the map is none of R, B, C, S, 0",
                           bits ? map[bits] : ';');
    while (strncmp(map, "00000000.", 9) == 0)
        map += 9;
    return import_put_uint(im, "memory.interleave_bytes", UINT64_C(1) << bit, row->option, NULL) &&
           import_put(im, row->key, map, row->option, NULL);
}

bool import_convert_queues(importer *im, const import_row *row)
{
    uint64_t sizes[4]; /* network to L2, L2 to DRAM, DRAM to L2, L2 to network */
    if (!import_fields(im, row->option, ":", sizes, 4, NULL))
        return false;
    import_note(im, row->option, LS_IMPORT_MISSING, "its second field: misses wait in l2.miss_queue only");
    return import_put_uint(im, "l2.input_queue", sizes[0], row->option, "network to L2") &&
           import_put_uint(im, "l2.fill_queue", sizes[2], row->option, "DRAM to L2") &&
           import_put_uint(im, "l2.output_queue", sizes[3], row->option, "L2 to network");
}

bool import_convert_coalescer(importer *im, const import_row *row)
{
    uint64_t on, entries, merged;
    if (!import_uint(im, row->option, &on) || !import_uint(im, "gpgpu_lrc_max_entries", &entries) ||
        !import_uint(im, "gpgpu_lrc_max_merged", &merged))
        return false;
    if (on == 0) /* the default of the key */
        return true;
    if (entries == 0)
        return import_fail(im, "gpgpu_lrc_max_entries", "a request coalescer needs an entry");
    return import_put_uint(im, row->key, entries, "gpgpu_lrc_max_entries", NULL) &&
           import_put_uint(im, "l2.coalesce_requests", merged, "gpgpu_lrc_max_merged", NULL);
}
