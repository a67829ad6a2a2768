/* fuzz_accelsim.c: any bytes as a kernel file, plain or compressed, give a clear error or consistent blocks. A
 * report and the strict reading agree on whether there is an error and on the blocks read. */
#include "workload/accelsim/accelsim.h"
#include "workload/stats.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    ls_status status;
    ls_error error;
    uint64_t blocks, insts, sum; /* sum: of everything that a core would see */
} outcome;

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_block(const trace_kernel *kernel, const ls_cta *cta, outcome *o)
{
    uint64_t in_warps = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const ls_warp_stream *warp = &cta->warps[w];
        require(warp->count == 0 || (uint64_t)warp->first + warp->count <= cta->dyn_count);
        in_warps += warp->count;
    }
    require(in_warps == cta->dyn_count);
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        uint64_t addresses[32] = { 0 };
        require(dyn->inst < kernel_inst_count(kernel));
        const ls_inst *inst = &kernel_inst_table(kernel)[dyn->inst];
        require(inst->class_ < LS_CLASS_COUNT && inst->dst_count <= LS_INST_DST_MAX);
        require(inst->src_count <= LS_INST_SRC_MAX);
        if (dyn->addr != LS_ADDR_NONE) {
            bool record = ls_cta_record(cta, dyn) != NULL;
            require((dyn->addr >> 2) + (uint64_t)record <= cta->addr_count);
            uint64_t words = ls_cta_words(cta, dyn);
            require((dyn->addr >> 2) + words <= cta->addr_count);
            require(!record || cta_record_is_valid(ls_cta_record(cta, dyn), words, dyn->mask));
            ls_cta_addresses(cta, dyn, addresses);
        }
        for (int lane = 0; lane < 32; lane++)
            o->sum = o->sum * 31 + addresses[lane];
        o->sum = o->sum * 31 + dyn->mask + inst->pc * 7 + inst->opcode;
    }
    o->blocks++;
    o->insts += cta->dyn_count;
}

static outcome read_kernel(const uint8_t *data, size_t size, acc_report *report)
{
    const trace_options options = { 0 };
    outcome o = { 0 };
    trace_kernel *kernel;
    ls_cta cta = { 0 };
    bool end = false;
    o.status = acc_open_memory("fuzz", data, size, &options, report, &kernel, &o.error);
    if (o.status != LS_OK) {
        require(kernel == NULL);
        return o;
    }
    while (!end) {
        o.status = kernel_next_cta(kernel, &cta, &end, &o.error);
        if (o.status != LS_OK)
            break;
        if (!end)
            check_block(kernel, &cta, &o);
    }
    for (uint32_t i = 0; i < kernel_inst_count(kernel); i++) {
        inst_words text;
        require(kernel->ops->text(kernel, i, &text) && text.body[0] != '\0');
    }
    kernel_close(kernel);
    ls_cta_fini(&cta);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acc_report report = { .limit = 5 };
    outcome strict = read_kernel(data, size, NULL), lenient = read_kernel(data, size, &report);
    uint64_t errors = report.by_severity[ACC_ERROR];
    if (strict.status == LS_OK) {
        require(lenient.status == LS_OK && errors == 0);
        require(lenient.blocks == strict.blocks && lenient.insts == strict.insts && lenient.sum == strict.sum);
    } else {
        require(strict.error.what[0] != '\0' && !strchr(strict.error.what, '\n'));
        require(strict.status != LS_ERR_INTERNAL && strict.status != LS_ERR_CHECK);
        /* A file that could not be opened at all has no report. */
        require(errors > 0 || (lenient.status != LS_OK && lenient.status != LS_ERR_CHECK));
    }
    acc_report_fini(&report);
    return 0;
}
