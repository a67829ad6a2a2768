/* test_meta.c: metadata as MessagePack and as YAML becomes the same tree; damaged metadata is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "workload/hsa/meta.h"

#include <string.h>

static void msgpack_tree(void **state)
{
    /* { "a": [1, 300, -1, true], "b": { "c": "xy" }, 7: 1, "n": nil } */
    static const uint8_t bytes[] = "\x84\xa1"
                                   "a\x94\x01\xcd\x01\x2c\xff\xc3\xa1"
                                   "b\x81\xa1"
                                   "c\xa2xy\x07\x01\xa1n\xc0";
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root, *list;
    (void)state;
    assert_int_equal(meta_read_msgpack(&arena, bytes, sizeof bytes - 1, &root, &err), LS_OK);
    assert_int_equal(root->count, 3); /* the key that is no text is left out */
    list = meta_get(root, "a");
    assert_int_equal(list->count, 4);
    assert_int_equal(list->children[1].number, 300);
    assert_int_equal(list->children[2].number, 0);
    assert_int_equal(list->children[3].kind, META_BOOL);
    assert_string_equal(meta_text(meta_get(root, "b"), "c"), "xy");
    assert_int_equal(meta_number(root, "missing", 5), 5);
    assert_null(meta_get(list, "a"));
    arena_fini(&arena);
}

/* One object of each form, in a list, with its expected node. */
static void msgpack_forms(void **state)
{
#define FORM(bytes, kind, number)                                                                             \
    {                                                                                                         \
        bytes, sizeof(bytes) - 1, kind, number                                                                \
    }
    static const struct {
        const char *bytes;
        size_t count;
        meta_kind kind;
        uint64_t number; /* or how many children or letters */
    } forms[] = {
        FORM("\x7f", META_NUMBER, 127),
        FORM("\xe0", META_NUMBER, 0),
        FORM("\xc0", META_NULL, 0),
        FORM("\xc2", META_BOOL, 0),
        FORM("\xc3", META_BOOL, 1),
        FORM("\xc4\x02zz", META_NULL, 0),
        FORM("\xc5\x00\x01z", META_NULL, 0),
        FORM("\xc6\x00\x00\x00\x01z", META_NULL, 0),
        FORM("\xc7\x01tz", META_NULL, 0),
        FORM("\xc8\x00\x02tzz", META_NULL, 0),
        FORM("\xc9\x00\x00\x00\x00t", META_NULL, 0),
        FORM("\xca\x3f\x80\x00\x00", META_NULL, 0),
        FORM("\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", META_NULL, 0),
        FORM("\xcc\xff", META_NUMBER, 255),
        FORM("\xcd\x80\x01", META_NUMBER, 0x8001),
        FORM("\xce\x80\x00\x00\x01", META_NUMBER, 0x80000001),
        FORM("\xcf\x80\x00\x00\x00\x00\x00\x00\x01", META_NUMBER, 0x8000000000000001),
        FORM("\xd0\x7f", META_NUMBER, 127),
        FORM("\xd0\x80", META_NUMBER, 0),
        FORM("\xd1\x7f\xff", META_NUMBER, 0x7fff),
        FORM("\xd2\xff\xff\xff\xff", META_NUMBER, 0),
        FORM("\xd3\x00\x00\x00\x01\x00\x00\x00\x00", META_NUMBER, 0x100000000),
        FORM("\xd4tz", META_NULL, 0),
        FORM("\xd8tzzzzzzzzzzzzzzzz", META_NULL, 0),
        FORM("\xa0", META_TEXT, 0),
        FORM("\xd9\x02xy", META_TEXT, 2),
        FORM("\xda\x00\x01x", META_TEXT, 1),
        FORM("\xdb\x00\x00\x00\x03xyz", META_TEXT, 3),
        FORM("\x90", META_LIST, 0),
        FORM("\xdc\x00\x02\x01\x02", META_LIST, 2),
        FORM("\xdd\x00\x00\x00\x01\x80", META_LIST, 1),
        FORM("\xde\x00\x01\xa1k\x01", META_MAP, 1),
        FORM("\xdf\x00\x00\x00\x02\xa1k\x01\xa1l\x02", META_MAP, 2),
    };
    uint8_t all[512] = { 0xdc, 0, LS_COUNT_OF(forms) };
    size_t bytes = 3;
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root;
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(forms); i++) {
        memcpy(all + bytes, forms[i].bytes, forms[i].count);
        bytes += forms[i].count;
    }
    assert_int_equal(meta_read_msgpack(&arena, all, bytes, &root, &err), LS_OK);
    assert_int_equal(root->count, LS_COUNT_OF(forms));
    for (size_t i = 0; i < LS_COUNT_OF(forms); i++) {
        const meta_node *node = &root->children[i];
        assert_int_equal(node->kind, forms[i].kind);
        assert_int_equal(node->kind == META_TEXT                             ? strlen(node->text)
                         : node->kind == META_LIST || node->kind == META_MAP ? node->count
                                                                             : node->number,
                         forms[i].number);
        assert_null(node->key);
    }
    /* Every end before the last byte is found. */
    for (size_t cut = 0; cut < bytes; cut++)
        assert_int_equal(meta_read_msgpack(&arena, all, cut, &root, &err), LS_ERR_INPUT);
    arena_fini(&arena);
#undef FORM
}

/* A container is refused at its header if the bytes cannot hold it and the elements announced before it. */
static void msgpack_claims(void **state)
{
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root;
    (void)state;
    assert_int_equal(meta_read_msgpack(&arena, "\x92\x92\x01\x01", 4, &root, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "at byte 2 of 4"));
    arena_fini(&arena);
}

static void msgpack_damage(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
    } cases[] = {
        { "", 0 },
        { "\xc1", 1 },                 /* reserved */
        { "\xdd\xff\xff\xff\xff", 5 }, /* a list of 4 G elements */
        { "\xdf\x10\x00\x00\x00", 5 }, /* a map as large */
        { "\xdb\xff\xff\xff\xff"
          "x",
          6 }, /* a text that ends before */
        { "\xc6\x00\x00\x00\x02"
          "x",
          6 },
        { "\xc9\xff\xff\xff\xff\x00", 6 },
        { "\x92\x01", 2 },
        { "\xcf\x00", 2 },
    };
    uint8_t deep[200];
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root;
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        assert_int_equal(meta_read_msgpack(&arena, cases[i].bytes, cases[i].count, &root, &err), LS_ERR_INPUT);
        assert_non_null(strstr(err.what, "metadata is damaged"));
        assert_null(root);
    }
    memset(deep, 0x91, sizeof deep);
    deep[sizeof deep - 1] = 0;
    assert_int_equal(meta_read_msgpack(&arena, deep, sizeof deep, &root, &err), LS_ERR_INPUT);
    arena_fini(&arena);
}

static void yaml_tree(void **state)
{
    static const char text[] =
        "Version: [ 1, 0 ]\nKernels:\n  - Name: first\n    Quoted: '12'\n    Flag: true\n";
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root, *kernel;
    (void)state;
    assert_int_equal(meta_read_yaml(&arena, text, sizeof text - 1, &root, &err), LS_OK);
    assert_int_equal(meta_kernels(root)->count, 1);
    kernel = &meta_kernels(root)->children[0];
    assert_string_equal(meta_kernel_symbol(kernel), "first");
    assert_int_equal(meta_get(kernel, "Quoted")->kind, META_TEXT);
    assert_int_equal(meta_number(kernel, "Flag", 0), 1);
    assert_int_equal(meta_get(root, "Version")->children[0].number, 1);
    assert_int_equal(meta_read_yaml(&arena, "a: [ 1", 6, &root, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "damaged in line"));
    assert_int_equal(meta_read_yaml(&arena, "", 0, &root, &err), LS_OK);
    assert_null(meta_kernels(root));
    arena_fini(&arena);
}

/* A name in a list that names itself must not run for ever. */
static void yaml_alias_loop(void **state)
{
    static const char text[] = "&a [ *a, *a ]\n";
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root;
    (void)state;
    assert_int_equal(meta_read_yaml(&arena, text, sizeof text - 1, &root, &err), LS_ERR_INPUT);
    arena_fini(&arena);
}

static void arguments(void **state)
{
    static const char text[] =
        "{ .name: k, .args: [ { .value_kind: hidden_none, .size: 8, .offset: 16 },"
        " { .value_kind: by_value, .size: 4, .offset: 8, .name: n },"
        " { .value_kind: dynamic_shared_pointer, .size: 4, .offset: 12, .pointee_align: 8 },"
        " { .value_kind: image, .size: 2, .offset: 14 } ] }";
    mem_arena arena = { 0 };
    ls_error err;
    const meta_node *root;
    hsa_kernel kernel = { .name = "" };
    (void)state;
    assert_int_equal(meta_read_yaml(&arena, text, sizeof text - 1, &root, &err), LS_OK);
    assert_int_equal(meta_apply(&arena, root, &kernel, &err), LS_OK);
    assert_string_equal(kernel.name, "k");
    assert_int_equal(kernel.explicit_count, 3);
    assert_int_equal(kernel.args[0].kind, HSA_ARG_BY_VALUE);
    assert_int_equal(kernel.args[1].pointee_align, 8);
    assert_int_equal(kernel.args[2].kind, HSA_ARG_IMAGE);
    assert_int_equal(kernel.args[3].kind, HSA_ARG_NONE);
    assert_int_equal(kernel.explicit_bytes, 16);
    assert_int_equal(kernel.kernarg_bytes, 24);
    for (size_t i = 1; i < HSA_ARG_KIND_COUNT; i++)
        assert_int_equal(hsa_arg_is_hidden((hsa_arg_kind)i),
                         strncmp(hsa_arg_kind_name((hsa_arg_kind)i), "hidden_", 7) == 0);
    arena_fini(&arena);
}

/* Every kind in the spelling of both families of versions: HiddenMultiGridSyncArg is one of version 2. */
static void kinds_of_all_versions(void **state)
{
    static const char *const old[] = { "ByValue",
                                       "GlobalBuffer",
                                       "DynamicSharedPointer",
                                       "Sampler",
                                       "Image",
                                       "Pipe",
                                       "Queue",
                                       "HiddenGlobalOffsetX",
                                       "HiddenGlobalOffsetY",
                                       "HiddenGlobalOffsetZ",
                                       "HiddenNone",
                                       "HiddenPrintfBuffer",
                                       "HiddenHostcallBuffer",
                                       "HiddenDefaultQueue",
                                       "HiddenCompletionAction",
                                       "HiddenMultiGridSyncArg" };
    (void)state;
    for (size_t i = 1; i < HSA_ARG_KIND_COUNT; i++) {
        for (int version = 2; version <= 3; version++) {
            mem_arena arena = { 0 };
            ls_error err;
            const meta_node *root;
            hsa_kernel kernel = { .name = "" };
            char text[256];
            if (version == 2 && i > sizeof old / sizeof *old)
                continue;
            snprintf(text, sizeof text,
                     version == 2 ? "{ Name: k, Args: [ { ValueKind: %s, Size: 8, Align: 8 } ] }"
                                  : "{ .name: k, .args: [ { .value_kind: %s, .size: 8, .offset: 0 } ] }",
                     version == 2 ? old[i - 1] : hsa_arg_kind_name((hsa_arg_kind)i));
            assert_int_equal(meta_read_yaml(&arena, text, strlen(text), &root, &err), LS_OK);
            assert_int_equal(meta_apply(&arena, root, &kernel, &err), LS_OK);
            assert_int_equal(kernel.args[0].kind, i);
            assert_int_equal(kernel.explicit_count, hsa_arg_is_hidden((hsa_arg_kind)i) ? 0 : 1);
            arena_fini(&arena);
        }
    }
}

static void unknown_kinds(void **state)
{
    static const char *const texts[][2] = {
        { "{ Name: k, Args: [ { ValueKind: HiddenFutureThing, Size: 8 } ] }", "'hidden_future_thing'" },
        { "{ .name: k, .args: [ { .value_kind: hidden_heap_v2, .size: 8 } ] }",
          "nearest is 'hidden_heap_v1'" },
        { "{ .name: k, .args: [ { .size: 8 } ] }", "does not say what kind" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mem_arena arena = { 0 };
        ls_error err;
        const meta_node *root;
        hsa_kernel kernel = { .name = "" };
        char whole[1024];
        assert_int_equal(meta_read_yaml(&arena, texts[i][0], strlen(texts[i][0]), &root, &err), LS_OK);
        assert_int_not_equal(meta_apply(&arena, root, &kernel, &err), LS_OK);
        ls_error_text(&err, whole, sizeof whole);
        assert_non_null(strstr(whole, texts[i][1]));
        assert_non_null(strstr(whole, "argument 1 of kernel 'k'"));
        arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(msgpack_tree),   cmocka_unit_test(msgpack_forms),
        cmocka_unit_test(msgpack_claims), cmocka_unit_test(msgpack_damage),
        cmocka_unit_test(yaml_tree),      cmocka_unit_test(yaml_alias_loop),
        cmocka_unit_test(arguments),      cmocka_unit_test(kinds_of_all_versions),
        cmocka_unit_test(unknown_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
