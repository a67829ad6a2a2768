/* tiny.h: a small machine with every type of key, registered in each test program that includes it. */
#ifndef TESTS_PLATFORM_TINY_H
#define TESTS_PLATFORM_TINY_H

#include "lockstep/block.h"

/* clang-format off */

static const char *const tiny_policies[] = { "open", "closed", "adaptive", NULL };

typedef struct tiny_bank {
    uint64_t tRCD, banks;
    uint32_t policy;
} tiny_bank;
static const ls_param tiny_bank_params[] = {
    LS_PARAM_UINT(tiny_bank, tRCD, "cycles", 12, 1, 100, "activate to column command"),
    LS_PARAM_UINT(tiny_bank, banks, "banks", 16, 1, 64, "banks of a channel"),
    LS_PARAM_CHOICE(tiny_bank, policy, "policy", "open", tiny_policies, "what happens to an open row"),
};
static const ls_block_type tiny_dram_bank = {
    .abi = LS_ABI_VERSION, .slot = "tiny.dram", .name = "bank", .help = "command level",
    .spec_size = sizeof(tiny_bank), .params = tiny_bank_params, .param_count = LS_COUNT_OF(tiny_bank_params),
};
LS_REGISTER_BLOCK(tiny_dram_bank);

typedef struct tiny_hbm {
    uint64_t tRCD, channels;
} tiny_hbm;
static const ls_param tiny_hbm_params[] = {
    LS_PARAM_UINT(tiny_hbm, tRCD, "cycles", 20, 1, 1000, "activate to column command"),
    LS_PARAM_UINT(tiny_hbm, channels, "channels", 8, 1, 32, "channels of a stack"),
};
static const ls_block_type tiny_dram_hbm = {
    .abi = LS_ABI_VERSION, .slot = "tiny.dram", .name = "hbm", .help = "stacked",
    .spec_size = sizeof(tiny_hbm), .params = tiny_hbm_params, .param_count = LS_COUNT_OF(tiny_hbm_params),
};
LS_REGISTER_BLOCK(tiny_dram_hbm);

typedef struct tiny_fixed {
    uint64_t latency_cycles;
    ls_ratio bandwidth;
} tiny_fixed;
static const ls_param tiny_fixed_params[] = {
    { .name = "latency_cycles", .type = LS_PARAM_TYPE_UINT, .offset = offsetof(tiny_fixed, latency_cycles),
      .min = 1, .max = 10000, .unit = "cycles", .help = "time of an access" },
    LS_PARAM_RATIO(tiny_fixed, bandwidth, "bandwidth_gbps", "GB/s", "19.2", 0.1, 5000, "bytes per time"),
};
static const ls_block_type tiny_dram_fixed = {
    .abi = LS_ABI_VERSION, .slot = "tiny.dram", .name = "fixed", .help = "latency and bandwidth",
    .spec_size = sizeof(tiny_fixed), .params = tiny_fixed_params,
    .param_count = LS_COUNT_OF(tiny_fixed_params),
};
LS_REGISTER_BLOCK(tiny_dram_fixed);

typedef struct tiny_cache {
    uint64_t size_kib;
    bool write_back;
} tiny_cache;
static const ls_param tiny_cache_params[] = {
    LS_PARAM_UINT(tiny_cache, size_kib, "KiB", 64, 1, 65536, "capacity"),
    LS_PARAM_BOOL(tiny_cache, write_back, true, "write back instead of through"),
};
static const ls_block_type tiny_cache_cycle = {
    .abi = LS_ABI_VERSION, .slot = "tiny.cache", .name = "cycle", .help = "cycle level",
    .spec_size = sizeof(tiny_cache), .params = tiny_cache_params,
    .param_count = LS_COUNT_OF(tiny_cache_params),
};
LS_REGISTER_BLOCK(tiny_cache_cycle);

static const ls_block_type tiny_net_ideal = {
    .abi = LS_ABI_VERSION, .slot = "tiny.net", .name = "ideal", .help = "no contention",
};
LS_REGISTER_BLOCK(tiny_net_ideal);

typedef struct tiny_spec {
    uint64_t sms;
    ls_ratio core_clock;
    double scale;
    const char *label;
    ls_uints ways;
} tiny_spec;
static const ls_param tiny_params[] = {
    { .name = "sms", .type = LS_PARAM_TYPE_UINT, .offset = offsetof(tiny_spec, sms), .min = 1, .max = 256,
      .unit = "SMs", .help = "streaming multiprocessors" },
    LS_PARAM_FREQ(tiny_spec, core_clock, "clock.core_mhz", "1365", "the core clock"),
    LS_PARAM_REAL(tiny_spec, scale, "", 1.5, -10, 10, "a factor"),
    LS_PARAM_TEXT(tiny_spec, label, "label", "none", "a name for reports"),
    LS_PARAM_UINTS(tiny_spec, ways, "ways", "ways", "[1, 2, 4]", 0, 1000, "ways of each level"),
};
static const ls_section tiny_sections[] = {
    { .path = "dram", .slot = "tiny.dram", .default_model = "bank", .help = "the memory" },
    { .path = "core.l1", .slot = "tiny.cache", .default_model = "cycle", .help = "the cache of an SM" },
    { .path = "net", .slot = "tiny.net", .help = "the network" },
};
static const ls_machine_type tiny_machine = {
    .abi = LS_ABI_VERSION, .name = "tiny", .help = "a machine for tests", .spec_size = sizeof(tiny_spec),
    .params = tiny_params, .param_count = LS_COUNT_OF(tiny_params),
    .sections = tiny_sections, .section_count = LS_COUNT_OF(tiny_sections),
};
LS_REGISTER_MACHINE(tiny_machine);

/* clang-format on */

/* The shortest valid file. */
#define TINY_MINIMAL "machine: tiny\nsms: 4\nnet.model: ideal\n"

#endif
