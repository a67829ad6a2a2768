/* import_convert.c: converters of the import for cores: plain numbers, occupancy, schedulers, operand
 * collection, and the classes of instructions with their units. */
#include "isa/inst.h"
#include "platform/import_rows.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------- plain values */

bool import_convert_uint(importer *im, const import_row *row)
{
    uint64_t value;
    return import_uint(im, row->option, &value) && import_put_uint(im, row->key, value, row->option, NULL);
}

bool import_convert_kib(importer *im, const import_row *row)
{
    uint64_t bytes;
    if (!import_uint(im, row->option, &bytes))
        return false;
    if (bytes % 1024 != 0)
        return import_fail(im, row->option, "%llu bytes are no whole number of KiB",
                           (unsigned long long)bytes);
    return import_put_uint(im, row->key, bytes / 1024, row->option, NULL);
}

static bool read_flag(importer *im, const char *option, bool *out)
{
    uint64_t value;
    if (!import_uint(im, option, &value))
        return false;
    if (value > 1)
        return import_fail(im, option, "%llu is neither 0 nor 1", (unsigned long long)value);
    *out = value == 1;
    return true;
}

bool import_convert_flag(importer *im, const import_row *row)
{
    bool value = false;
    return read_flag(im, row->option, &value) &&
           import_put(im, row->key, value ? "true" : "false", row->option, NULL);
}

bool import_convert_switch(importer *im, const import_row *row)
{
    bool value = false;
    return read_flag(im, row->option, &value) &&
           (!value || import_put(im, row->key, "true", row->option, NULL));
}

/* -------------------------------------------------------------------------------------------- occupancy */

bool import_convert_cores(importer *im, const import_row *row)
{
    uint64_t clusters, per_cluster;
    if (!import_uint(im, row->option, &clusters) ||
        !import_uint(im, "gpgpu_n_cores_per_cluster", &per_cluster))
        return false;
    if (per_cluster != 1)
        import_note(im, "gpgpu_n_cores_per_cluster", LS_IMPORT_MISSING,
                    "each core has its own port to the network");
    if (clusters > 4096 || per_cluster > 4096)
        return import_fail(im, row->option, "%llu clusters of %llu cores are too many",
                           (unsigned long long)clusters, (unsigned long long)per_cluster);
    return import_put_uint(im, row->key, clusters * per_cluster, row->option,
                           per_cluster == 1 ? NULL : "times -gpgpu_n_cores_per_cluster");
}

bool import_convert_warps(importer *im, const import_row *row)
{
    uint64_t fields[2];
    if (!import_fields(im, row->option, ":", fields, 2, NULL))
        return false;
    if (fields[1] != 32)
        return import_fail(im, row->option, "warps have 32 threads, not %llu", (unsigned long long)fields[1]);
    if (fields[0] % 32 != 0)
        return import_fail(im, row->option, "%llu threads are no whole number of warps",
                           (unsigned long long)fields[0]);
    return import_put_uint(im, row->key, fields[0] / 32, row->option, "threads / 32");
}

bool import_convert_concurrency(importer *im, const import_row *row)
{
    bool on = false;
    uint64_t kernels = 1;
    if (!read_flag(im, row->option, &on) || (on && !import_uint(im, "gpgpu_max_concurrent_kernel", &kernels)))
        return false;
    if (!on)
        import_note(im, "gpgpu_max_concurrent_kernel", LS_IMPORT_QUIET,
                    "without -gpgpu_concurrent_kernel_sm kernels run one after the other");
    const char *how = on ? "and -gpgpu_max_concurrent_kernel" : NULL;
    if (!import_put_uint(im, row->key, kernels, row->option, how))
        return false;
    /* So many headers are read ahead, and a kernel gets blocks when the one before it has none left. */
    return kernels <= 1 || (import_put_uint(im, "dispatch.window", kernels, row->option, how) &&
                            import_put(im, "dispatch.sharing", "leftover", row->option, NULL));
}

bool import_convert_spread(importer *im, const import_row *row)
{
    (void)row;
    return import_put_fixed(im, "dispatch.spread", "true", "Accel-Sim spreads small grids over all cores");
}

/* ------------------------------------------------------------------------------------------- schedulers */

/* "two_level_active:6:0:1": active warps, inner and outer policy (0 round robin, 1 greedy then oldest). */
static bool two_level(importer *im, const import_row *row, const char *value)
{
    uint64_t fields[3] = { 0 };
    const char *at = strchr(value, ':');
    if (at) {
        size_t bytes = strcspn(at + 1, ":");
        if (parse_u64(at + 1, bytes, &fields[0], NULL) != LS_OK)
            return import_fail(im, row->option, "no number of active warps after 'two_level_active:'");
        return import_put(im, row->key, "two-level", row->option, NULL) &&
               import_put_uint(im, "core.scheduler.active", fields[0], row->option, NULL);
    }
    return import_fail(im, row->option, "no number of active warps after 'two_level_active'");
}

bool import_convert_scheduler(importer *im, const import_row *row)
{
    static const char *const names[][2] = { { "lrr", "lrr" }, { "gto", "gto" }, { "old", "oldest" } };
    const char *value = import_value(im, row->option);
    if (starts_with(value, "two_level_active"))
        return two_level(im, row, value);
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        if (strcmp(value, names[i][0]) == 0)
            return import_put(im, row->key, names[i][1], row->option, NULL);
    if (strcmp(value, "rrr") != 0 && !starts_with(value, "warp_limiting")) {
        char quoted[64];
        return import_fail(im, row->option, "Accel-Sim has no scheduler '%s'",
                           quote_text(value, strlen(value), quoted, sizeof quoted));
    }
    import_note(im, row->option, LS_IMPORT_MISSING, "there is no such scheduler: lrr stands for it");
    return import_put(im, row->key, "lrr", row->option, "the nearest one");
}

/* ----------------------------------------------------------------------------------- operand collection */

/* A number per core, shared out to its schedulers. */
bool import_convert_per_sub_core(importer *im, const import_row *row)
{
    uint64_t value, schedulers;
    if (!import_uint(im, row->option, &value) || !import_uint(im, "gpgpu_num_sched_per_core", &schedulers))
        return false;
    if (schedulers == 0 || value % schedulers != 0 || value == 0)
        return import_fail(im, row->option, "%llu cannot be shared out to %llu schedulers",
                           (unsigned long long)value, (unsigned long long)schedulers);
    return import_put_uint(im, row->key, value / schedulers, row->option, "/ -gpgpu_num_sched_per_core");
}

/* Registers between the stages: ours are one per unit and scheduler, as with the width of all schedulers. */
bool import_convert_widths(importer *im, const import_row *row)
{
    enum { WIDTHS = 13, WRITE_BACK = 10 };
    uint64_t widths[WIDTHS], schedulers;
    if (!import_fields(im, row->option, ",", widths, WIDTHS, NULL) ||
        !import_uint(im, "gpgpu_num_sched_per_core", &schedulers))
        return false;
    bool other = false;
    for (size_t i = 0; i < WIDTHS; i++)
        other |= i != WRITE_BACK && widths[i] != schedulers;
    if (other)
        import_note(im, row->option, LS_IMPORT_MISSING,
                    "every unit has one register per scheduler before and after operand collection");
    return import_put_uint(im, row->key, widths[WRITE_BACK], row->option, "EX_WB");
}

/* One port for every collector. */
bool import_convert_ports(importer *im, const import_row *row)
{
    uint64_t ports, units;
    if (!import_uint(im, row->option, &ports) || !import_uint(im, row->key, &units))
        return false;
    if (ports != units)
        import_note(im, row->option, LS_IMPORT_MISSING, "every operand collector has its own port");
    return true;
}

/* ------------------------------------------------------------------------------------------------ units */

/* One unit of each kind per scheduler; integer and double-precision units may be missing. */
bool import_convert_units(importer *im, const import_row *row)
{
    uint64_t units, schedulers;
    if (!import_uint(im, row->option, &units) || !import_uint(im, "gpgpu_num_sched_per_core", &schedulers))
        return false;
    bool may_miss = strcmp(row->key, "optional") == 0;
    if (units != schedulers && !(may_miss && units == 0))
        import_note(im, row->option, LS_IMPORT_MISSING, "every scheduler has one such unit");
    return true;
}

/* Enabled, units, largest latency, width before and after operand collection; then a name. */
#define UNIT_FIELDS 5

static bool read_special_unit(importer *im, const char *option, uint64_t fields[UNIT_FIELDS])
{
    const char *name;
    if (!import_fields(im, option, ",", fields, UNIT_FIELDS, &name))
        return false;
    return fields[0] <= 1 ? true : import_fail(im, option, "its first field is neither 0 nor 1");
}

bool import_convert_special_unit(importer *im, const import_row *row)
{
    uint64_t fields[UNIT_FIELDS], schedulers;
    if (!read_special_unit(im, row->option, fields) ||
        !import_uint(im, "gpgpu_num_sched_per_core", &schedulers))
        return false;
    if (fields[0] == 1 && (fields[1] != schedulers || fields[3] != schedulers || fields[4] != schedulers))
        import_note(im, row->option, LS_IMPORT_MISSING,
                    "every scheduler has one such unit and one register before and after operand collection");
    return true;
}

/* ---------------------------------------------------------------------------------------------- classes */

/* From which of Accel-Sim's classes ours take their latency and interval. Opcode by opcode its classes are in
 * isa/sass/opcodes.def; where one of our classes has opcodes of two of its classes, the common ones count. */
typedef enum class_origin {
    FROM_NOTHING,
    FROM_INT,
    FROM_CONTROL, /* the integer unit with 1,1: classes for which Accel-Sim has no latency */
    FROM_SP,
    FROM_SP_HALF, /* twice the rate of single precision */
    FROM_DP,
    FROM_SFU,
    FROM_TENSOR,
    FROM_BRANCH,
    FROM_TEXTURE,
    FROM_UNIFORM,
    FROM_MEMORY,
} class_origin;

static const class_origin class_origins[LS_CLASS_COUNT] = {
    [LS_CLASS_fp32] = FROM_SP,
    [LS_CLASS_half] = FROM_SP_HALF,
    [LS_CLASS_half_mul] = FROM_SP,
    [LS_CLASS_fp64] = FROM_DP,
    [LS_CLASS_int_alu] = FROM_INT,
    [LS_CLASS_int_mul] = FROM_INT,
    [LS_CLASS_bit] = FROM_INT,
    [LS_CLASS_convert] = FROM_INT,
    [LS_CLASS_move] = FROM_INT,
    [LS_CLASS_predicate] = FROM_INT,
    [LS_CLASS_shuffle] = FROM_INT,
    [LS_CLASS_vote] = FROM_INT,
    [LS_CLASS_special_reg] = FROM_INT,
    [LS_CLASS_const_load] = FROM_INT,
    [LS_CLASS_sfu] = FROM_SFU,
    [LS_CLASS_tensor_half] = FROM_TENSOR,
    [LS_CLASS_tensor_int] = FROM_TENSOR,
    [LS_CLASS_tensor_bit] = FROM_TENSOR,
    [LS_CLASS_tensor_double] = FROM_TENSOR,
    [LS_CLASS_tensor_group] = FROM_TENSOR,
    [LS_CLASS_uniform] = FROM_UNIFORM,
    [LS_CLASS_branch] = FROM_BRANCH,
    [LS_CLASS_texture] = FROM_TEXTURE,
    [LS_CLASS_surface] = FROM_INT,
    [LS_CLASS_load] = FROM_MEMORY,
    [LS_CLASS_store] = FROM_MEMORY,
    [LS_CLASS_atomic] = FROM_MEMORY,
    [LS_CLASS_async_copy] = FROM_MEMORY,
    [LS_CLASS_barrier] = FROM_CONTROL,
    [LS_CLASS_fence] = FROM_MEMORY,
    [LS_CLASS_depbar] = FROM_INT,
    [LS_CLASS_cache_control] = FROM_INT,
    [LS_CLASS_exit] = FROM_CONTROL,
    [LS_CLASS_misc] = FROM_INT,
};

static const char *const class_names[LS_CLASS_COUNT] = {
#define CLASS(name_, help_) [LS_CLASS_##name_] = #name_,
#include "lockstep/classes.def"
#undef CLASS
};

/* The keys of every class of one origin; option NULL: `how` says where they come from. */
static bool put_classes(importer *im, class_origin origin, const char *unit, uint64_t latency,
                        uint64_t interval, const char *option, const char *how)
{
    char latency_text[24], interval_text[24];
    snprintf(latency_text, sizeof latency_text, "%llu", (unsigned long long)latency);
    snprintf(interval_text, sizeof interval_text, "%llu", (unsigned long long)interval);
    const import_pair pairs[] = { { "unit", unit },
                                  { "latency_cycles", latency_text },
                                  { "interval_cycles", interval_text } };
    for (size_t i = 0; i < LS_CLASS_COUNT; i++) {
        char section[64];
        snprintf(section, sizeof section, "core.class.%s", class_names[i]);
        if (class_origins[i] == origin &&
            !import_put_pairs(im, section, pairs, LS_COUNT_OF(pairs), option, how))
            return false;
    }
    return true;
}

static bool read_latency(importer *im, const char *option, uint64_t *latency, uint64_t *interval)
{
    uint64_t fields[2];
    if (!import_fields(im, option, ",", fields, 2, NULL))
        return false;
    if (fields[0] == 0)
        return import_fail(im, option, "its latency is 0");
    *latency = fields[0];
    *interval = fields[1] > 0 ? fields[1] : 1;
    return true;
}

/* Integer instructions use the single-precision unit of a GPU that has no other. */
static bool integer_unit(importer *im, const char **unit, const char **how)
{
    uint64_t units;
    if (!import_uint(im, "gpgpu_num_int_units", &units))
        return false;
    *unit = units > 0 ? "int" : "sp";
    *how = units > 0 ? NULL : "-gpgpu_num_int_units is 0";
    return true;
}

static bool double_unit(importer *im, const char **unit, const char **how)
{
    uint64_t units;
    if (!import_uint(im, "gpgpu_num_dp_units", &units))
        return false;
    *unit = units > 0 ? "dp" : "sfu";
    *how = units > 0 ? NULL : "-gpgpu_num_dp_units is 0";
    return true;
}

/* The specialized units, by number: the opcode maps use the first four. */
static const struct special {
    class_origin origin;
    const char *unit;
    const char *unit_option, *latency_option;
} specials[] = {
    { FROM_BRANCH, "branch", "specialized_unit_1", "trace_opcode_latency_initiation_spec_op_1" },
    { FROM_TEXTURE, "texture", "specialized_unit_2", "trace_opcode_latency_initiation_spec_op_2" },
    { FROM_TENSOR, "tensor", "specialized_unit_3", "trace_opcode_latency_initiation_spec_op_3" },
    { FROM_UNIFORM, "uniform", "specialized_unit_4", "trace_opcode_latency_initiation_spec_op_4" },
};

/* Accel-Sim's behaviour without the unit. Branches and textures of old GPUs are integer instructions. Old
 * tensor instructions have an option of their own. Without a uniform datapath it would stop at the first
 * opcode. */
static bool put_without_unit(importer *im, const struct special *special)
{
    uint64_t latency = 0, interval = 0;
    const char *unit = NULL, *how = NULL, *option = "trace_opcode_latency_initiation_int";
    char comment[160];
    if (special->origin == FROM_UNIFORM)
        return put_classes(im, FROM_UNIFORM, "uniform", 4, 1, NULL,
                           "chosen: there is no -specialized_unit_4; 4,1 where Accel-Sim has one");
    if (special->origin == FROM_TENSOR) {
        option = "trace_opcode_latency_initiation_tensor";
        unit = "tensor";
    } else if (!integer_unit(im, &unit, &how)) {
        return false;
    }
    if (!read_latency(im, option, &latency, &interval))
        return false;
    snprintf(comment, sizeof comment, "there is no -%s", special->unit_option);
    return put_classes(im, special->origin, unit, latency, interval, option, comment);
}

static bool put_special(importer *im, const struct special *special)
{
    uint64_t fields[UNIT_FIELDS], latency = 0, interval = 0;
    if (!read_special_unit(im, special->unit_option, fields))
        return false;
    if (fields[0] == 0)
        return put_without_unit(im, special);
    if (special->origin == FROM_TENSOR)
        import_note(im, "trace_opcode_latency_initiation_tensor", LS_IMPORT_QUIET,
                    "tensor instructions go to -specialized_unit_3");
    return read_latency(im, special->latency_option, &latency, &interval) &&
           put_classes(im, special->origin, special->unit, latency, interval, special->latency_option, NULL);
}

bool import_convert_classes(importer *im, const import_row *row)
{
    uint64_t latency = 0, interval = 0;
    const char *unit = NULL, *how = NULL;
    for (size_t i = 0; i < LS_COUNT_OF(specials); i++)
        if (strcmp(row->key, specials[i].unit) == 0)
            return put_special(im, &specials[i]);
    if (!read_latency(im, row->option, &latency, &interval))
        return false;
    if (strcmp(row->key, "sp") == 0)
        return put_classes(im, FROM_SP, "sp", latency, interval, row->option, NULL) &&
               put_classes(im, FROM_SP_HALF, "sp", latency, interval > 1 ? interval / 2 : 1, row->option,
                           "at twice the rate");
    if (strcmp(row->key, "sfu") == 0)
        return put_classes(im, FROM_SFU, "sfu", latency, interval, row->option, NULL);
    if (strcmp(row->key, "dp") == 0)
        return double_unit(im, &unit, &how) &&
               put_classes(im, FROM_DP, unit, latency, interval, row->option, how);
    return integer_unit(im, &unit, &how) &&
           put_classes(im, FROM_INT, unit, latency, interval, row->option, how) &&
           put_classes(im, FROM_CONTROL, unit, 1, 1, NULL, "Accel-Sim has no latency for this class: 1,1");
}

bool import_convert_memory_classes(importer *im, const import_row *row)
{
    (void)row;
    return put_classes(im, FROM_MEMORY, "memory", 1, 1, NULL, "the load/store unit; its latencies are below");
}

/* --------------------------------------------------------------------------------------------- the rest */

bool import_convert_coalescing(importer *im, const import_row *row)
{
    uint64_t arch;
    if (!import_uint(im, row->option, &arch))
        return false;
    if (arch < 40)
        import_note(im, row->option, LS_IMPORT_MISSING, "accesses are coalesced into 32-byte sectors");
    return true;
}

/* Without perfect caches Accel-Sim has one instruction cache per core and no second constant cache. */
bool import_convert_fetch(importer *im, const import_row *row)
{
    bool perfect = false;
    if (!read_flag(im, row->option, &perfect))
        return false;
    if (!perfect)
        import_note(im, row->option, LS_IMPORT_MISSING,
                    "Accel-Sim's instruction and constant caches are not ours (core.fetch, core.constant)");
    const char *how = perfect ? NULL : "instructions and constants are always there";
    return import_put(im, row->key, "perfect", row->option, how) &&
           import_put(im, "core.constant", "perfect", row->option, how) &&
           import_put_fixed(im, "core.translation", "none", "Accel-Sim does not translate addresses");
}

/* Caches that are not looked up as long as they always hit. */
bool import_convert_perfect(importer *im, const import_row *row)
{
    bool perfect = false;
    if (!read_flag(im, "gpgpu_perfect_inst_const_cache", &perfect))
        return false;
    import_note(im, row->option, perfect ? LS_IMPORT_QUIET : LS_IMPORT_MISSING,
                perfect ? "-gpgpu_perfect_inst_const_cache 1: it always hits"
                        : "it always hits here; core.icache and core.ccache have two levels");
    return true;
}

bool import_convert_core_constants(importer *im, const import_row *row)
{
    (void)row;
    return import_put_fixed(im, "core.register_unit", "4",
                            "Accel-Sim counts the registers of a thread in fours") &&
           import_put_fixed(im, "core.track_spans", "false",
                            "Accel-Sim sees only the first register of a vector load") &&
           import_put_fixed(im, "core.accelsim_rules", "true",
                            "zero register, L1 bypass, access widths and barriers") &&
           import_put_fixed(im, "core.shared_first_word", "true",
                            "Accel-Sim looks at the first word of a wide access") &&
           import_put_fixed(im, "core.forward_cycles", "0", "Accel-Sim does not forward results");
}
