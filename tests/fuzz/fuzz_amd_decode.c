/* fuzz_amd_decode.c: any bytes as AMD instructions of every target. Nothing is read past the end, every record
 * can be printed, its operands are registers that exist, and skipping always advances. */
#include "isa/amd/amd.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_operand(const amd_operand *operand)
{
    if (operand->code == AMD_NO_OPERAND)
        return;
    unsigned last = operand->code + (operand->dwords ? operand->dwords - 1u : 0u);
    unsigned end = operand->code >= AMD_AGPR ? 767 : 511;
    if (operand->code >= AMD_VGPR ? last > end : operand->code < 128 && last > 127)
        abort();
}

static void check_record(amd_target target, unsigned lanes, const amd_inst *inst)
{
    char text[512], cut[16];
    size_t length = amd_print(target, lanes, inst, text, sizeof text);
    if (length == 0 || length >= sizeof text || strlen(text) != length || text[0] == '<')
        abort();
    if (amd_print(target, lanes, inst, cut, sizeof cut) != length || strncmp(cut, text, sizeof cut - 1) != 0)
        abort();
    if (!amd_op_exists(target, (amd_op)inst->op) || inst->class_ >= AMD_CLASS_COUNT || inst->src_count > 4)
        abort();
    check_operand(&inst->vdst);
    check_operand(&inst->sdst);
    for (unsigned i = inst->flags & AMD_NSA ? 1 : 0; i < 4; i++) /* NSA: the addresses are not adjacent */
        check_operand(&inst->src[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    amd_target target = (amd_target)(data[0] % AMD_TARGET_COUNT);
    unsigned lanes = !amd_target_is_gfx10(target) || data[0] & 0x80 ? 64 : 32;
    data++;
    size--;
    /* A copy of exactly these bytes: a sanitizer detects a read past them. */
    uint8_t *code = malloc(size ? size : 1);
    if (!code)
        return 0;
    memcpy(code, data, size);
    for (size_t at = 0; at < size;) {
        amd_inst inst;
        bool known = amd_decode(target, lanes, code + at, size - at, &inst);
        if (inst.bytes == 0 || inst.bytes > size - at || inst.bytes > 20)
            abort();
        if (known)
            check_record(target, lanes, &inst);
        at += inst.bytes;
    }
    free(code);
    return 0;
}
