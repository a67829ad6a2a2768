/* test_amd_direct_memory.c: entries of direct lists for loads and stores do what the bodies do: lanes at one address, in
 * a row, anywhere, or partly out of range, with registers that overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/exec.h"
#include "isa/amd_memory.h"

#include <stdio.h>

enum { REGISTERS = 24 };

static uint64_t seed = 5;
static uint32_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) ^ (uint32_t)(seed >> 15);
}

static const amd_direct *after_last(amd_wave *wave, const amd_direct *entry)
{
    (void)wave;
    return entry;
}

/* The addresses of lanes, as offsets: the pattern may change after 16 lanes. */
static uint32_t place_of(unsigned pattern, unsigned lane, unsigned bytes, uint32_t limit)
{
    static uint32_t base;
    if (lane == 0)
        base = any() % 1024 & ~3u;
    switch (pattern) {
    case 0:
        return base;
    case 1:
        return base + lane * bytes;
    case 2:
        return base + lane / 16 * 64;
    case 3:
        return base + lane % 16 * bytes;
    case 4:
        return base + lane * 4;
    case 5:
        return lane == 37 || lane == 21 ? 0xfffff000u : any() % 2048; /* out of range */
    case 6: /* at the end of the allocation, of LDS */
        return limit - base % 40 + lane / 16;
    default:
        return any() % 2048;
    }
}

typedef struct snapshot {
    uint32_t vgpr[REGISTERS * 64], sgpr[128];
    uint8_t buffer[RIG_BYTES], lds[RIG_LDS];
} snapshot;

static void take(rig *r, snapshot *s)
{
    memcpy(s->vgpr, r->vgpr, sizeof s->vgpr);
    memcpy(s->sgpr, r->wave.sgpr, sizeof s->sgpr);
    memcpy(s->buffer, rig_at(r, r->buffer), sizeof s->buffer);
    memcpy(s->lds, r->lds, sizeof s->lds);
}
static void give(rig *r, const snapshot *s)
{
    memcpy(r->vgpr, s->vgpr, sizeof s->vgpr);
    memcpy(r->wave.sgpr, s->sgpr, sizeof s->sgpr);
    memcpy(rig_at(r, r->buffer), s->buffer, sizeof s->buffer);
    memcpy(r->lds, s->lds, sizeof s->lds);
    r->wave.stop = AMD_RUNNING;
    r->wave.fault = (ls_fault){ .kind = LS_FAULT_NONE };
}

static void fill(rig *r, const amd_inst *in, unsigned bytes)
{
    uint8_t *at = rig_at(r, r->buffer);
    for (unsigned i = 0; i < RIG_BYTES; i++)
        at[i] = (uint8_t)any();
    for (unsigned i = 0; i < RIG_LDS; i++)
        r->lds[i] = (uint8_t)any();
    for (unsigned i = 0; i < REGISTERS * r->wave.lanes; i++)
        r->vgpr[i] = any();
    uint64_t base = r->buffer + (any() & 1 ? any() % 2048 : 0);
    memcpy(&r->wave.sgpr[4], &base, sizeof base);
    unsigned pattern = any() % 8;
    uint32_t limit = in->format == AMD_DS ? RIG_LDS : RIG_BYTES;
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        uint32_t offset = place_of(pattern, lane, bytes, limit);
        if (in->format == AMD_DS || in->flags & AMD_SADDR)
            rig_v(r, 0)[lane] = offset;
        else
            rig_address(r, 0, lane, r->buffer + offset + (any() % 64 == 0 ? 1ull << 32 : 0));
    }
}

/* True if it has an entry; both ways are taken and compared. */
static bool try_once(rig *r, amd_op op, amd_format format)
{
    static snapshot before, body, entries;
    amd_inst in = rig_inst(op, format);
    in.pc = any() % 4096;
    in.offset = format == AMD_DS ? (int)(any() % 64) : (int)(any() % 128) - 64;
    in.simm = (int)(any() % 64);
    if (format == AMD_GLOBAL && any() & 1)
        in.flags |= AMD_SADDR;
    if (format == AMD_SMEM && any() & 1) {
        in.flags |= AMD_SOFFSET_REG;
        in.src[1].code = any() & 1 ? AMD_NULL : 8;
    }
    r->wave.sgpr[8] = any() % 512;
    if (any() % 4 == 0)
        in.vdst.code = in.vdst.code == AMD_NO_OPERAND ? in.vdst.code : AMD_VGPR; /* the address itself */
    amd_direct list[2] = { { .inst = &in, .next = 8 }, { .run = after_last } };
    list[0].body = amd_exec_find_memory((amd_target)r->wave.target, r->wave.lanes, &in);
    if (!list[0].body || !amd_direct_memory((amd_target)r->wave.target, r->wave.lanes, &in, list))
        return false;
    fill(r, &in, amd_mem_bytes(&in));
    take(r, &before);
    rig_run(r, &in);
    unsigned stop = r->wave.stop;
    take(r, &body);
    give(r, &before);
    const amd_direct *end = amd_direct_run(&r->wave, list);
    take(r, &entries);
    assert_int_equal(r->wave.stop, stop);
    assert_ptr_equal(end, stop == AMD_RUNNING ? &list[1] : &list[0]);
    if (memcmp(&body, &entries, sizeof body) != 0)
        fail_msg("%s with %u lanes differs from its body", amd_op_name(op), r->wave.lanes);
    return true;
}

static void test_memory(void **state)
{
    (void)state;
    static const amd_format formats[] = { AMD_SMEM, AMD_DS, AMD_GLOBAL, AMD_FLAT };
    static const char *const prefixes[] = { "s_load_dword", "ds_", "global_", "flat_" };
    static const amd_target targets[] = { AMD_GFX1030, AMD_GFX803, AMD_GFX942 };
    bool wide = strcmp(amd_exec_variant(), "avx512") == 0;
    for (unsigned t = 0; t < 4; t++) {
        unsigned found = 0, ops = 0;
        rig r;
        rig_init(&r, targets[t % 3], t == 0 ? 32 : 64);
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            for (unsigned f = 0; f < 4; f++) {
                unsigned here = 0;
                if (strncmp(amd_op_name((amd_op)op), prefixes[f], strlen(prefixes[f])) != 0)
                    continue;
                for (unsigned n = 0; n < 40; n++)
                    here += try_once(&r, (amd_op)op, formats[f]);
                found += here;
                ops += here != 0;
            }
        }
        assert_true(ops >= (!wide ? 5 : targets[t % 3] == AMD_GFX803 ? 17 : 40));
        assert_true(found >= 5 * 40);
        rig_fini(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
