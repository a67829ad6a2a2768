/* import_dram.c: converters of the import for memory channels: the timing string and how requests are
 * scheduled. */
#include "platform/import_rows.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------- timing */

/* The numbers of -gpgpu_dram_timing_opt in the order in which they stand if they have no names. */
static const struct timing_name {
    const char *name, *key;
    const char *fallback; /* if it is left out; NULL: it must be there */
} timing_names[] = {
    { "nbk", "dram.banks", NULL },       { "CCD", "dram.ccd_cycles", NULL },
    { "RRD", "dram.rrd_cycles", NULL },  { "RCD", "dram.rcd_cycles", NULL },
    { "RAS", "dram.ras_cycles", NULL },  { "RP", "dram.rp_cycles", NULL },
    { "RC", "dram.rc_cycles", NULL },    { "CL", "dram.cl_cycles", NULL },
    { "WL", "dram.wl_cycles", NULL },    { "CDLR", "dram.cdlr_cycles", NULL },
    { "WR", "dram.wr_cycles", NULL },    { "nbkgrp", "dram.bank_groups", "1" },
    { "CCDL", "dram.ccdl_cycles", "0" }, { "RTPL", "dram.rtpl_cycles", "0" },
};
#define TIMINGS LS_COUNT_OF(timing_names)

static size_t timing_index(const char *name, size_t bytes)
{
    for (size_t i = 0; i < TIMINGS; i++)
        if (strlen(timing_names[i].name) == bytes && memcmp(timing_names[i].name, name, bytes) == 0)
            return i;
    return TIMINGS;
}

static const char *timing_name(const void *self, size_t i)
{
    (void)self;
    return timing_names[i].name;
}

/* "nbk=16:CCD=4:..." or "16:4:...". */
static bool read_timing(importer *im, const char *option, const char *values[TIMINGS])
{
    const char *at = import_value(im, option);
    for (size_t field = 0; *at; field++) {
        size_t bytes = strcspn(at, ":"), name_bytes = strcspn(at, ":="), index = field;
        const char *number = at;
        if (name_bytes < bytes) {
            char name[32];
            number += name_bytes + 1;
            index = timing_index(at, name_bytes);
            if (index == TIMINGS) {
                quote_text(at, name_bytes, name, sizeof name);
                import_fail(im, option, "there is no timing '%s'", name);
                ls_error_nearest(im->err, nearest_name(name, TIMINGS, timing_name, NULL));
                return false;
            }
        }
        if (index >= TIMINGS)
            return import_fail(im, option, "it has more than %zu numbers", TIMINGS);
        values[index] = arena_strndup(im->arena, number, (size_t)(at + bytes - number));
        if (!values[index])
            return import_no_memory(im);
        uint64_t value;
        if (parse_u64(values[index], strlen(values[index]), &value, im->err) != LS_OK) {
            ls_error_prefix(im->err, "%s", timing_names[index].name);
            return import_fail_with(im, option);
        }
        at += bytes + (at[bytes] != '\0');
    }
    return true;
}

bool import_convert_dram_timing(importer *im, const import_row *row)
{
    const char *values[TIMINGS] = { 0 };
    if (!read_timing(im, row->option, values) ||
        !import_put_fixed(im, "dram.model", "bank", "Accel-Sim simulates commands") ||
        !import_put_fixed(im, "dram.timing", "custom", "all of it is below"))
        return false;
    for (size_t i = 0; i < TIMINGS; i++) {
        const char *value = values[i] ? values[i] : timing_names[i].fallback;
        if (!value)
            return import_fail(im, row->option, "the timing '%s' is missing", timing_names[i].name);
        if (!import_put(im, timing_names[i].key, value, row->option, timing_names[i].name))
            return false;
    }
    return import_put_fixed(im, "dram.refresh", "false", "Accel-Sim's DRAM needs no refresh");
}

/* A column command moves one sector. */
bool import_convert_dram_bus(importer *im, const import_row *row)
{
    uint64_t width, burst, chips;
    if (!import_uint(im, row->option, &width) || !import_uint(im, "gpgpu_dram_burst_length", &burst) ||
        !import_uint(im, "gpgpu_n_mem_per_ctrlr", &chips))
        return false;
    if (width > 1024 || burst > 1024 || chips > 1024 || width * burst * chips != 32)
        return import_fail(im, row->option,
                           "%llu bytes, bursts of %llu and %llu chips: a column command must move 32 bytes",
                           (unsigned long long)width, (unsigned long long)burst, (unsigned long long)chips);
    return import_put_uint(im, row->key, width * chips, row->option,
                           chips == 1 ? NULL : "times -gpgpu_n_mem_per_ctrlr") &&
           import_put_uint(im, "dram.burst_length", burst, "gpgpu_dram_burst_length", NULL);
}

/* ------------------------------------------------------------------------------------------- scheduling */

/* One of a few names by number; `key` is the platform's key. */
static bool put_choice(importer *im, const import_row *row, const char *const *names, size_t count)
{
    uint64_t value;
    if (!import_uint(im, row->option, &value))
        return false;
    if (value >= count)
        return import_fail(im, row->option, "%llu is none of the %zu that can be imported",
                           (unsigned long long)value, count);
    return import_put(im, row->key, names[value], row->option, NULL);
}

bool import_convert_dram_scheduler(importer *im, const import_row *row)
{
    static const char *const names[] = { "fcfs", "frfcfs" };
    return put_choice(im, row, names, LS_COUNT_OF(names));
}

bool import_convert_dram_command_bus(importer *im, const import_row *row)
{
    static const char *const names[] = { "accelsim", "dual" };
    return put_choice(im, row, names, LS_COUNT_OF(names));
}

bool import_convert_dram_groups(importer *im, const import_row *row)
{
    static const char *const names[] = { "high", "low" };
    return put_choice(im, row, names, LS_COUNT_OF(names));
}

bool import_convert_dram_hash(importer *im, const import_row *row)
{
    static const char *const names[] = { "none", "xor", "ipoly" };
    return put_choice(im, row, names, LS_COUNT_OF(names));
}

bool import_convert_dram_turnaround(importer *im, const import_row *row)
{
    static const char *const names[] = { "true", "false" };
    return put_choice(im, row, names, LS_COUNT_OF(names));
}

/* 0 is "as many as there are". */
bool import_convert_dram_queue(importer *im, const import_row *row)
{
    uint64_t entries;
    if (!import_uint(im, row->option, &entries))
        return false;
    return import_put_uint(im, row->key, entries == 0 ? 65536 : entries, row->option,
                           entries == 0 ? "unlimited" : NULL);
}

bool import_convert_dram_write_queue(importer *im, const import_row *row)
{
    uint64_t on, sizes[3];
    if (!import_uint(im, row->option, &on))
        return false;
    if (on == 0) {
        import_note(im, "dram_write_queue_size", LS_IMPORT_QUIET, "-dram_seperate_write_queue_enable is 0");
        return import_put(im, row->key, "0", row->option, NULL);
    }
    const char *option =
        "dram_write_queue_size"; /* entries, when to start and when to stop working them off */
    return import_fields(im, option, ":", sizes, 3, NULL) &&
           import_put_uint(im, row->key, sizes[0], option, NULL) &&
           import_put_uint(im, "dram.write_queue_high", sizes[1], option, NULL) &&
           import_put_uint(im, "dram.write_queue_low", sizes[2], option, NULL);
}

/* Accel-Sim counts it in core cycles, and so can we. */
bool import_convert_dram_front(importer *im, const import_row *row)
{
    const char *option = "gpgpu_clock_domains", *clocks = import_value(im, option);
    ls_ratio core;
    char text[LS_FORMAT_BYTES];
    if (!import_convert_uint(im, row))
        return false;
    if (parse_ratio(clocks, strcspn(clocks, ":"), &core, im->err) != LS_OK)
        return import_fail_with(im, option);
    return import_put(im, "dram.front_clock_mhz", format_ratio(core, text, sizeof text), option,
                      "-dram_latency counts core cycles");
}
