/* test_litmus.c: litmus tests over two GPUs of GCN.
 *
 * Scopes: a load or store with glc is of system scope, s_waitcnt orders it (release), buffer_wbinvl1_vol is an
 * acquire. */
#include "litmus.h"

/* ------------------------------------------------------------------------------------------------ threads
 * For gfx803. litmus.h says what each of them does. */

/* a = 1; wait for it; b = 1. */
static const uint32_t release[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc700000, 0x00000600, 0xbf8c0070, 0xdc710000, 0x00000602, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* look at b; r0 = a (glc); buffer_wbinvl1_vol; r1 = b. */
static const uint32_t acquire[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xdc500000, 0x09000002, 0xbf8c0070, 0xbf06800a, 0xbf850003,
    0x808a810a, 0xbf800007, 0xbf82fffb, 0xdc510000, 0x07000000, 0xbf8c0070, 0xe0fc0000, 0x00000000, 0xbf8c0f70,
    0xdc500000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* look at b; r0 = a (glc); r1 = b. */
static const uint32_t stale[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xdc500000, 0x09000002, 0xbf8c0070,
    0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb, 0xdc510000, 0x07000000, 0xbf8c0070,
    0xdc500000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1; wait for it; r0 = b (glc). */
static const uint32_t store_load[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc710000, 0x00000600, 0xbf8c0070, 0xdc510000, 0x07000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1; r0 = b (glc), without a wait. */
static const uint32_t store_pass_load[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc710000, 0x00000600, 0xdc510000, 0x07000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* r0 = a (glc); wait for it; b = 1. */
static const uint32_t load_store[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc510000, 0x07000000, 0xbf8c0070, 0xdc710000, 0x00000602, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1. */
static const uint32_t store[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a,
    0xbf800007, 0xbf82fffb, 0xdc710000, 0x00000600, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* r0 = a (glc); wait for it; r1 = b (glc). */
static const uint32_t two_loads[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc510000, 0x07000000, 0xbf8c0070, 0xdc510000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* delay times, by each lane: old = atomic a += 1; atomic b[old] += 1. */
static const uint32_t counting[] = {
    0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e0c0281, 0xdd090000,
    0x07000600, 0xbf8c0070, 0x24100e82, 0x7e060207, 0x32041006, 0x38060680, 0xdd080000,
    0x00000602, 0x808a810a, 0xbf07800a, 0xbf85fff4, 0xbf8c0070, 0xbf810000,
};

/* ------------------------------------------------------------------------------------------------- machines */

static const char *const modes[][4] = {
    { NULL },
    { "gpus.rdma.at=memory", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=read-only", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned", NULL },
    /* Pages move. A page that a GPU may write is nowhere else, so no stale line is ever seen. */
    { "host.model=cpu", "migrate.model=page", "migrate.check=true", NULL },
    { "host.model=cpu", "migrate.model=page", "migrate.threshold=3", NULL },
    { "host.model=cpu", "migrate.model=esi", "migrate.check=true", NULL },
    { "host.model=cpu", "migrate.model=split", "migrate.check=true", NULL },
};

static const litmus_set litmus = { .kind = &remote_r9nano,
                                   .modes = modes,
                                   .mode_count = LS_COUNT_OF(modes),
                                   .still_modes = 4,
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
