/* test_place_memory.c: the memory of a channel has a page table of its own, which changes by messages only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/amd_memory/place_memory.h"

#include <string.h>

typedef struct rig {
    ls_engine *engine;
    memory_space *space;
    ls_block *memory[2];
    uint64_t base;
} rig;

static rig make(void)
{
    rig r = { 0 };
    ls_clock clock;
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r.engine, NULL), LS_OK);
    assert_int_equal(address_space_create(1 << 24, &r.space, NULL), LS_OK);
    assert_int_equal(address_space_alloc(r.space, 4 * LS_PAGE_BYTES, LS_PAGE_BYTES,
                                         LS_PAGE_READ | LS_PAGE_WRITE, &r.base, NULL),
                     LS_OK);
    for (uint32_t i = 0; i < 2; i++) {
        ls_domain *domain;
        assert_int_equal(ls_domain_create(r.engine, i == 0 ? "a" : "b", clock, &domain, NULL), LS_OK);
        assert_int_equal(line_memory_create(ls_domain_region(domain, 0), i == 0 ? "ma" : "mb", &r.memory[i],
                                            NULL),
                         LS_OK);
        assert_int_equal(line_memory_attach(r.memory[i], r.space, NULL), LS_OK);
    }
    return r;
}

static void end(rig *r)
{
    ls_engine_destroy(r->engine);
    address_space_destroy(r->space);
}

static void pages_change_by_messages_only(void **state)
{
    (void)state;
    rig r = make();
    const ls_memory *a = line_memory_of(r.memory[0]), *b = line_memory_of(r.memory[1]);
    assert_true(ls_memory_is_mapped(a, r.base, true) && ls_memory_is_mapped(b, r.base, true));
    assert_false(ls_memory_is_mapped(a, r.base + 4 * LS_PAGE_BYTES, false));
    assert_int_equal(address_space_protect(r.space, r.base, LS_PAGE_BYTES, LS_PAGE_READ, NULL), LS_OK);
    assert_true(ls_memory_is_mapped(a, r.base, true)); /* nobody told it */
    line_memory_change(r.memory[0],
                       &(ls_page_change){ .address = r.base, .bytes = LS_PAGE_BYTES, .state = LS_PAGE_READ });
    assert_false(ls_memory_is_mapped(a, r.base, true));
    assert_true(ls_memory_is_mapped(a, r.base, false));
    assert_true(ls_memory_is_mapped(a, r.base + LS_PAGE_BYTES, true)); /* the next page */
    assert_true(ls_memory_is_mapped(b, r.base, true));                 /* another channel */
    end(&r);
}

static void outside_nothing_is_mapped(void **state)
{
    (void)state;
    rig r = make();
    const ls_memory *a = line_memory_of(r.memory[0]);
    static const uint64_t places[] = { 0, 64, LS_WINDOW_BASE - 64, LS_WINDOW_BASE + (1 << 24),
                                       UINT64_MAX - 63 };
    for (size_t i = 0; i < LS_COUNT_OF(places); i++) {
        uint8_t line[64];
        memset(line, 0xee, sizeof line);
        assert_false(ls_memory_read_line(a, places[i], line, 64));
        assert_int_equal(line[0] | line[63], 0);
        assert_false(ls_memory_write_line(line_memory_of(r.memory[0]), places[i], line,
                                          (const uint64_t[2]){ UINT64_MAX, 0 }));
    }
    end(&r);
}

static void loaded_bytes_are_read(void **state)
{
    (void)state;
    rig r = make();
    uint8_t from[64], to[64];
    for (uint32_t i = 0; i < 64; i++)
        from[i] = (uint8_t)(i + 1);
    assert_true(line_memory_load(r.memory[0], r.base + 128, from, 64));
    assert_true(ls_memory_read_line(line_memory_of(r.memory[0]), r.base + 128, to, 64));
    assert_memory_equal(to, from, 64);
    assert_true(ls_memory_write_line(line_memory_of(r.memory[0]), r.base + 128, to + 1,
                                     (const uint64_t[2]){ 1, 0 })); /* byte 0 only */
    assert_true(ls_memory_read_line(line_memory_of(r.memory[0]), r.base + 128, to, 64));
    assert_int_equal(to[0], 2);
    assert_int_equal(to[1], 2);
    assert_false(line_memory_load(r.memory[0], r.base + 4 * LS_PAGE_BYTES, from, 64));
    assert_false(line_memory_load(r.memory[0], r.base + 4 * LS_PAGE_BYTES - 32, from, 64));
    end(&r);
}

static void note(void *self, uint64_t address, uint64_t bytes, uint32_t page_state)
{
    uint64_t *last = self;
    last[0]++;
    last[1] = address;
    last[2] = bytes;
    last[3] = page_state;
}

static void every_change_of_an_address_space_is_told(void **state)
{
    (void)state;
    rig r = make();
    uint64_t last[4] = { 0 }, at;
    address_space_watch(r.space, note, last);
    assert_int_equal(address_space_alloc(r.space, 10000, 0, LS_PAGE_READ, &at, NULL), LS_OK);
    assert_true(last[0] == 1 && last[1] == at && last[2] == 3 * LS_PAGE_BYTES && last[3] == LS_PAGE_READ);
    assert_int_equal(address_space_protect(r.space, at, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE, NULL),
                     LS_OK);
    assert_true(last[0] == 2 && last[2] == LS_PAGE_BYTES && last[3] == 3);
    assert_int_equal(address_space_free(r.space, r.base, NULL), LS_OK);
    assert_true(last[0] == 3 && last[1] == r.base && last[2] == 4 * LS_PAGE_BYTES && last[3] == 0);
    address_space_watch(r.space, NULL, NULL);
    assert_int_equal(address_space_free(r.space, at, NULL), LS_OK);
    assert_int_equal(last[0], 3);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_change_by_messages_only),
        cmocka_unit_test(outside_nothing_is_mapped),
        cmocka_unit_test(loaded_bytes_are_read),
        cmocka_unit_test(every_change_of_an_address_space_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
