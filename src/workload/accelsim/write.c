/* write.c: the text of a kernel, byte for byte as the tracer's post-processing writes it: the header, and
 * thread blocks as "warp = w" sections of instruction lines. Touches no file: see write_dir.c for those. */
#include "workload/accelsim/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More than the longest part of a line that is not the source's text: 31 differences of 20 digits. */
#define LINE_BYTES 1024

/* --------------------------------------------------------------------------------------------- characters */

/* These write without a terminator and return the end; the caller made room. */

static char *put_text(char *p, const char *s)
{
    size_t bytes = strlen(s);
    memcpy(p, s, bytes);
    return p + bytes;
}

static char *put_hex(char *p, uint64_t value, unsigned least_digits)
{
    static const char digits[] = "0123456789abcdef";
    unsigned count = value == 0 ? 1 : (unsigned)(67 - __builtin_clzll(value)) / 4;
    if (count < least_digits)
        count = least_digits;
    for (unsigned i = count; i-- > 0; value >>= 4)
        p[i] = digits[value & 15];
    return p + count;
}

static char *put_address(char *p, uint64_t value, unsigned least_digits)
{
    *p++ = '0';
    *p++ = 'x';
    p = put_hex(p, value, least_digits);
    *p++ = ' ';
    return p;
}

static char *put_uint(char *p, uint64_t value)
{
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0)
        *p++ = digits[--count];
    return p;
}

static char *put_int(char *p, int64_t value)
{
    if (value < 0) {
        *p++ = '-';
        return put_uint(p, 0 - (uint64_t)value);
    }
    return put_uint(p, (uint64_t)value);
}

/* ------------------------------------------------------------------------------------------------ header */

void write_header(text_buffer *out, const ls_kernel_info *info)
{
    const char *nvbit = info->tracer_version >= 6   ? "1.8"
                        : info->tracer_version == 5 ? "1.7"
                        : info->tracer_version == 4 ? "1.5.5"
                        : info->tracer_version == 3 ? "1.5.3"
                                                    : "1.4";
    text_printf(out, "-kernel name = %s\n-kernel id = %" PRIu64 "\n", info->name, info->id);
    text_printf(out, "-grid dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n", info->grid[0], info->grid[1],
                info->grid[2]);
    text_printf(out, "-block dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n", info->block[0], info->block[1],
                info->block[2]);
    text_printf(out, "-shmem = %" PRIu64 "\n-nregs = %" PRIu32 "\n-binary version = %" PRIu32 "\n",
                info->shared_bytes, info->registers, info->binary_version);
    text_printf(out, "-cuda stream id = %" PRIu64 "\n", info->stream);
    text_printf(out, "-shmem base_addr = 0x%016" PRIx64 "\n-local mem base_addr = 0x%016" PRIx64 "\n",
                info->shared_base, info->local_base);
    text_printf(out, "-nvbit version = %s\n-accelsim tracer version = %" PRIu32 "\n", nvbit,
                info->tracer_version);
    if (info->tracer_version >= 4)
        text_printf(out, "-enable lineinfo = %d\n", info->line_info);
    text_printf(out,
                "\n#traces format = %s PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
                "[adrrescompress?] [mem_addresses]%s\n\n\n\n",
                info->tracer_version >= 4 ? "[line_num]"
                                          : "threadblock_x threadblock_y threadblock_z warpid_tb",
                info->tracer_version >= 6   ? " immediate1 immediate2 Val|NoVal [dest_val_n]"
                : info->tracer_version == 5 ? " immediate"
                                            : "");
}

void write_header_grid(text_buffer *out, const char *header, size_t bytes, const uint32_t grid[3])
{
    static const char key[] = "-grid dim = ";
    const char *end = header + bytes;
    for (const char *line = header; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if ((size_t)(next - line) > sizeof key - 1 && memcmp(line, key, sizeof key - 1) == 0) {
            const char *stop = memchr(line, ')', (size_t)(next - line));
            text_printf(out, "%s(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", key, grid[0], grid[1], grid[2]);
            line = stop ? stop + 1 : next;
        }
        text_addn(out, line, (size_t)(next - line));
        line = next;
    }
}

/* -------------------------------------------------------------------------------------------------- lines */

static char *put_addresses(char *p, const uint64_t *words, uint32_t mask, ls_addr_mode mode)
{
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    switch (mode) {
    case LS_ADDR_STRIDE:
        p = put_address(put_text(p, "1 "), words[0], 0);
        p = put_int(p, (int64_t)words[1]);
        *p++ = ' ';
        return p;
    case LS_ADDR_DELTA:
        p = put_address(put_text(p, "2 "), lanes ? words[0] : 0, 0);
        for (unsigned i = 1; i < lanes; i++) {
            p = put_int(p, (int64_t)(words[i] - words[i - 1]));
            *p++ = ' ';
        }
        return p;
    case LS_ADDR_LIST:
    case LS_ADDR_RECORD:
        break;
    }
    p = put_text(p, "0 ");
    for (unsigned i = 0; i < lanes; i++)
        p = put_address(p, words[i], 16);
    return p;
}

/* The fields of a bulk copy, as parse_bulk() of line.c reads them. */
static void put_bulk(text_buffer *out, const uint64_t *record)
{
    uint32_t details = ls_record_details(record[0]),
             count = ls_record_words(record[0]) - LS_BULK_WORD_ADDRESSES;
    const uint64_t *addresses = record + LS_BULK_WORD_ADDRESSES;
    bool list = ls_record_format(record[0]) == 3;
    text_printf(out, "0x%08" PRIx64 " %u ", record[LS_BULK_WORD_PLACE] & UINT32_MAX, details & 1);
    if (details & 1)
        text_printf(out, "0x%04" PRIx64 " ", record[LS_BULK_WORD_PLACE] >> 32);
    text_printf(out, "%" PRIu64 " %" PRIu64 " ", record[LS_BULK_WORD_BYTES], record[LS_BULK_WORD_OUTSIDE]);
    if (list)
        text_printf(out, "3 %" PRIu64 " ", record[LS_BULK_WORD_COUNT]);
    else
        text_printf(out, "4 0x%0*" PRIx64 " %" PRIu64 " ", (int)(details >> 8), addresses[0],
                    record[LS_BULK_WORD_COUNT]);
    for (uint32_t i = list ? 0 : 1; i < count; i++) {
        char buffer[32], *p = buffer;
        if (list)
            p = put_address(p, addresses[i], details >> 8);
        else {
            p = put_int(p, (int64_t)(addresses[i] - addresses[i - 1]));
            *p++ = ' ';
        }
        text_addn(out, buffer, (size_t)(p - buffer));
    }
}

typedef struct line_writer {
    text_buffer *out;
    const trace_kernel *kernel;
    const ls_cta *cta;
    const ls_cta_values *values;
    uint64_t next_value;
    char prefix[64]; /* prefix of each line for tracers before version 3; "" for others */
} line_writer;

/* Whether a body ends with another width than 0. */
static bool has_width(const char *body)
{
    size_t bytes = strlen(body);
    return bytes >= 2 && (body[bytes - 1] != '0' || body[bytes - 2] != ' ');
}

static bool put_line(line_writer *w, const ls_dyn *dyn)
{
    inst_words text;
    if (!w->kernel->ops->text(w->kernel, dyn->inst, &text))
        return false;
    char buffer[LINE_BYTES], *p = buffer;
    *p++ = ' ';
    p = put_hex(p, dyn->mask, 8);
    *p++ = ' ';
    text_add(w->out, w->prefix);
    text_add(w->out, text.pc);
    text_addn(w->out, buffer, (size_t)(p - buffer));
    text_add(w->out, text.body);
    p = buffer;
    *p++ = ' ';
    const uint64_t *record = ls_cta_record(w->cta, dyn);
    if (record && ls_record_kind_of(record[0]) == LS_RECORD_BULK) {
        text_add(w->out, " ");
        put_bulk(w->out, record);
        p = buffer;
    } else if (record && ls_record_kind_of(record[0]) == LS_RECORD_MBARRIER)
        p = put_addresses(p, record + 1, dyn->mask, (ls_addr_mode)ls_record_format(record[0]));
    else if (dyn->addr != LS_ADDR_NONE && !record)
        p = put_addresses(p, w->cta->addrs + (dyn->addr >> 2), dyn->mask, (ls_addr_mode)(dyn->addr & 3));
    else if (has_width(text.body))
        p = put_text(p, "1 0x0 0 "); /* as for an empty mask: a line with a width has addresses */
    text_addn(w->out, buffer, (size_t)(p - buffer));
    if (text.tail[0]) {
        text_add(w->out, text.tail);
        text_add(w->out, " ");
    }
    if (w->values && w->next_value < w->values->count &&
        w->values->values[w->next_value].dyn == (uint64_t)(dyn - w->cta->dyns)) {
        const cta_value *value = &w->values->values[w->next_value++];
        text_addn(w->out, w->values->text + value->at, value->bytes);
        text_add(w->out, " ");
    }
    text_add(w->out, "\n");
    return true;
}

ls_status write_warp(text_buffer *out, const trace_kernel *kernel, const ls_kernel_info *info,
                     const ls_cta *cta, uint32_t warp, uint32_t first, uint32_t count, ls_error *err)
{
    line_writer w = { .out = out, .kernel = kernel, .cta = cta, .values = cta->extra };
    uint32_t start = cta->warps[warp].first + first;
    if (info->tracer_version < 3)
        snprintf(w.prefix, sizeof w.prefix, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " ", cta->id[0],
                 cta->id[1], cta->id[2], warp);
    if (w.values) /* warps, and so their values, may lie in the block in any order */
        w.next_value = cta_values_from(w.values, start);
    for (uint32_t k = 0; k < count; k++)
        if (!put_line(&w, &cta->dyns[start + k]))
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return out->failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : LS_OK;
}

ls_status write_cta(text_buffer *out, const trace_kernel *kernel, const ls_kernel_info *info,
                    const ls_cta *cta, bool first, ls_error *err)
{
    ls_status status = LS_OK;
    if (!kernel->ops->text)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel '%s' comes from a source without text", info->name);
    text_printf(out, "%s#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", first ? "" : "\n",
                cta->id[0], cta->id[1], cta->id[2]);
    if (cta->in_cluster)
        text_printf(out,
                    "cluster id = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\ncluster cta = %" PRIu32 ",%" PRIu32
                    ",%" PRIu32 "\ncluster rank = %" PRIu32 "\n",
                    cta->cluster[0], cta->cluster[1], cta->cluster[2], cta->cluster_cta[0],
                    cta->cluster_cta[1], cta->cluster_cta[2], cta->cluster_rank);
    for (uint32_t i = 0; i < cta->warp_count && status == LS_OK; i++) {
        text_printf(out, "\nwarp = %" PRIu32 "\ninsts = %" PRIu32 "\n", i, cta->warps[i].count);
        status = write_warp(out, kernel, info, cta, i, 0, cta->warps[i].count, err);
    }
    text_add(out, "\n#END_TB\n");
    return status == LS_OK && out->failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : status;
}
