/* test_four_gpus.c: four GPUs in one engine without a link between them: two kinds of NVIDIA, which replay traces, and
 * two kinds of AMD, which execute programs. Each takes the same cycles and has the same counters as alone, on any
 * number of threads, with caches that draw random numbers too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amd_rig.h"
#include "engine/state.h"
#include "model/gpu/gpu.h"
#include "runtime/fidelity_rig.h"

#define GPUS 4u
#define SETS_MAX 8u

/* Even numbers are of NVIDIA, odd ones of AMD. */
static bool is_amd(uint32_t number)
{
    return number % 2 != 0;
}

static const char *const traces[2] = { "gemm,m=128,n=128,k=32", "gather,n=4096,table_kib=256" };
static const char *const trace_sets[2][SETS_MAX] = {
    { "cores=6", "l2.sets=4", "l2.ways=4" },
    { "cores=3", "memory.channels=2", "clock.core_mhz=1410", "l2.sets=4", "l2.ways=4", "noc.model=ring" },
};
static const char *const program_sets[2][SETS_MAX] = { { "clusters=4", "memory.channels=1", "l2.size_kib=4" },
                                                       { "memory.channels=1", "l2.size_kib=8",
                                                         "noc.model=mesh" } };

typedef struct outcome {
    ls_time begin[PACKETS], end[PACKETS]; /* of the kernel, or of packets */
    uint64_t digest;                      /* of all counters */
} outcome;

/* A GPU of either vendor and its work. */
typedef struct player {
    rig_gpu amd;
    platform_config *config;
    ls_machine *machine;
    sass_trace *trace;
    trace_replay *replay;
    uint32_t taken;
} player;

/* Adds up to a NULL; random: of the caches that hold lines of DRAM. */
static void choose_sets(const char *const *from, bool random, const char *out[SETS_MAX + 2])
{
    size_t count = 0;
    while (from[count] != NULL) {
        out[count] = from[count];
        count++;
    }
    if (random)
        out[count++] = "l2.replacement=random";
    out[count] = NULL;
}

static void open_trace(player *p, uint32_t which, const char *const *sets, ls_engine *engine, uint32_t number,
                       uint32_t index)
{
    size_t set_count = 0;
    while (sets[set_count] != NULL)
        set_count++;
    const config_request request = { .platform = "tests/gpus",
                                     .sets = sets,
                                     .set_count = set_count,
                                     .text = rig_platform,
                                     .text_bytes = strlen(rig_platform) };
    const replay_options options = { .gpu = index };
    OK(config_load(&request, &p->config, NULL, &err));
    OK(machine_add(p->config, engine, number, &p->machine, &err));
    OK(synth_open(traces[which], &(trace_options){ 0 }, &p->trace, &err));
    OK(replay_create(engine, p->trace, &options, &p->replay, &err));
}

/* The counters of the blocks of one GPU. */
static uint64_t digest(ls_engine *engine, uint32_t number)
{
    char prefix[16];
    uint64_t hash = 14695981039346656037u;
    uint32_t found = 0;
    snprintf(prefix, sizeof prefix, "gpu%u.", number);
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        if (strncmp(ls_block_name(block), prefix, strlen(prefix)) != 0)
            continue;
        for (size_t m = 0; m < type->metric_count; m++)
            if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER) {
                uint64_t value;
                memcpy(&value, counters + type->metrics[m].offset, sizeof value);
                hash = (hash ^ value) * 1099511628211u;
                found++;
            }
    }
    assert_true(found > 100);
    return hash;
}

/* Blocks, domains and links are named by their GPU. */
static void check_names(const ls_engine *engine, uint32_t gpus)
{
    for (size_t i = 0; i < engine->links.count; i++) {
        const char *name = ls_link_name(engine->links.at[i]);
        uint32_t gpu = (uint32_t)(name[3] - '0');
        if (strncmp(name, "gpu", 3) != 0 || gpu >= gpus || name[4] != '.')
            fail_msg("link '%s' is not named by its GPU", name);
    }
}

static void run_all(ls_engine *engine, player *players, uint32_t which, uint32_t threads)
{
    const ls_run_options options = { .threads = threads };
    trace_replay *replays[GPUS];
    uint32_t replay_count = 0, packets = 0, taken = 0;
    for (uint32_t i = 0; i < GPUS; i++) {
        if ((which >> i & 1) == 0)
            continue;
        if (is_amd(i)) {
            submit(&players[i].amd);
            packets += PACKETS;
        } else {
            replays[replay_count++] = players[i].replay;
        }
    }
    bool idle = false;
    for (uint32_t runs = 0; taken < packets || !idle; runs++) {
        ls_run_result result;
        ls_cycle begin;
        assert_true(runs < 100);
        if (replay_count > 0)
            OK(replay_run_all(replays, replay_count, &options, &result, &err));
        else
            OK(ls_run(engine, &options, &result, &err));
        idle = true;
        for (uint32_t i = 0; i < replay_count; i++)
            idle = idle && replay_kernel_count(replays[i]) > 0 && !replay_unfinished(replays[i], &begin);
        for (uint32_t i = 0; i < GPUS; i++)
            if ((which >> i & 1) != 0 && is_amd(i))
                taken += take_packets(&players[i].amd);
    }
}

/* The GPUs of `which` (a bit for each) in one engine. */
static void run(uint32_t which, bool random, uint32_t threads, outcome out[GPUS])
{
    static player players[GPUS];
    const char *sets[SETS_MAX + 2];
    ls_engine *engine;
    uint32_t number = 0, of_kind[2] = { 0, 0 }, numbers[GPUS];
    memset(players, 0, sizeof players);
    OK(ls_engine_create(1, &engine, &err));
    for (uint32_t i = 0; i < GPUS; i++) {
        if ((which >> i & 1) == 0)
            continue;
        uint32_t index = of_kind[is_amd(i)]++;
        numbers[i] = number;
        choose_sets(is_amd(i) ? program_sets[i / 2] : trace_sets[i / 2], random, sets);
        if (is_amd(i))
            open_gpu(&players[i].amd, &amd_kinds[i / 2], sets, engine, number++, index);
        else
            open_trace(&players[i], i / 2, sets, engine, number++, index);
    }
    check_names(engine, number);
    run_all(engine, players, which, threads);
    for (uint32_t i = 0; i < GPUS; i++) {
        if ((which >> i & 1) == 0)
            continue;
        out[i] = (outcome){ .digest = digest(engine, numbers[i]) };
        for (uint32_t k = 0; k < PACKETS && is_amd(i); k++) {
            out[i].begin[k] = players[i].amd.packets[k].begin;
            out[i].end[k] = players[i].amd.packets[k].end;
        }
        if (is_amd(i)) {
            is_right(&players[i].amd);
        } else {
            out[i].begin[0] = replay_kernel_at(players[i].replay, 0)->begin;
            out[i].end[0] = replay_kernel_at(players[i].replay, 0)->end;
            replay_destroy(players[i].replay);
            trace_close(players[i].trace);
        }
    }
    ls_engine_destroy(engine);
    for (uint32_t i = 0; i < GPUS; i++) {
        if ((which >> i & 1) != 0 && is_amd(i))
            close_gpu(&players[i].amd);
        else if ((which >> i & 1) != 0) {
            machine_destroy(players[i].machine);
            config_destroy(players[i].config);
        }
    }
}

static void same(const outcome *a, const outcome *b)
{
    assert_memory_equal(a->begin, b->begin, sizeof a->begin);
    assert_memory_equal(a->end, b->end, sizeof a->end);
    assert_int_equal(a->digest, b->digest);
}

static void each_is_as_alone(bool random, outcome alone[GPUS])
{
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    outcome together[GPUS], three[GPUS];
    for (uint32_t i = 0; i < GPUS; i++)
        run(1u << i, random, 1, alone);
    for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
        run(15, random, threads[t], together);
        for (uint32_t i = 0; i < GPUS; i++)
            same(&together[i], &alone[i]);
    }
    run(14, random, 1, three); /* with other numbers */
    for (uint32_t i = 1; i < GPUS; i++)
        same(&three[i], &alone[i]);
}

static void each_does_what_it_does_alone(void **state)
{
    (void)state;
    outcome lru[GPUS], random[GPUS];
    each_is_as_alone(false, lru);
    each_is_as_alone(true, random);
    for (uint32_t i = 0; i < GPUS; i++)
        assert_true(lru[i].digest != random[i].digest); /* numbers are drawn, and matter */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_does_what_it_does_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
