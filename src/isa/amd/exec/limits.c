/* limits.c: the numbers come from LLVM's AMDGPU usage document (kernel descriptor, code object v3 and later)
 * and AMD's GCN3 and RDNA instruction set manuals. */
#include "isa/amd/exec/limits.h"

#include "isa/amd/exec/start.h"

/* --- registers ------------------------------------------------------------------------------------------ */

unsigned amd_limits_vgprs(const amd_kernel *kernel, unsigned lanes)
{
    if (amd_target_is_gfx9(kernel->target))
        return ((kernel->rsrc1 & 0x3f) + 1) * 8;
    unsigned encoded = ((kernel->rsrc1 & 0x3f) + 1) * (lanes == 32 ? 8 : 4);
    unsigned granule = (lanes == 32 ? 8u : 4u) * (kernel->target == AMD_GFX1030 ? 2u : 1u);
    return (encoded + granule - 1) / granule * granule;
}

unsigned amd_limits_first_agpr(const amd_kernel *kernel, unsigned vgprs)
{
    unsigned first = ((kernel->rsrc3 & 0x3f) + 1) * 4; /* ACCUM_OFFSET */
    return amd_target_is_gfx9(kernel->target) && first < vgprs ? first : vgprs;
}

unsigned amd_limits_sgprs(const amd_kernel *kernel)
{
    if (amd_target_is_gfx9(kernel->target))
        return AMD_FLAT_SCRATCH_LO;
    return amd_target_is_gfx10(kernel->target) ? AMD_VCC_LO : ((kernel->rsrc1 >> 6 & 15) + 1) * 8;
}

unsigned amd_limits_user_sgprs(const amd_kernel *kernel)
{
    static const uint8_t registers[7] = { 4, 2, 2, 2, 2, 2, 1 };
    unsigned count = 0;
    for (unsigned i = 0; i < 7; i++)
        count += kernel->properties >> i & 1 ? registers[i] : 0;
    return count;
}

/* VGPRs are those of the descriptor; scalar registers only those with a number: VCC and the like are always
 * there. */
static bool stray_range(const amd_program *program, unsigned code, unsigned dwords, unsigned *out)
{
    const amd_kernel *kernel = &program->kernel;
    unsigned vgprs = program->vgprs - program->accumulation, sgprs = amd_limits_sgprs(kernel), last;
    if (dwords == 0)
        return false;
    last = code + dwords - 1;
    if (code >= AMD_AGPR && code < AMD_AGPR + 256 && last - AMD_AGPR >= program->accumulation) {
        *out = code - AMD_AGPR >= program->accumulation ? code : AMD_AGPR + program->accumulation;
        return true;
    }
    if (code >= AMD_VGPR && code < AMD_VGPR + 256 && last - AMD_VGPR >= vgprs) {
        *out = code - AMD_VGPR >= vgprs ? code : AMD_VGPR + vgprs;
        return true;
    }
    if (code < AMD_FLAT_SCRATCH_LO && last < AMD_VCC_LO && last >= sgprs) {
        *out = code >= sgprs ? code : sgprs;
        return true;
    }
    return false;
}

bool amd_limits_stray(const amd_program *program, const amd_inst *inst, unsigned *code)
{
    const amd_operand *operands[] = { &inst->vdst,   &inst->sdst,   &inst->src[0],
                                      &inst->src[1], &inst->src[2], &inst->src[3] };
    bool separate = inst->format == AMD_MIMG && (inst->flags & AMD_NSA) != 0;
    for (unsigned i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        unsigned dwords =
            separate && operands[i] == &inst->src[0] && operands[i]->dwords != 0 ? 1 : operands[i]->dwords;
        if (operands[i]->code != AMD_NO_OPERAND && stray_range(program, operands[i]->code, dwords, code))
            return true;
    }
    for (unsigned i = 0; separate && i + 1 < inst->src[0].dwords && i < sizeof inst->nsa; i++)
        if (stray_range(program, AMD_VGPR + inst->nsa[i], 1, code))
            return true;
    return false;
}

void amd_limits_body(amd_wave *wave, const amd_inst *inst)
{
    (void)inst;
    wave->fault = (ls_fault){ .kind = LS_FAULT_REGISTER };
    wave->stop = AMD_FAULTED;
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

static ls_status refuse(const amd_kernel *kernel, const char *what, uint64_t count, uint64_t most,
                        ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "kernel %s: its descriptor asks for %llu %s; %s has at most %llu",
                   kernel->name, (unsigned long long)count, what, amd_target_name(kernel->target),
                   (unsigned long long)most);
}

/* SGPRs that the dispatcher fills after the user SGPRs: work-group numbers, work-group info, scratch
 * offset. */
static unsigned system_sgprs(const amd_kernel *kernel)
{
    unsigned count = kernel->rsrc2 & 1;
    for (unsigned bit = 7; bit <= 10; bit++)
        count += kernel->rsrc2 >> bit & 1;
    return count;
}

ls_status amd_limits_kernel(const amd_kernel *kernel, unsigned lanes, ls_error *err)
{
    bool gfx9 = amd_target_is_gfx9(kernel->target);
    unsigned vgprs = ((kernel->rsrc1 & 0x3f) + 1) * (lanes == 32 || gfx9 ? 8 : 4);
    unsigned sgprs = amd_limits_sgprs(kernel), vgprs_most = gfx9 ? AMD_GFX9_VGPRS_MAX : AMD_VGPRS_MAX;
    unsigned user = kernel->rsrc2 >> 1 & 0x1f, filled = amd_limits_user_sgprs(kernel);
    uint32_t scratch_most = AMD_SCRATCH_WAVE_MAX / lanes & ~15u;
    if (vgprs > vgprs_most)
        return refuse(kernel, "vector registers", vgprs, vgprs_most, err);
    if (kernel->target == AMD_GFX803 && sgprs > AMD_GFX803_SGPRS_MAX)
        return refuse(kernel, "scalar registers", sgprs, AMD_GFX803_SGPRS_MAX, err);
    if (user > AMD_USER_SGPRS_MAX)
        return refuse(kernel, "user SGPRs", user, AMD_USER_SGPRS_MAX, err);
    if (filled > user)
        return ls_fail(err, LS_ERR_INPUT,
                       "kernel %s: its descriptor has %u user SGPRs, but its properties fill %u", kernel->name,
                       user, filled);
    if (user + system_sgprs(kernel) > sgprs)
        return ls_fail(err, LS_ERR_INPUT,
                       "kernel %s: it starts with %u scalar registers filled, but its descriptor asks for %u",
                       kernel->name, user + system_sgprs(kernel), sgprs);
    if ((kernel->rsrc2 >> 11 & 3) == 3)
        return ls_fail(err, LS_ERR_INPUT,
                       "kernel %s: its descriptor asks for 4 dimensions of work-item ids; there are at most 3",
                       kernel->name);
    if (kernel->lds_bytes > AMD_LDS_MAX)
        return refuse(kernel, "bytes of LDS", kernel->lds_bytes, AMD_LDS_MAX, err);
    if (kernel->scratch_bytes > scratch_most)
        return refuse(kernel, "bytes of private memory per work-item", kernel->scratch_bytes, scratch_most,
                      err);
    return LS_OK;
}

/* --- launches ------------------------------------------------------------------------------------------- */

ls_status amd_limits_launch(const amd_program *program, const uint32_t grid[3], const uint32_t group[3],
                            uint64_t lds_bytes, ls_error *err)
{
    uint64_t items = 1, groups = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (grid[i] == 0 || group[i] == 0)
            return ls_fail(err, LS_ERR_USAGE, "kernel %s: dimension %u of the %s is 0", program->name, i + 1,
                           grid[i] == 0 ? "grid" : "work-group");
        items *= group[i];
        if (items > AMD_GROUP_MAX)
            return ls_fail(err, LS_ERR_USAGE, "kernel %s: a work-group has at most %u work-items, not %llu",
                           program->name, AMD_GROUP_MAX, (unsigned long long)items);
        uint64_t along = ((uint64_t)grid[i] + group[i] - 1) / group[i];
        if (groups > UINT64_MAX / 2 / along)
            return ls_fail(err, LS_ERR_USAGE, "kernel %s: too many work-groups", program->name);
        groups *= along;
    }
    if (lds_bytes > AMD_LDS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "kernel %s: %llu bytes of LDS; a work-group has at most %u",
                       program->name, (unsigned long long)lds_bytes, AMD_LDS_MAX);
    return LS_OK;
}
