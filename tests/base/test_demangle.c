/* test_demangle.c: names of the Itanium C++ ABI, as c++filt spells them, and names that are left as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/demangle.h"

#include <string.h>

static const struct {
    const char *mangled, *plain, *full;
} names[] = {
    { "_Z9vectorAddPKfS0_Pfi", "vectorAdd", "vectorAdd(float const*, float const*, float*, int)" },
    { "_Z6vecAddIfEvPT_S1_S1_i", "vecAdd<float>", "vecAdd<float>(float*, float*, float*, int)" },
    { "_ZN3ops5scaleILi4ELb1EEEvPd", "ops::scale<4, true>", "ops::scale<4, true>(double*)" },
    { "_ZNK3Foo3getEv", "Foo::get", "Foo::get() const" },
    { "_ZN3FooC1Ei", "Foo::Foo", "Foo::Foo(int)" },
    { "_Z3runPFviE", "run", "run(void (*)(int))" },
    { "_Z4listSt6vectorIiSaIiEE", "list", "list(std::vector<int, std::allocator<int> >)" },
    { "_ZN12_GLOBAL__N_13addEPU3AS1f", "(anonymous namespace)::add",
      "(anonymous namespace)::add(float AS1*)" },
    { "_Z4packIJifEEvDpT_", "pack<int, float>", "pack<int, float>(int, float)" },
    { "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", "main::{lambda()#1}::operator()() const" },
    { "_Z3fooi.kd", "foo", "foo(int)" },
};

static void test_names(void **state)
{
    char text[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(demangle(names[i].mangled, false, text, sizeof text));
        assert_string_equal(text, names[i].plain);
        assert_true(demangle(names[i].mangled, true, text, sizeof text));
        assert_string_equal(text, names[i].full);
    }
}

static void test_others_stay(void **state)
{
    static const char *const others[] = { "fir",           "",         "_Z",    "_Z9vector",  "_ZN3Foo",
                                          "_Z3fooS5_",     "_Z3fooT_", "_ZNSt", "_Z1fDTfp_E", "_Z3fooI",
                                          "_Z99999999999x" };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(demangle(others[i], true, text, sizeof text));
        assert_string_equal(text, others[i]);
    }
}

/* Every cut of a name ends in one of the two ways, and nests to no depth that harms. */
static void test_cut_and_deep(void **state)
{
    char text[512], cut[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t bytes = 0; bytes < strlen(names[i].mangled); bytes++) {
            memcpy(cut, names[i].mangled, bytes);
            cut[bytes] = 0;
            if (!demangle(cut, true, text, sizeof text))
                assert_string_equal(text, cut);
        }
    memcpy(cut, "_Z1f", 4);
    memset(cut + 4, 'P', 400);
    memcpy(cut + 404, "i", 2);
    assert_false(demangle(cut, true, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_cut_and_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
