/* timing_counts.c: counts per instruction (isa/inst_counts.h) of launches, on request: their memory, and the program and
 * code object that they belong to. */
#include "runtime/driver/drv.h"
#include "runtime/timing/timing_impl.h"

ls_status timing_counts_begin(const timing *t, uint32_t gpu, ls_cu_kernel *kernel, inst_counts **out,
                              ls_error *err)
{
    if (!t->counts_instructions)
        return LS_OK;
    const amd_gpu_facts *facts = amd_gpu_get_facts(t->gpus[gpu].gpu);
    uint32_t rows = kernel->program->op_count + 1;
    *out = inst_counts_create(facts->clusters * facts->cus_per_cluster, rows);
    if (*out == NULL || !inst_counts_grow(*out, rows))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for counts of instructions");
    kernel->counts = *out;
    kernel->counts_per_cluster = facts->cus_per_cluster;
    return LS_OK;
}

void timing_counts_end(inst_counts **counts)
{
    inst_counts_destroy(*counts);
    *counts = NULL;
}

void timing_describe_source(timing_record *record, const drv_dispatch *dispatch)
{
    if (dispatch == NULL || dispatch->origin == NULL)
        return;
    record->object = dispatch->origin->module->object;
    record->base = dispatch->origin->module->base;
}
