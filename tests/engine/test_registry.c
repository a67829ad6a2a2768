/* test_registry.c: types register by declaration in their own file, are found sorted, and plug-ins add
 * theirs or are refused whole. The types below are this program's own. */
#include "engine/fixture.h"

#include <stdio.h>
#include <unistd.h>

static const ls_block_type beta = { .abi = LS_ABI_VERSION, .slot = "toy", .name = "beta", .help = "b" };
LS_REGISTER_BLOCK(beta);
static const ls_block_type other = { .abi = LS_ABI_VERSION, .slot = "another", .name = "zeta", .help = "z" };
LS_REGISTER_BLOCK(other);
static const ls_block_type alpha = { .abi = LS_ABI_VERSION, .slot = "toy", .name = "alpha", .help = "a" };
LS_REGISTER_BLOCK(alpha);
static const char *const toy_functions[] = { "play", "stop", NULL };
static const ls_interface toy_interface = { "toy/1", "toy.h", toy_functions };
static const ls_slot_port strict_ports[] = { { .name = "toy", .interface = &toy_interface } };
static const ls_section sections[] = {
    { .path = "toy", .slot = "toy" },
    { .path = "strict", .slot = "strict", .ports = strict_ports, .port_count = 1 },
};
static const ls_machine_type toy_machine = { .abi = LS_ABI_VERSION,
                                             .name = "toy-machine",
                                             .help = "m",
                                             .sections = sections,
                                             .section_count = LS_COUNT_OF(sections) };
LS_REGISTER_MACHINE(toy_machine);
static const ls_machine_type first_machine = { .abi = LS_ABI_VERSION, .name = "a-machine", .help = "m" };
LS_REGISTER_MACHINE(first_machine);

#define PLUGIN(name) LS_PLUGIN_DIR "/engine_plugin_" name ".so"

static void test_own_types_sorted(void **state)
{
    (void)state;
    assert_int_equal(ls_registry_block_count(), 3); /* joins at the first call */
    assert_ptr_equal(ls_registry_block(0), &other);
    assert_ptr_equal(ls_registry_block(1), &alpha);
    assert_ptr_equal(ls_registry_block(2), &beta);
    assert_null(ls_registry_block(3));
    assert_int_equal(ls_registry_machine_count(), 2);
    assert_ptr_equal(ls_registry_machine(0), &first_machine);
    assert_ptr_equal(ls_registry_machine(1), &toy_machine);
    assert_null(ls_registry_machine(2));
    ls_error err = { 0 };
    assert_int_equal(ls_registry_check(&err), LS_OK);
    assert_int_equal(ls_registry_check(NULL), LS_OK);
    assert_int_equal(ls_registry_block_count(), 3); /* no type is registered twice */
}

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(ls_registry_find_block("toy", "beta"), &beta);
    assert_ptr_equal(ls_registry_find_block("another", "zeta"), &other);
    assert_null(ls_registry_find_block("another", "beta"));
    assert_null(ls_registry_find_block("toy", "gamma"));
    assert_null(ls_registry_find_block("", ""));
    assert_ptr_equal(ls_registry_find_machine("toy-machine"), &toy_machine);
    assert_null(ls_registry_find_machine("toy"));
}

static void refused(const char *path, ls_status status, const char *what)
{
    ls_error err = { 0 };
    assert_int_equal(ls_plugin_load(path, &err), status);
    assert_string_equal(err.what, what);
    assert_string_equal(err.where, path);
    assert_int_equal(ls_plugin_load(path, NULL), status);
    assert_int_equal(ls_registry_block_count(), 3);
    assert_int_equal(ls_registry_machine_count(), 2);
    assert_null(ls_registry_find_block("toy", "fresh")); /* all or nothing */
}

static void test_refused_plugins(void **state)
{
    (void)state;
    refused(PLUGIN("duplicate"), LS_ERR_USAGE, "block 'toy/beta' is registered twice");
    refused(PLUGIN("duplicate_machine"), LS_ERR_USAGE, "machine 'toy-machine' is registered twice");
    char what[512];
    snprintf(what, sizeof what, "block 'old' was built for ABI version 0, this is version %u: rebuild it",
             LS_ABI_VERSION);
    refused(PLUGIN("old_block"), LS_ERR_USAGE, what);
    snprintf(what, sizeof what,
             "plug-in '" PLUGIN("old") "' was built for ABI version 9999, this is version %u: rebuild it",
             LS_ABI_VERSION);
    refused(PLUGIN("old"), LS_ERR_USAGE, what);
    refused(
        PLUGIN("no_slot"), LS_ERR_INPUT,
        "model 'fresh' names slot 'toi', which no machine has (a machine of another plug-in is loaded first)");
    refused(PLUGIN("not_one"), LS_ERR_INPUT, "not a Lockstep plug-in: it was built without -DLOCKSTEP_PLUGIN");
    refused(PLUGIN("empty"), LS_ERR_INPUT, "the plug-in registers no block and no machine");
}

static void test_files_that_cannot_be_loaded(void **state)
{
    (void)state;
    ls_error err = { 0 };
    assert_int_equal(ls_plugin_load("/nowhere/x.so", &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot load plug-in: /nowhere/x.so: cannot open shared object file: "
                                  "No such file or directory");
    assert_string_equal(err.where, "/nowhere/x.so");
    /* A bare name means this directory, not the system's: libc.so.6 is in none of them. */
    assert_int_equal(ls_plugin_load("libc.so.6", &err), LS_ERR_IO);
    assert_string_equal(err.where, "./libc.so.6");
    char path[] = P_tmpdir "/lockstep-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "text", 4), 4);
    close(file);
    assert_int_equal(ls_plugin_load(path, &err), LS_ERR_IO);
    assert_non_null(strstr(err.what, "cannot load plug-in: "));
    assert_string_equal(err.where, path);
    unlink(path);
    char too_long[8192];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    assert_int_equal(ls_plugin_load(too_long, &err), LS_ERR_IO);
}

static void play(void *self)
{
    (void)self;
}

/* A model of a slot has its ports, of that interface, with every function. */
static void test_ports_of_slots(void **state)
{
    (void)state;
    static void (*const all[])(void *) = { play, play }, (*const some[])(void *) = { play, NULL };
    static const ls_port_decl good = { .name = "toy", .interface = "toy/1", .ops = all };
    static const ls_port_decl lacks = { .name = "toy", .interface = "toy/1", .ops = some };
    static const ls_port_decl newer = { .name = "toy", .interface = "toy/2", .ops = all };
    static const ls_port_decl used = { .name = "toy", .interface = "toy/1" };
    static const struct {
        const ls_port_decl *port;
        const char *what;
    } cases[] = {
        { &good, NULL },
        { NULL, "model 'strict/mine' lacks port 'toy', which a model of its slot provides: toy.h" },
        { &used, "model 'strict/mine' lacks port 'toy', which a model of its slot provides: toy.h" },
        { &newer, "port 'toy' of model 'strict/mine' speaks 'toy/2', its slot speaks 'toy/1'" },
        { &lacks, "model 'strict/mine' lacks function 'stop' of its port 'toy' (see toy.h)" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        const ls_block_type model = { .abi = LS_ABI_VERSION,
                                      .slot = "strict",
                                      .name = "mine",
                                      .ports = cases[i].port,
                                      .port_count = cases[i].port != NULL };
        ls_error err = { 0 };
        ls_status status = ls_section_check(&sections[1], &model, &err);
        assert_int_equal(status, cases[i].what == NULL ? LS_OK : LS_ERR_INPUT);
        if (cases[i].what != NULL)
            assert_string_equal(err.what, cases[i].what);
    }
}

/* Two machines may have a slot of one name: a model belongs to the section whose first port it has. */
static void test_models_of_a_section(void **state)
{
    (void)state;
    static const ls_port_decl good = { .name = "toy", .interface = "toy/1" };
    static const ls_port_decl foreign = { .name = "other", .interface = "toy/1" };
    const struct {
        const char *slot;
        const ls_port_decl *port;
        bool takes;
    } cases[] = { { "strict", &good, true }, { "strict", &foreign, false }, { "toy", &good, false } };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        const ls_block_type model = {
            .slot = cases[i].slot, .name = "mine", .ports = cases[i].port, .port_count = 1
        };
        assert_int_equal(ls_section_takes(&sections[1], &model), cases[i].takes);
    }
}

/* Last, because its types stay registered. */
static void test_good_plugin(void **state)
{
    (void)state;
    ls_error err = { 0 };
    if (ls_plugin_load(PLUGIN("good"), &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(ls_registry_block_count(), 5);
    static const char *const names[] = { "zeta", "aa-plugged", "alpha", "beta", "zz-plugged" };
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        assert_string_equal(ls_registry_block(i)->name, names[i]);
    const ls_machine_type *machine = ls_registry_find_machine("plugged-machine");
    assert_non_null(machine);
    assert_ptr_equal(ls_registry_machine(1), machine);
    assert_int_equal(machine->build(NULL, NULL, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "built by the plug-in");
    /* Twice is once too often; the first stays. */
    assert_int_equal(ls_plugin_load(PLUGIN("good"), &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, " is registered twice"));
    assert_int_equal(ls_registry_block_count(), 5);
    assert_string_equal(ls_registry_find_block("toy", "aa-plugged")->help, "a toy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_types_sorted), cmocka_unit_test(test_find),
        cmocka_unit_test(test_refused_plugins),  cmocka_unit_test(test_files_that_cannot_be_loaded),
        cmocka_unit_test(test_ports_of_slots),   cmocka_unit_test(test_models_of_a_section),
        cmocka_unit_test(test_good_plugin),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
