/* test_cu_tape.c: one compute unit records its waves, another one runs the recording: the same instructions in
 * the same cycles, without data. */
#include "cu_rig.h"

/* Words are made with llvm-mc from the comments above them. */

/* data[64K + i] = data[i] + 1: s_load_dwordx2 s[4:5], s[0:1], 0x0; s_lshl_b32 s6, s2, 6; v_add_u32 v0,
 * vcc, s6, v0; v_lshlrev_b32 v1, 2, v0; s_waitcnt lgkmcnt(0); v_mov_b32 v2, s5; v_add_u32 v1, vcc, s4, v1;
 * v_addc_u32 v2, vcc, 0, v2, vcc; flat_load_dword v3, v[1:2]; v_add_u32 v4, vcc, 0x10000, v1; v_addc_u32
 * v5, vcc, 0, v2, vcc; s_waitcnt vmcnt(0) lgkmcnt(0); v_add_u32 v3, vcc, 1, v3; flat_store_dword v[4:5],
 * v3; s_endpgm */
static const uint32_t increment8[] = {
    0xc0060100, 0x00000000, 0x8e068602, 0x32000006, 0x24020082, 0xbf8c007f, 0x7e040205,
    0x32020204, 0x38040480, 0xdc500000, 0x03000001, 0x320802ff, 0x00010000, 0x380a0480,
    0xbf8c0070, 0x32060681, 0xdc700000, 0x00000304, 0xbf810000,
};

/* flat_atomic_add v8, v[1:2], v3 glc: 1 to word (lane & 3); the old value to word lane of data + 64K */
static const uint32_t count8[] = {
    0xc0060100, 0x00000000, 0x26020083, 0x24020282, 0x240c0082, 0xbf8c007f, 0x7e040205, 0x32020204,
    0x38040480, 0x7e060281, 0xdd090000, 0x08000301, 0x7e0a0205, 0x32080c04, 0x380a0a80, 0x320808ff,
    0x00010000, 0x380a0a80, 0xbf8c0070, 0xdc700000, 0x00000804, 0xbf810000,
};

/* LDS word 0 counts the work-items; after a barrier all add it to the word that the argument points to. */
static const uint32_t sum8[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24060082, 0x7e080281, 0x7e0a0280, 0xd8000000, 0x00000405, 0xbf8c007f,
    0xbf8a0000, 0xd86c0000, 0x06000005, 0xbf8c007f, 0x7e020204, 0x7e040205, 0xdd080000, 0x00000601, 0xbf810000,
};

/* All but the first wave: s_sleep 4; then s_barrier; s_endpgm */
static const uint32_t barrier8[] = {
    0x7e080500, 0xbf068004, 0xbf850001, 0xbf8e0004, 0xbf8a0000, 0xbf810000,
};

/* Rounds of a loop by the clock: s_memtime s[4:5]; s_waitcnt lgkmcnt(0); s_and_b32 s6, s4, 31; loop:
 * s_cmp_eq_u32 s6, 0; s_cbranch_scc1 done; s_sub_u32 s6, s6, 1; v_mov_b32 v1, v0; s_branch loop; done:
 * s_endpgm */
static const uint32_t clock8[] = {
    0xc0900100, 0x00000000, 0xbf8c007f, 0x86069f04, 0xbf068006,
    0xbf850003, 0x80868106, 0x7e020300, 0xbf82fffb, 0xbf810000,
};

#define GROUPS_MAX 64

/* The tapes of a launch, in memory. */
typedef struct store {
    amd_tape_code code;
    amd_tape_bytes groups[GROUPS_MAX];
    uint32_t waves[GROUPS_MAX], open;
    cu_recorder recorder;
    cu_tapes tapes;
} store;

static void store_put(void *self, const uint32_t id[3], amd_tape_writer *waves, uint32_t wave_count)
{
    store *s = self;
    assert_in_range(id[0], 0, GROUPS_MAX - 1);
    amd_tape_bytes *bytes = &s->groups[id[0]];
    assert_int_equal(bytes->count, 0);
    s->waves[id[0]] = wave_count;
    for (uint32_t i = 0; i < wave_count; i++)
        assert_true(amd_tape_end(&waves[i], bytes));
    assert_true(vec_reserve(bytes, AMD_TAPE_SLACK));
}

static amd_tape *store_open(void *self, const uint32_t id[3], uint32_t wave_count)
{
    store *s = self;
    const amd_tape_bytes *bytes = &s->groups[id[0]];
    const uint8_t *at = bytes->at;
    if (wave_count != s->waves[id[0]])
        return NULL;
    amd_tape *tapes = calloc(wave_count, sizeof *tapes);
    assert_non_null(tapes);
    for (uint32_t i = 0; i < wave_count; i++) {
        amd_tape_memory *memory = calloc(s->code.memory_count + 1, sizeof *memory);
        assert_non_null(memory);
        assert_true(amd_tape_open(&tapes[i], &s->code, memory, &at, bytes->at + bytes->count));
    }
    s->open += wave_count;
    return tapes;
}

static void store_close(void *self, amd_tape *tapes)
{
    store *s = self;
    uint32_t count = 0;
    /* All waves of these tests have as many as the first work-group's. */
    while (count < s->waves[0] && s->open > 0) {
        free(tapes[count].memory);
        s->open--;
        count++;
    }
    free(tapes);
}

static rig *prepare(const char *model, const uint32_t *words, size_t count)
{
    rig *r = rig_create();
    rig_spec(r, model);
    rig_build(r, model, strcmp(model, "gcn") == 0 ? 64 : 128, 100);
    rig_program(r, AMD_GFX803, false, words, count);
    r->vector[0]->refuse_every = 3;
    return r;
}

static void same_in_the_same_cycles(const char *model, const uint32_t *words, size_t count)
{
    store s = { .recorder = { .self = &s, .code = &s.code, .done = store_put },
                .tapes = { .self = &s, .open = store_open, .close = store_close } };
    rig *executed = prepare(model, words, count), *replayed = prepare(model, words, count);
    assert_true(amd_tape_code_init(&s.code, executed->program));
    for (uint32_t i = 0; i < 8192; i++)
        rig_data(executed)[i] = i * 3;
    executed->kernel.recorder = &s.recorder;
    rig_run(executed, 40 * 256, 256, 4096);
    amd_tape_code_fini(&s.code);
    assert_true(amd_tape_code_init(&s.code, replayed->program));
    replayed->kernel.tapes = &s.tapes;
    rig_run(replayed, 40 * 256, 256, 4096);
    assert_int_equal(replayed->fault.kind, LS_FAULT_NONE);
    assert_int_equal(rig_cycles(replayed), rig_cycles(executed));
    assert_memory_equal(&replayed->tally, &executed->tally, sizeof executed->tally);
    assert_memory_equal(&replayed->cu->counters, &executed->cu->counters, sizeof executed->cu->counters);
    assert_int_equal(replayed->vector[0]->reads, executed->vector[0]->reads);
    assert_int_equal(replayed->vector[0]->writes, executed->vector[0]->writes);
    assert_int_equal(replayed->vector[0]->atomics, executed->vector[0]->atomics);
    assert_int_equal(s.open, 0);
    assert_true(executed->tally.instructions > 40 * 4 * 5);
    amd_tape_code_fini(&s.code);
    for (uint32_t i = 0; i < GROUPS_MAX; i++)
        vec_fini(&s.groups[i]);
    rig_destroy(executed);
    rig_destroy(replayed);
}

#define WORDS(name) name, sizeof(name) / sizeof(name)[0]

static void replays(void **state)
{
    (void)state;
    static const char *const models[] = { "gcn", "rdna" };
    for (size_t i = 0; i < 2; i++) {
        same_in_the_same_cycles(models[i], WORDS(increment8));
        same_in_the_same_cycles(models[i], WORDS(count8));
        same_in_the_same_cycles(models[i], WORDS(sum8));
        same_in_the_same_cycles(models[i], WORDS(barrier8));
        same_in_the_same_cycles(models[i], WORDS(clock8)); /* the instructions that were really executed */
    }
}

/* Tapes that cannot be had end their work-groups with a fault; nothing hangs. */
static void missing_tapes(void **state)
{
    (void)state;
    store s = { .tapes = { .self = &s, .open = store_open, .close = store_close } };
    rig *r = prepare("gcn", WORDS(increment8));
    assert_true(amd_tape_code_init(&s.code, r->program));
    r->kernel.tapes = &s.tapes;
    rig_run(r, 4 * 256, 256, 0);
    assert_int_equal(r->fault.kind, LS_FAULT_UNSUPPORTED);
    assert_int_equal(r->tally.instructions, 0);
    amd_tape_code_fini(&s.code);
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays),
        cmocka_unit_test(missing_tapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
