/* test_amd_exec_memory_image.c: formats, typed buffers, image descriptors, loads, stores, atomics and
 * samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amd_memory.h"
#include "isa/amd/exec/format.h"
#include "isa/amd/exec/image.h"

static uint32_t bits(float value)
{
    uint32_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

static void halves(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x10000; half++) {
        float wide = amd_half_to_float((uint16_t)half);
        uint16_t back = amd_float_to_half(wide);
        if (wide == wide)
            assert_int_equal(back, half);
        else
            assert_true((back & 0x7fff) > 0x7c00);
    }
    assert_int_equal(amd_float_to_half(65519.0f), 0x7bff);
    assert_int_equal(amd_float_to_half(65520.0f), 0x7c00);           /* rounds away from the exact value */
    assert_int_equal(amd_float_to_half(1.0f + 1.0f / 2048), 0x3c00); /* a tie goes to even */
    assert_int_equal(amd_float_to_half(1.0f + 3.0f / 2048), 0x3c02);
    assert_int_equal(amd_float_to_half(2.98e-8f), 0);
    assert_int_equal(amd_float_to_half(2.99e-8f), 1);
}

static void formats(void **state)
{
    (void)state;
    static const struct {
        uint8_t layout, number; /* GCN3 codes */
        const char *bytes;
        uint32_t out[4];
    } rows[] = {
        { 10, AMD_NUMBER_UNORM, "\xff\x00\x33\x80", { 0x3f800000, 0, 0x3e4ccccd, 0x3f008081 } },
        { 10, AMD_NUMBER_UINT, "\x01\x02\x03\xff", { 1, 2, 3, 255 } },
        { 10, AMD_NUMBER_SINT, "\x01\xfe\x03\xff", { 1, (uint32_t)-2, 3, UINT32_MAX } },
        { 1, AMD_NUMBER_SNORM, "\x81", { 0xbf800000, 0, 0, 0x3f800000 } },
        { 1, AMD_NUMBER_SNORM, "\x80", { 0xbf800000, 0, 0, 0x3f800000 } }, /* no less than -1 */
        { 3, AMD_NUMBER_USCALED, "\x05\xff", { 0x40a00000, 0x437f0000, 0, 0x3f800000 } },
        { 5, AMD_NUMBER_FLOAT, "\x00\x3c\x00\xc0", { 0x3f800000, 0xc0000000, 0, 0x3f800000 } },
        { 9, AMD_NUMBER_UINT, "\x01\x08\x30\xc0", { 1, 2, 3, 3 } },
        { 6, AMD_NUMBER_FLOAT, "\xc0\x03\x1e\x78", { 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000 } },
        { 14, AMD_NUMBER_UINT, "\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0", { 1, 2, 3, 4 } },
        { 16, AMD_NUMBER_UNORM, "\x1f\xf8", { 0x3f800000, 0, 0x3f800000, 0x3f800000 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        amd_texel texel = amd_format_gcn3(rows[i].layout, rows[i].number);
        uint32_t out[4];
        uint8_t back[16];
        amd_format_read(&texel, rows[i].bytes, out);
        for (unsigned j = 0; j < 4; j++)
            assert_int_equal(out[j], rows[i].out[j]);
        amd_format_write(&texel, out, back);
        if (i != 4)
            assert_memory_equal(back, rows[i].bytes, texel.bytes);
    }
    /* Stores clamp. */
    amd_texel texel = amd_format_gcn3(10, AMD_NUMBER_UNORM);
    uint32_t in[4] = { bits(2), bits(-1), bits(0.5f), 0x7fc00000 };
    uint8_t out[4];
    amd_format_write(&texel, in, out);
    assert_memory_equal(out, "\xff\x00\x80\x00", 4);
    texel = amd_format_gcn3(10, AMD_NUMBER_SINT);
    uint32_t wide[4] = { 1000, (uint32_t)-1000, 5, (uint32_t)-5 };
    amd_format_write(&texel, wide, out);
    assert_memory_equal(out, "\x7f\x80\x05\xfb", 4);
    /* Both generations name the same formats. */
    for (unsigned code = 1; code < 78; code++) {
        texel = amd_format_gfx10(code);
        assert_int_not_equal(texel.bytes, 0);
        unsigned again, data, number;
        assert_true(amd_format_code_gfx10(&texel, &again));
        assert_int_equal(again, code);
        assert_true(amd_format_code_gcn3(&texel, &data, &number));
        amd_texel same = amd_format_gcn3(data, number);
        assert_memory_equal(&same, &texel, sizeof same);
    }
    assert_int_equal(amd_format_gfx10(0).bytes, 0);
    assert_int_equal(amd_format_gfx10(78).bytes, 0);
    assert_int_equal(amd_format_gfx10(56).number, AMD_NUMBER_UNORM); /* 8_8_8_8_UNORM, as LLVM numbers it */
    assert_int_equal(amd_format_gfx10(77).number, AMD_NUMBER_FLOAT); /* 32_32_32_32_FLOAT */
    assert_int_equal(amd_format_gfx10(77).bytes, 16);
}

static void buffers(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX803, 64);
    uint32_t *memory = rig_at(&r, r.buffer);
    for (uint32_t i = 0; i < 256; i++)
        memory[i] = i;
    /* Raw: 100 bytes; an access that starts at 96 and crosses the end reads 0. */
    r.wave.sgpr[4] = (uint32_t)r.buffer;
    r.wave.sgpr[5] = (uint32_t)(r.buffer >> 32);
    r.wave.sgpr[6] = 100;
    r.wave.sgpr[7] = 0xfac | 4u << 15 | 4u << 12;
    amd_inst inst = rig_inst(AMD_BUFFER_LOAD_DWORDX2, AMD_MUBUF);
    inst.flags = AMD_OFFEN;
    inst.offset = 4;
    for (unsigned lane = 0; lane < 64; lane++)
        rig_v(&r, 0)[lane] = lane * 4;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[3], 4);
    assert_int_equal(rig_v(&r, 17)[3], 5);
    assert_int_equal(rig_v(&r, 16)[23], 24);
    assert_int_equal(rig_v(&r, 17)[23], 0);
    assert_int_equal(rig_v(&r, 16)[24], 0);
    inst = rig_inst(AMD_BUFFER_STORE_DWORD, AMD_MUBUF); /* stores past the end are dropped */
    inst.flags = AMD_OFFEN;
    for (unsigned lane = 0; lane < 64; lane++)
        rig_v(&r, 4)[lane] = 500 + lane;
    rig_run(&r, &inst);
    assert_int_equal(memory[24], 524);
    assert_int_equal(memory[25], 25);
    /* Records of 12 bytes, typed: 8_8_8_8 unsigned at offset 4 of record i. */
    r.wave.sgpr[5] |= 12u << 16;
    r.wave.sgpr[6] = 1024;
    r.wave.sgpr[7] = 0xfac | 10u << 15 | 4u << 12;
    memory[31] = 0x04030201;
    inst = rig_inst(AMD_BUFFER_LOAD_FORMAT_XYZW, AMD_MUBUF);
    inst.flags = AMD_IDXEN;
    inst.offset = 4;
    for (unsigned lane = 0; lane < 64; lane++)
        rig_v(&r, 0)[lane] = lane;
    rig_run(&r, &inst);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rig_v(&r, 16 + i)[10], i + 1);
    /* MTBUF brings its own format: 16_16 signed. */
    inst = rig_inst(AMD_TBUFFER_STORE_FORMAT_XY, AMD_MTBUF);
    inst.flags = AMD_IDXEN;
    inst.simm = 5 | 5 << 4;
    rig_exec(&r, 1u << 10);
    rig_v(&r, 4)[10] = (uint32_t)-3;
    rig_v(&r, 5)[10] = 70000;
    rig_run(&r, &inst);
    assert_int_equal(memory[30], 0x7ffffffd);
    /* gfx10, structured: index against records, offset against stride. */
    rig_exec(&r, UINT64_MAX);
    r.wave.target = AMD_GFX1030;
    r.wave.sgpr[6] = 10;
    r.wave.sgpr[7] = 0xfac | 20u << 12;
    inst = rig_inst(AMD_BUFFER_LOAD_DWORD, AMD_MUBUF);
    inst.flags = AMD_IDXEN;
    inst.offset = 8;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[9], 29);
    assert_int_equal(rig_v(&r, 16)[10], 0);
    inst.offset = 12;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 0);
    /* The sum of register and constant has 32 bits there; before, what is negative lies outside. */
    inst = rig_inst(AMD_BUFFER_LOAD_DWORD, AMD_MUBUF);
    inst.flags = AMD_OFFEN;
    inst.offset = 20;
    rig_v(&r, 0)[3] = (uint32_t)-12;
    r.wave.sgpr[5] &= 0xffff;
    r.wave.sgpr[6] = 1024;
    r.wave.sgpr[7] = 0xfac | 20u << 12 | 3u << 28;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[3], memory[2]);
    r.wave.target = AMD_GFX803;
    r.wave.sgpr[7] = 0xfac | 4u << 15 | 4u << 12;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[3], 0);
    assert_int_not_equal(memory[2], 0);
    r.wave.target = AMD_GFX1030;
    r.wave.sgpr[5] |= 12u << 16;
    r.wave.sgpr[6] = 10;
    r.wave.sgpr[7] = 0xfac | 20u << 12;
    rig_v(&r, 0)[3] = 3;
    inst.flags = AMD_IDXEN;
    /* Into LDS: lane i at M0 + 4 i. */
    inst.offset = 0;
    inst.flags |= AMD_LDS;
    r.wave.sgpr[AMD_M0] = 64;
    rig_run(&r, &inst);
    uint32_t word;
    memcpy(&word, r.lds + 64 + 7 * 4, 4);
    assert_int_equal(word, 521); /* memory[21] */
    rig_fini(&r);
}

static void descriptors(void **state)
{
    (void)state;
    for (unsigned target = 0; target < AMD_TARGET_COUNT; target++)
        for (unsigned kind = 0; kind <= AMD_IMAGE_2D_ARRAY; kind++) {
            amd_image image = {
                .address = 0x123456789a00, .kind = (uint8_t)kind, .width = 1001, .height = 77, .depth = 5
            };
            image.texel = amd_format_gcn3(10, AMD_NUMBER_UNORM);
            memcpy(image.select, "\4\5\6\7", 4);
            if (kind == AMD_IMAGE_1D || kind == AMD_IMAGE_1D_ARRAY)
                image.height = 1;
            if (kind == AMD_IMAGE_1D || kind == AMD_IMAGE_2D)
                image.depth = 1;
            if (kind == AMD_IMAGE_CUBE)
                image.depth = 6;
            image.pitch = amd_image_pitch(image.width, 4);
            assert_int_equal(image.pitch, 1024);
            uint32_t words[8];
            assert_true(amd_image_pack((amd_target)target, &image, words));
            amd_image back = amd_image_unpack((amd_target)target, words);
            assert_int_equal(back.address, image.address);
            assert_int_equal(back.kind, image.kind);
            assert_int_equal(back.width, image.width);
            assert_int_equal(back.height, image.height);
            assert_int_equal(back.depth, image.depth);
            assert_int_equal(back.pitch, image.pitch);
            assert_memory_equal(&back.texel, &image.texel, sizeof back.texel);
            assert_memory_equal(back.select, image.select, 4);
            image.width = 20000;
            assert_false(amd_image_pack((amd_target)target, &image, words));
        }
    amd_sampler sampler = {
        .wrap = { 2, 6, 0 }, .unnormalized = true, .linear = true, .linear_z = false, .border = 2
    };
    uint32_t words[4];
    amd_sampler_pack(&sampler, words);
    amd_sampler back = amd_sampler_unpack(words);
    assert_memory_equal(&back, &sampler, sizeof back);
}

/* An 8 x 4 image of one float per texel, 10 y + x, with its descriptor in s[8:15] and a sampler in s[4:7]. */
static void picture(rig *r, const amd_sampler *sampler)
{
    amd_image image = { .address = r->buffer, .kind = AMD_IMAGE_2D, .width = 8, .height = 4, .depth = 1 };
    image.texel = amd_format_gcn3(4, AMD_NUMBER_FLOAT);
    memcpy(image.select, "\4\0\0\1", 4);
    image.pitch = amd_image_pitch(8, 4);
    assert_true(amd_image_pack((amd_target)r->wave.target, &image, &r->wave.sgpr[8]));
    amd_sampler_pack(sampler, &r->wave.sgpr[4]);
    float *texels = rig_at(r, r->buffer);
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 8; x++)
            texels[y * image.pitch + x] = (float)(10 * y + x);
}

static float sampled(rig *r, amd_op op, float x, float y)
{
    amd_inst inst = rig_inst(op, AMD_MIMG);
    inst.dim = AMD_IMAGE_2D;
    inst.dmask = 9; /* red and alpha */
    rig_v(r, 0)[5] = bits(x);
    rig_v(r, 1)[5] = bits(y);
    rig_run(r, &inst);
    assert_int_equal(r->wave.stop, AMD_RUNNING);
    assert_int_equal(rig_v(r, 17)[5], 0x3f800000);
    float value;
    memcpy(&value, &rig_v(r, 16)[5], sizeof value);
    return value;
}

static void samples(void **state)
{
    (void)state;
    for (unsigned gfx10 = 0; gfx10 < 2; gfx10++) {
        rig r;
        rig_init(&r, gfx10 ? AMD_GFX1030 : AMD_GFX803, 64);
        amd_sampler sampler = { .wrap = { 2, 2, 2 }, .unnormalized = true };
        picture(&r, &sampler);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 3.9f, 2.1f) == 23);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, -5, 100) == 30); /* the edge */
        sampler.wrap[0] = sampler.wrap[1] = AMD_WRAP_BORDER;
        picture(&r, &sampler);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE, -0.5f, 1) == 0);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE, 7.5f, 3.5f) == 37);
        sampler.linear = true;
        picture(&r, &sampler);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 3, 2) == 17.5f); /* between 12, 13, 22, 23 */
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 3.75f, 2.5f) == 23.25f);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 8, 0.5f) == 3.5f); /* half of it is border */
        sampler = (amd_sampler){ .wrap = { AMD_WRAP_REPEAT, AMD_WRAP_MIRROR, 0 } };
        picture(&r, &sampler);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 1.0f + 3.5f / 8, 0.125f) == 3);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, -0.5f / 8, 1.125f) == 37);
        /* Compilers compute "texel 5" this way: a little below it is still texel 5. */
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 0.62499994f, 0.25f) == 15);
        assert_true(sampled(&r, AMD_IMAGE_SAMPLE_LZ, 0.624f, 0.25f) == 14);
        rig_fini(&r);
    }
}

static void plain_accesses(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX1010, 32);
    amd_sampler sampler = { .linear = false };
    picture(&r, &sampler);
    amd_inst inst = rig_inst(AMD_IMAGE_LOAD, AMD_MIMG);
    inst.dim = AMD_IMAGE_2D;
    inst.flags = AMD_NSA;
    inst.nsa[0] = 9; /* y in v9 */
    for (unsigned lane = 0; lane < 32; lane++) {
        rig_v(&r, 0)[lane] = lane % 8;
        rig_v(&r, 9)[lane] = lane / 8;
    }
    rig_v(&r, 0)[31] = 8; /* outside */
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[20], bits(24));
    assert_int_equal(rig_v(&r, 19)[20], bits(1));
    assert_int_equal(rig_v(&r, 16)[31], 0);
    assert_int_equal(rig_v(&r, 19)[31], 0);
    inst.op = AMD_IMAGE_STORE;
    inst.dmask = 1;
    for (unsigned lane = 0; lane < 32; lane++)
        rig_v(&r, 4)[lane] = bits((float)lane + 0.5f);
    rig_run(&r, &inst);
    float *texels = rig_at(&r, r.buffer);
    assert_true(texels[2 * 64 + 4] == 20.5f);
    assert_true(texels[3 * 64 + 7] == 37); /* outside: dropped */
    inst = rig_inst(AMD_IMAGE_GET_RESINFO, AMD_MIMG);
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 8);
    assert_int_equal(rig_v(&r, 17)[0], 4);
    inst = rig_inst(AMD_IMAGE_ATOMIC_SWAP, AMD_MIMG);
    inst.dim = AMD_IMAGE_2D;
    inst.flags = AMD_GLC;
    inst.dmask = 1;
    rig_exec(&r, 1);
    rig_v(&r, 0)[0] = rig_v(&r, 1)[0] = 1;
    rig_v(&r, 4)[0] = 77;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], bits(9.5f));
    assert_int_equal(bits(texels[64 + 1]), 77);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves),      cmocka_unit_test(formats), cmocka_unit_test(buffers),
        cmocka_unit_test(descriptors), cmocka_unit_test(samples), cmocka_unit_test(plain_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
