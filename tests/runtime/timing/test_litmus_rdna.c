/* test_litmus_rdna.c: litmus tests over two GPUs of RDNA, which have a cache more: L1 of a shader array.
 *
 * Scopes: a load with glc and dlc is of system scope; a store always reaches L2. s_waitcnt and s_waitcnt_vscnt order them
 * (release), buffer_gl1_inv and buffer_gl0_inv are an acquire. */
#include "litmus.h"

/* ------------------------------------------------------------------------------------------------ threads
 * For gfx1010, waves of 32 lanes. */

static const uint32_t release[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205,
                                    0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280,
                                    0x7e100280, 0xbf06800a, 0xbf850004, 0x808a810a, 0xbf80000f, 0xbf80000f,
                                    0xbf82fffa, 0xdc708000, 0x007d0600, 0xbf8c3f70, 0xbbfd0000, 0xdc708000,
                                    0x007d0602, 0xbf8c3f70, 0xbbfd0000, 0xdc748000, 0x007d0704, 0xbf810000 };
static const uint32_t acquire[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205,
                                    0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280,
                                    0x7e100280, 0xdc308000, 0x097d0002, 0xbf8c3f70, 0xbbfd0000, 0xbf06800a,
                                    0xbf850004, 0x808a810a, 0xbf80000f, 0xbf80000f, 0xbf82fffa, 0xdc319000,
                                    0x077d0000, 0xbf8c3f70, 0xbbfd0000, 0xe1c80000, 0x00000000, 0xe1c40000,
                                    0x00000000, 0xdc308000, 0x087d0002, 0xbf8c3f70, 0xbbfd0000, 0xdc748000,
                                    0x007d0704, 0xbf810000 };
static const uint32_t stale[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205,
                                  0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280,
                                  0x7e100280, 0xdc308000, 0x097d0002, 0xbf8c3f70, 0xbbfd0000, 0xbf06800a,
                                  0xbf850004, 0x808a810a, 0xbf80000f, 0xbf80000f, 0xbf82fffa, 0xdc319000,
                                  0x077d0000, 0xbf8c3f70, 0xbbfd0000, 0xdc308000, 0x087d0002, 0xbf8c3f70,
                                  0xbbfd0000, 0xdc748000, 0x007d0704, 0xbf810000 };
static const uint32_t store_load[] = {
    0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850004, 0x808a810a,
    0xbf80000f, 0xbf80000f, 0xbf82fffa, 0xdc708000, 0x007d0600, 0xbf8c3f70, 0xbbfd0000, 0xdc319000,
    0x077d0002, 0xbf8c3f70, 0xbbfd0000, 0xdc748000, 0x007d0704, 0xbf810000
};
static const uint32_t store_pass_load[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204,
                                            0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209,
                                            0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850004,
                                            0x808a810a, 0xbf80000f, 0xbf80000f, 0xbf82fffa, 0xdc708000,
                                            0x007d0600, 0xdc319000, 0x077d0002, 0xbf8c3f70, 0xbbfd0000,
                                            0xdc748000, 0x007d0704, 0xbf810000 };
static const uint32_t load_store[] = {
    0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850004, 0x808a810a,
    0xbf80000f, 0xbf80000f, 0xbf82fffa, 0xdc319000, 0x077d0000, 0xbf8c3f70, 0xbbfd0000, 0xdc708000,
    0x007d0602, 0xbf8c3f70, 0xbbfd0000, 0xdc748000, 0x007d0704, 0xbf810000
};
static const uint32_t store[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205,
                                  0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280,
                                  0x7e100280, 0xbf06800a, 0xbf850004, 0x808a810a, 0xbf80000f, 0xbf80000f,
                                  0xbf82fffa, 0xdc708000, 0x007d0600, 0xbf8c3f70, 0xbbfd0000, 0xdc748000,
                                  0x007d0704, 0xbf810000 };
static const uint32_t two_loads[] = { 0xbefe0381, 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205,
                                      0x7e040206, 0x7e060207, 0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280,
                                      0x7e100280, 0xbf06800a, 0xbf850004, 0x808a810a, 0xbf80000f, 0xbf80000f,
                                      0xbf82fffa, 0xdc319000, 0x077d0000, 0xbf8c3f70, 0xbbfd0000, 0xdc319000,
                                      0x087d0002, 0xbf8c3f70, 0xbbfd0000, 0xdc748000, 0x007d0704, 0xbf810000 };
static const uint32_t counting[] = { 0xf40c0100, 0xfa000000, 0xbf8cc07f, 0x7e000204, 0x7e020205, 0x7e0c0281,
                                     0xdcc98000, 0x077d0600, 0xbf8c3f70, 0x34100e82, 0x7e060207, 0xd70f6a02,
                                     0x00021006, 0x50060680, 0xdcc88000, 0x007d0602, 0x808a810a, 0xbf07800a,
                                     0xbf85fff3, 0xbbfd0000, 0xbf8c3f70, 0xbf810000 };

/* ------------------------------------------------------------------------------------------------- machines */

/* Pages do not move: these GPUs have no TLBs. */
static const char *const modes[][4] = {
    { NULL },
    { "gpus.rdma.at=memory", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=read-only", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned", NULL },
};

static const remote_kind rx5500xt = {
    .platform = "rx5500xt",
    .keys = "clusters: 2, arrays: 2, memory.channels: 2, command.launch_cycles: 100, clock.core_mhz: 1000",
    .target = AMD_GFX1010,
    .properties = 1u << 10, /* waves of 32 */
};

static const litmus_set litmus = { .kind = &rx5500xt,
                                   .modes = modes,
                                   .mode_count = LS_COUNT_OF(modes),
                                   .still_modes = LS_COUNT_OF(modes),
                                   .step = 6,
                                   .release = LITMUS(release),
                                   .acquire = LITMUS(acquire),
                                   .stale = LITMUS(stale),
                                   .store_load = LITMUS(store_load),
                                   .store_pass_load = LITMUS(store_pass_load),
                                   .load_store = LITMUS(load_store),
                                   .store = LITMUS(store),
                                   .two_loads = LITMUS(two_loads),
                                   .counting = LITMUS(counting) };

int main(void)
{
    const struct CMUnitTest tests[] = { LITMUS_TESTS };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
