/* test_litmus.c: litmus tests over two GPUs of GCN.
 *
 * Scopes: a load or store with glc is of system scope, s_waitcnt orders it (release), buffer_wbinvl1_vol is an
 * acquire. */
#include "model/cu/cu.h"

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

/* --------------------------------------------------------------------------------- a machine that is wrong */

static const ls_line_memory_ops *whole; /* of the machine as it was built */
static uint64_t somewhere;

/* Reads a line instead of emptying the cache. */
static bool empties_nothing(void *self, uint32_t client, const ls_line_message *message, ls_cycle now)
{
    ls_line_message m = *message;
    if (m.kind == LS_LINE_INVALIDATE) {
        m.kind = LS_LINE_READ;
        m.address = somewhere;
        m.mask[0] = m.mask[1] = UINT64_MAX;
        m.atomic = 0;
    }
    return whole->request(self, client, &m, now);
}

static void break_caches(const rig *r)
{
    static ls_line_memory_ops broken;
    somewhere = at(r, 0, RESULTS);
    for (uint32_t i = 0; i < ls_engine_block_count(r->base.engine); i++) {
        ls_block *block = ls_engine_block(r->base.engine, i);
        if (strcmp(ls_block_type_of(block)->slot, LS_CU_SLOT) != 0)
            continue;
        cu *c = ls_block_state(block);
        whole = c->wires.vector[0].ops;
        broken = *whole;
        broken.request = empties_nothing;
        c->wires.vector[0].ops = &broken;
    }
}

/* Message passing with an acquire that leaves L1 as it is: the checker names the stale read and the lost write. */
static void a_stale_line_is_found(void **state)
{
    (void)state;
    const litmus_program *programs[] = { &litmus.release, &litmus.acquire };
    const char *const parts[] = { "remote+0x6c on gpu1 (work-group 0,0,0, wave 0, lane 0)",
                                  "reads 0x00000000 at 0x",
                                  "but the last write was 0x00000001, by remote+0x48 on gpu0" };
    for (uint32_t threads = 1; threads <= 3; threads++) {
        static char first[LS_COUNT_OF(((ls_error *)0)->what)];
        rig r;
        ls_command_packet packets[2];
        ls_error err = { 0 };
        ls_status status = LS_OK;
        open_rig(&r, 0);
        break_caches(&r);
        for (uint32_t i = 0; i < 2; i++) {
            const uint64_t args[] = { at(&r, 0, i == 0 ? 0 : SECOND), at(&r, 0, i == 0 ? SECOND : 0),
                                      at(&r, 0, RESULTS + i * 64), (i == 0 ? 8 : 40) * litmus.step };
            uint32_t program = remote_program(&r.base, programs[i]->words, programs[i]->count);
            remote_launch_beside(&r.base, i, program, 64, args, 4, &packets[i]);
        }
        const ls_run_options options = { .threads = threads,
                                         .between = memcheck_between,
                                         .between_self = r.base.check };
        for (uint32_t runs = 0; runs < 8 && status == LS_OK; runs++)
            status = ls_run(r.base.engine, &options, NULL, &err);
        if (status == LS_OK)
            status = memcheck_flush(r.base.check, 0, &err);
        assert_int_equal(status, LS_ERR_CHECK);
        for (size_t i = 0; i < LS_COUNT_OF(parts); i++)
            if (!strstr(err.what, parts[i]))
                fail_msg("'%s' is not in '%s'", parts[i], err.what);
        if (threads == 1)
            memcpy(first, err.what, sizeof first);
        assert_string_equal(first, err.what);
        close_rig(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { LITMUS_TESTS, cmocka_unit_test(a_stale_line_is_found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
