/* test_amd_model_image.c: every image instruction against a model that reads its mnemonic: the contents of
 * registers (offsets, bias, gradients, coordinates, level), the texels, and the effect on them. Images have
 * one level here, so that bias, gradients and level change nothing but the places of the coordinates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/image.h"
#include "isa/amd_memory.h"
#include "isa/model/atomics.h"

#include <stdio.h>

enum { WIDTH = 16, HEIGHT = 8 };

static uint32_t texels[HEIGHT][WIDTH];
static uint64_t seed;
static size_t covered[AMD_TARGET_COUNT][AMD_OP_COUNT];

static uint32_t any_word(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) ^ (uint32_t)(seed >> 11);
}
static uint32_t single(float value)
{
    uint32_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}
static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Texels are small integers as floats, so that every instruction may see them as either. */
static void picture(rig *r)
{
    amd_image image = {
        .address = r->buffer, .kind = AMD_IMAGE_2D, .width = WIDTH, .height = HEIGHT, .depth = 1
    };
    amd_sampler sampler = { .wrap = { 2, 2, 2 }, .unnormalized = true };
    image.texel = amd_format_gcn3(4, AMD_NUMBER_FLOAT);
    memcpy(image.select, "\4\0\0\1", 4);
    image.pitch = amd_image_pitch(WIDTH, 4);
    assert_true(amd_image_pack((amd_target)r->wave.target, &image, &r->wave.sgpr[8]));
    amd_sampler_pack(&sampler, &r->wave.sgpr[4]);
    uint32_t *memory = rig_at(r, r->buffer);
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            memory[y * image.pitch + x] = texels[y][x] = single((float)(any_word() % 1000));
}

static uint32_t texel_at(int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return texels[y][x];
}

/* The address registers of a sample or gather at (x, y), in the order of the manuals; returns their offset. */
static void place_sample(rig *r, const char *name, unsigned lane, float x, float y, int *dx, int *dy)
{
    unsigned v = 0;
    char parts[64];
    snprintf(parts, sizeof parts, "%s_", name);
    *dx = *dy = 0;
    if (has(parts, "_o_")) { /* six bits each, signed */
        *dx = (int)(any_word() % 64) - 32;
        *dy = (int)(any_word() % 64) - 32;
        rig_v(r, v++)[lane] = ((uint32_t)*dx & 63) | ((uint32_t)*dy & 63) << 8;
    }
    if (has(parts, "_b_"))
        rig_v(r, v++)[lane] = single(0.25f);
    if (has(parts, "_d_") || has(parts, "_cd_"))
        for (unsigned i = 0; i < (has(parts, "_g16") ? 2u : 4u); i++)
            rig_v(r, v++)[lane] = has(parts, "_g16") ? 0x3c003800 : single(0.5f);
    rig_v(r, v++)[lane] = single(x);
    rig_v(r, v++)[lane] = single(y);
    if (has(parts, "_cl_") || has(parts, "_l_"))
        rig_v(r, v++)[lane] = 0;
}

static void run_sample(rig *r, amd_op op)
{
    const char *name = amd_op_name(op);
    bool gather = has(name, "gather4");
    uint32_t want[64][4];
    picture(r);
    amd_inst inst = rig_inst(op, AMD_MIMG);
    inst.dim = AMD_IMAGE_2D;
    inst.dmask = gather ? 1 : 9;
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        int x = (int)(any_word() % WIDTH), y = (int)(any_word() % HEIGHT), dx, dy;
        place_sample(r, name, lane, (float)x + (gather ? 1.0f : 0.25f), (float)y + (gather ? 1.0f : 0.75f),
                     &dx, &dy);
        x += dx;
        y += dy;
        want[lane][0] = gather ? texel_at(x, y + 1) : texel_at(x, y);
        want[lane][1] = gather ? texel_at(x + 1, y + 1) : single(1);
        want[lane][2] = texel_at(x + 1, y);
        want[lane][3] = texel_at(x, y);
    }
    rig_run(r, &inst);
    assert_int_equal(r->wave.stop, AMD_RUNNING);
    for (unsigned lane = 0; lane < r->wave.lanes; lane++)
        for (unsigned i = 0; i < (gather ? 4u : 2u); i++)
            if (rig_v(r, 16 + i)[lane] != want[lane][i])
                fail_msg("%s on %s: register %u of lane %u is %x, not %x", name,
                         amd_target_name((amd_target)r->wave.target), i, lane, rig_v(r, 16 + i)[lane],
                         want[lane][i]);
}

/* Loads, stores and atomics: each lane has a texel of its own. */
static void run_access(rig *r, amd_op op, bool returns)
{
    const char *name = amd_op_name(op), *atomic = strstr(name, "atomic_");
    bool store = has(name, "store");
    char what[24] = "";
    uint32_t want[64];
    picture(r);
    amd_inst inst = rig_inst(op, AMD_MIMG);
    inst.dim = AMD_IMAGE_2D;
    inst.dmask = 1;
    if (atomic) {
        sscanf(atomic, "atomic_%23[a-z]", what);
        inst.dmask = has(what, "cmpswap") ? 3 : 1;
        inst.flags = returns ? AMD_GLC : 0;
    }
    uint64_t exec = any_word() | (uint64_t)any_word() << 32;
    rig_exec(r, r->wave.lanes == 32 ? exec & UINT32_MAX : exec);
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        unsigned x = lane % WIDTH, y = lane / WIDTH;
        rig_v(r, 0)[lane] = x;
        rig_v(r, 1)[lane] = y;
        rig_v(r, 2)[lane] = 0; /* the level of _mip */
        uint32_t d = rig_v(r, 4)[lane] = any_word() % 2 ? single((float)(any_word() % 1000)) : texels[y][x];
        uint32_t c = rig_v(r, 5)[lane] = any_word() % 2 ? single(5) : texels[y][x];
        want[lane] = rig_v(r, 16)[lane] = any_word();
        if (!(exec >> lane & 1))
            continue;
        if (!store && (!atomic || returns))
            want[lane] = texels[y][x];
        if (store)
            texels[y][x] = d;
        else if (atomic)
            texels[y][x] = (uint32_t)changed(what, 4, texels[y][x], d, c);
    }
    rig_run(r, &inst);
    assert_int_equal(r->wave.stop, AMD_RUNNING);
    const uint32_t *memory = rig_at(r, r->buffer);
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            if (memory[y * amd_image_pitch(WIDTH, 4) + x] != texels[y][x])
                fail_msg("%s on %s: texel %u, %u is %x, not %x", name,
                         amd_target_name((amd_target)r->wave.target), x, y,
                         memory[y * amd_image_pitch(WIDTH, 4) + x], texels[y][x]);
    for (unsigned lane = 0; lane < r->wave.lanes; lane++)
        if (rig_v(r, 16)[lane] != want[lane])
            fail_msg("%s on %s: lane %u has %x, not %x", name, amd_target_name((amd_target)r->wave.target),
                     lane, rig_v(r, 16)[lane], want[lane]);
    rig_exec(r, r->wave.lanes == 32 ? UINT32_MAX : UINT64_MAX);
}

static void against_model(void **state)
{
    (void)state;
    seed = 3;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (unsigned lanes = amd_target_is_gfx10((amd_target)t) ? 32 : 64; lanes <= 64; lanes += 32) {
            rig r;
            rig_init(&r, (amd_target)t, lanes);
            for (int op = 1; op < AMD_OP_COUNT; op++) {
                const char *name = amd_op_name((amd_op)op);
                if (strncmp(name, "image_", 6) != 0 || !amd_exec_has((amd_target)t, (amd_op)op) ||
                    has(name, "resinfo"))
                    continue;
                for (unsigned round = 0; round < 4; round++) {
                    if (has(name, "sample") || has(name, "gather4"))
                        run_sample(&r, (amd_op)op);
                    else
                        run_access(&r, (amd_op)op, round & 1);
                }
                covered[t][op]++;
            }
            rig_fini(&r);
        }
}

/* image_get_resinfo has its test in test_amd_exec_memory_image.c. */
static void complete(void **state)
{
    (void)state;
    size_t operations = 0;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            const char *name = amd_op_name((amd_op)op);
            if (strncmp(name, "image_", 6) != 0 || !amd_exec_has((amd_target)t, (amd_op)op) ||
                has(name, "resinfo"))
                continue;
            operations++;
            if (!covered[t][op])
                fail_msg("%s on %s was never run", name, amd_target_name((amd_target)t));
        }
    assert_true(operations > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(against_model), cmocka_unit_test(complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
