/* test_object.c: code objects as clang writes them, of every version that it can write. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "workload/hsa/hsa.h"

#include <stdio.h>
#include <string.h>

static const struct compiled {
    const char *target;
    unsigned version, wave;
} all[] = {
    { "gfx803", 2, 64 },  { "gfx803", 3, 64 },  { "gfx803", 4, 64 },
    { "gfx803", 5, 64 },  { "gfx1010", 3, 32 }, { "gfx1010", 4, 32 },
    { "gfx1010", 5, 32 }, { "gfx1030", 4, 32 }, { "gfx1030", 5, 32 },
};

/* Skips the test if the compiler was not there. */
static hsa_object *load(const struct compiled *c)
{
    mem_arena arena = { 0 };
    ls_error err;
    hsa_object *o;
    char path[512], *data;
    size_t bytes;
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-v%u/driver.co", c->target, c->version);
    if (!file_exists(path)) {
        print_message("no compiled kernels: clang-15, lld-15 or rocm-device-libs is missing\n");
        skip();
    }
    assert_int_equal(file_read(&arena, path, HSA_FILE_LIMIT, &data, &bytes, &err), LS_OK);
    if (hsa_object_read(data, bytes, &o, &err) != LS_OK)
        fail_msg("%s: %s", path, err.what);
    arena_fini(&arena);
    return o;
}

static const hsa_arg *find_arg(const hsa_kernel *k, hsa_arg_kind kind)
{
    for (size_t i = 0; i < k->arg_count; i++)
        if (k->args[i].kind == kind)
            return &k->args[i];
    return NULL;
}

static void kernels_of_all_versions(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        hsa_object *o = load(&all[i]);
        const hsa_kernel *k;
        assert_int_equal(o->version, all[i].version);
        assert_string_equal(o->target_name, all[i].target);
        assert_true(o->has_target);
        assert_string_equal(amd_target_name(o->target), all[i].target);
        assert_int_equal(o->kernel_count, 9);
        for (size_t n = 0; n < o->kernel_count; n++) {
            assert_int_equal(o->kernels[n].wave_size, all[i].wave);
            assert_true(o->kernels[n].code_bytes >= 4);
        }
        k = hsa_object_find(o, "required");
        assert_int_equal(k->required_group[0], 32);
        assert_int_equal(k->required_group[1], 2);
        assert_int_equal(k->group_size_max, 64);
        assert_int_equal(hsa_object_find(o, "locals")->lds_bytes, 256);
        assert_null(hsa_object_find(o, "incrementt"));
        assert_string_equal(hsa_object_nearest(o, "incrementt"), "increment");
        hsa_object_destroy(o);
    }
}

static void explicit_arguments(void **state)
{
    static const struct {
        const char *type;
        uint32_t offset, bytes;
    } want[] = { { "double*", 0, 8 }, { "char", 8, 1 },     { "short", 10, 2 },
                 { "int", 12, 4 },    { "long", 16, 8 },    { "float", 24, 4 },
                 { "double", 32, 8 }, { "float4", 48, 16 }, { "mixed", 64, 24 } };
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        hsa_object *o = load(&all[i]);
        const hsa_kernel *k = hsa_object_find(o, "values"), *locals = hsa_object_find(o, "locals");
        assert_int_equal(k->explicit_count, LS_COUNT_OF(want));
        assert_int_equal(k->explicit_bytes, 88);
        for (size_t n = 0; n < LS_COUNT_OF(want); n++) {
            assert_string_equal(k->args[n].type_name, want[n].type);
            assert_int_equal(k->args[n].offset, want[n].offset);
            assert_int_equal(k->args[n].bytes, want[n].bytes);
            assert_int_equal(k->args[n].kind, n == 0 ? HSA_ARG_GLOBAL_BUFFER : HSA_ARG_BY_VALUE);
        }
        assert_string_equal(k->args[0].address_space, "global");
        assert_string_equal(k->args[8].name, "m");
        assert_int_equal(locals->args[2].kind, HSA_ARG_LOCAL);
        assert_int_equal(locals->args[3].pointee_align, 8);
        assert_true(locals->args[0].is_const);
        hsa_object_destroy(o);
    }
}

static void hidden_arguments(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        hsa_object *o = load(&all[i]);
        const hsa_kernel *k = hsa_object_find(o, "sizes");
        assert_int_equal(k->explicit_count, 1);
        if (all[i].version == 5) {
            assert_int_equal(k->kernarg_bytes, 8 + 256);
            assert_int_equal(find_arg(k, HSA_ARG_BLOCK_COUNT_Y)->offset, 8 + 4);
            assert_int_equal(find_arg(k, HSA_ARG_GROUP_SIZE_Z)->offset, 8 + 16);
            assert_int_equal(find_arg(k, HSA_ARG_GROUP_SIZE_Z)->bytes, 2);
            assert_int_equal(find_arg(k, HSA_ARG_REMAINDER_X)->offset, 8 + 18);
            assert_int_equal(find_arg(k, HSA_ARG_GLOBAL_OFFSET_Z)->offset, 8 + 56);
            assert_int_equal(find_arg(k, HSA_ARG_GRID_DIMS)->offset, 8 + 64);
        } else {
            assert_int_equal(find_arg(k, HSA_ARG_GLOBAL_OFFSET_X)->offset, 8);
            assert_int_equal(find_arg(k, HSA_ARG_GLOBAL_OFFSET_Z)->offset, 24);
            assert_null(find_arg(k, HSA_ARG_BLOCK_COUNT_X));
        }
        hsa_object_destroy(o);
    }
}

static void variables_and_relocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        hsa_object *o = load(&all[i]);
        const hsa_variable *counter = NULL, *table = NULL, *address = NULL;
        uint64_t pointer;
        for (size_t n = 0; n < o->variable_count; n++) {
            if (strcmp(o->variables[n].name, "counter") == 0)
                counter = &o->variables[n];
            if (strcmp(o->variables[n].name, "table") == 0)
                table = &o->variables[n];
            if (strcmp(o->variables[n].name, "counter_address") == 0)
                address = &o->variables[n];
        }
        assert_non_null(counter);
        assert_non_null(table);
        assert_non_null(address);
        if (!counter || !table || !address)
            return;
        assert_int_equal(counter->bytes, 4);
        assert_true(counter->writable);
        assert_int_equal(o->image[counter->address], 7);
        assert_int_equal(table->bytes, 16);
        assert_false(table->writable);
        assert_int_equal(o->image[table->address + 8], 33);
        assert_int_equal(o->reloc_count, 1);
        hsa_object_relocate(o, 0x10000, o->image);
        memcpy(&pointer, o->image + address->address, sizeof pointer);
        assert_int_equal(pointer, 0x10000 + counter->address);
        hsa_object_destroy(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_all_versions),
        cmocka_unit_test(explicit_arguments),
        cmocka_unit_test(hidden_arguments),
        cmocka_unit_test(variables_and_relocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
