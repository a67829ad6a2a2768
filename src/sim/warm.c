/* warm.c: see warm.h.
 *
 * A key is in the table if its value is only looked at when something new begins: an instruction issues, a command goes to
 * DRAM, a kernel is launched. Sizes, widths, policies and structure are not: saved state is made of them. */
#include "sim/warm.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef struct warm_key {
    const char *pattern;
    bool decoded; /* core.alu issue keeps it with each instruction that was decoded */
} warm_key;

static const warm_key keys[] = {
    { "dispatch.launch_latency_cycles", false },
    { "dispatch.block_latency_cycles", false },
    { "core.branch_cycles", false },
    { "core.warp_start_cycles", false },
    { "core.cold_start_cycles", false },
    { "core.class.*.latency_cycles", true },
    { "core.class.*.interval_cycles", true },
    { "core.tensor.*", true },
    { "core.tlb.l2_latency_cycles", false },
    { "core.tlb.walk_latency_cycles", false },
    { "l2.delay_cycles", false },
    { "dram.ccd_cycles", false },
    { "dram.ccdl_cycles", false },
    { "dram.rrd_cycles", false },
    { "dram.rrdl_cycles", false },
    { "dram.rcd_cycles", false },
    { "dram.rcdwr_cycles", false },
    { "dram.ras_cycles", false },
    { "dram.rp_cycles", false },
    { "dram.rc_cycles", false },
    { "dram.cdlr_cycles", false },
    { "dram.cdlrl_cycles", false },
    { "dram.wr_cycles", false },
    { "dram.rtpl_cycles", false },
    { "dram.faw_cycles", false },
    { "command.launch_cycles", false }, /* AMD from here on */
    { "command.finish_cycles", false },
    { "command.group_cycles", false },
    { "command.wave_cycles", false },
    { "dma.copy_in_cycles", false },
    { "dma.copy_out_cycles", false },
    { "dma.copy_cycles", false },
    { "mmu.walk_latency_cycles", false },
    { "cu.branch_cycles", false },
    { "cu.barrier_cycles", false },
    { "cu.lds_latency_cycles", false },
};

static const char *key_at(const void *self, size_t i)
{
    (void)self;
    return keys[i].pattern;
}

/* Keys of a system begin with the GPUs that they are for: "gpus.", "gpu0-2.". */
static const char *own_name(const char *key)
{
    const char *dot = strchr(key, '.');
    return strncmp(key, "gpu", 3) == 0 && dot != NULL ? dot + 1 : key;
}

static bool has_decoded(const platform_config *config)
{
    for (size_t i = 0; i < config_part_count(config); i++)
        if (has_decoded(config_part(config, i)))
            return true;
    const config_value *alu = config_find(config, "core.alu");
    return alu != NULL && strcmp(alu->text, "issue") == 0;
}

static ls_status check_key(const platform_config *config, const char *key, ls_error *err)
{
    const char *name = own_name(key);
    for (size_t i = 0; i < LS_COUNT_OF(keys); i++) {
        if (!glob_match(keys[i].pattern, name))
            continue;
        if (keys[i].decoded && has_decoded(config))
            return ls_fail(
                err, LS_ERR_UNSUPPORTED,
                "key '%s' cannot change at a checkpoint with core.alu issue: cores keep it with the "
                "instructions that they have decoded",
                key);
        return LS_OK;
    }
    ls_fail(
        err, LS_ERR_UNSUPPORTED,
        "key '%s' cannot change at a checkpoint: saved state depends on it (docs/scale.md lists the keys that can)",
        key);
    return err ? ls_error_nearest(err, nearest_name(name, LS_COUNT_OF(keys), key_at, NULL))
               : LS_ERR_UNSUPPORTED;
}

ls_status warm_check(const platform_config *config, const char *const *sets, size_t count, ls_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char key[160];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(sets[i], "="), sets[i]);
        ls_status status = check_key(config, key, err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}
