/* test_widths.c: the keys that say how much moves in a cycle: of a slice of L2 (sectors_per_cycle,
 * port_percent, write_lines) and of a core's port to the network (network_sectors_per_cycle). Rates are
 * slopes between a short and a long run, so that starting and first misses cancel out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/config.h"
#include "platform/machine.h"
#include "runtime/replay.h"
#include "workload/synth/synth.h"

#include <stdio.h>
#include <string.h>

#define SETS_MAX 24

/* One clock. Each core reads four times its L1, so lines are evicted before they are read again; L2 has room
 * for all. */
static const char platform[] = "machine: gpu\n"
                               "cores: 4\n"
                               "clock: {core_mhz: 1000, l2_mhz: 1000, dram_mhz: 1000}\n"
                               "memory: {channels: 1, slices_per_channel: 1, slice_hash: none}\n"
                               "l2: {sets: 512, ways: 16}\n"
                               "core:\n"
                               "  l1: {sets: 4, ways: 64, mshr_entries: 4096}\n"
                               "  class:\n"
                               "    load: {unit: memory}\n"
                               "    store: {unit: memory}\n"
                               "    atomic: {unit: memory}\n"
                               "    async_copy: {unit: memory}\n"
                               "    fence: {unit: memory}\n";

typedef struct outcome {
    ls_cycle cycles;
    uint64_t sectors, dram_requests, dram_writes;
} outcome;

static uint64_t counter(ls_engine *engine, const char *slot, const char *name)
{
    uint64_t sum = 0;
    bool found = false;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        for (size_t m = 0; strcmp(type->slot, slot) == 0 && m < type->metric_count; m++)
            if (strcmp(type->metrics[m].name, name) == 0) {
                const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
                found = true;
                sum += *(const uint64_t *)(const void *)(counters + type->metrics[m].offset);
            }
    }
    if (!found)
        fail_msg("no block in slot %s counts %s", slot, name);
    return sum;
}

static outcome run(const char *trace_text, const char *sets)
{
    ls_error err = { 0 };
    char text[1024];
    const char *list[SETS_MAX];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", sets);
    for (char *rest = text, *one; (one = strtok_r(rest, " ", &rest)) != NULL;) {
        assert_true(count < SETS_MAX);
        list[count++] = one;
    }
    const config_request request = { .platform = "tests/widths",
                                     .sets = list,
                                     .set_count = count,
                                     .text = platform,
                                     .text_bytes = strlen(platform) };
    platform_config *config = NULL;
    ls_machine *machine = NULL;
    sass_trace *trace = NULL;
    trace_replay *replay = NULL;
    ls_run_result result;
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK ||
        synth_open(trace_text, &(trace_options){ 0 }, &trace, &err) != LS_OK ||
        replay_create(ls_machine_engine(machine), trace, NULL, &replay, &err) != LS_OK ||
        replay_run(replay, &(ls_run_options){ .threads = 1 }, &result, &err) != LS_OK)
        fail_msg("%s: %s", sets, err.what);
    ls_engine *engine = ls_machine_engine(machine);
    const replay_kernel *kernel = replay_kernel_at(replay, 0);
    outcome o = { .cycles = kernel->end - kernel->begin,
                  .sectors = counter(engine, "l2", "requests"),
                  .dram_requests = counter(engine, "dram", "requests"),
                  .dram_writes = counter(engine, "dram", "writes") };
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    config_destroy(config);
    return o;
}

/* Sectors that the machine reads in 1000 cycles. */
static uint64_t rate(const char *what, const char *sets)
{
    char text[256];
    snprintf(text, sizeof text, "bandwidth,mode=read,%s,passes=4", what);
    outcome few = run(text, sets);
    snprintf(text, sizeof text, "bandwidth,mode=read,%s,passes=12", what);
    outcome many = run(text, sets);
    return (many.sectors - few.sectors) * 1000 / (many.cycles - few.cycles);
}

#define FOUR_CORES "ctas=4,block=1024,footprint_kib=512"
#define ONE_CORE "ctas=1,block=1024,footprint_kib=512"

/* A little less than the port's limit, by the cost of the ends of passes; a slope of few passes may be a
 * little above. */
static void assert_about(uint64_t value, uint64_t expected)
{
    if (value * 100 < expected * 85 || value * 100 > expected * 102)
        fail_msg("%llu sectors in 1000 cycles, %llu expected", (unsigned long long)value,
                 (unsigned long long)expected);
}

static void test_slice_width(void **state)
{
    (void)state;
    assert_about(rate(FOUR_CORES, "l2.sectors_per_cycle=1"), 1000);
    assert_about(rate(FOUR_CORES, "l2.sectors_per_cycle=2"), 2000);
    /* Four cores take one sector each: a wider slice has no further receiver. */
    assert_about(rate(FOUR_CORES, "l2.sectors_per_cycle=8"), 4000);
}

static void test_port_percent(void **state)
{
    (void)state;
    assert_about(rate(FOUR_CORES, "l2.port_percent=50"), 500);
    assert_about(rate(FOUR_CORES, "l2.port_percent=80"), 800);
    assert_about(rate(FOUR_CORES, "l2.port_percent=75 l2.sectors_per_cycle=2"), 1500);
}

static void test_core_port(void **state)
{
    (void)state;
    const char *wide =
        "cores=1 l2.sectors_per_cycle=8 core.l1.banks=8 core.l1.miss_queue=256 noc.credits=2000 core.l1.ways=256 ";
    for (uint64_t n = 1; n <= 4; n *= 2) {
        char sets[256];
        snprintf(sets, sizeof sets, "%score.network_sectors_per_cycle=%llu", wide, (unsigned long long)n);
        assert_about(rate(ONE_CORE, sets), 1000 * n);
    }
}

static void assert_nearly(uint64_t value, uint64_t most)
{
    assert_in_range(value, most - 256, most); /* some still wait when the last store is acknowledged */
}

/* Dirty lines that are replaced reach DRAM whole: as many atoms in a quarter of the requests. 512 KiB are
 * written; the part that fits into L2 stays there. */
static void test_write_lines(void **state)
{
    (void)state;
    const char *text = "bandwidth,mode=write,ctas=4,block=256,footprint_kib=512";
    const uint64_t replaced = 4096 - 64 * 16;
    outcome sectors = run(text, "l2.sets=64 l2.write_lines=false");
    outcome lines = run(text, "l2.sets=64 l2.write_lines=true");
    assert_nearly(sectors.dram_requests, 4 * replaced);
    assert_nearly(lines.dram_requests, replaced);
    assert_nearly(sectors.dram_writes, 4 * replaced);
    assert_nearly(lines.dram_writes, 4 * replaced);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_slice_width),
                                        cmocka_unit_test(test_port_percent), cmocka_unit_test(test_core_port),
                                        cmocka_unit_test(test_write_lines) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
