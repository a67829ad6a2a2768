/* test_profile_file.c: profiles in files: a written profile is read back, and a damaged one is refused with
 * its line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "workload/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, P_tmpdir "/lockstep-profile-XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_round_trip(void **state)
{
    (void)state;
    ls_error err = { 0 };
    profile_inst insts[2] = { { .pc = 0x40 }, { .pc = 0x1b0 } };
    insts[0].level[RATES_DRAM] = (profile_count){ 7, 28, 27, 26 };
    insts[1].level[RATES_WAIT] = (profile_count){ 3, 12, 0, 0 };
    char name[] = "void f<int>(int *)";
    kernel_profile kernel = { .name = name,
                              .command = 2,
                              .id = 5,
                              .at = insts,
                              .count = 2,
                              .l2_sectors = 27,
                              .slice_sectors = 9,
                              .dram_atoms = 26,
                              .channel_cycles = 60,
                              .reads = 7,
                              .closed = 4,
                              .conflicts = 3,
                              .walked = 10,
                              .insts = 100,
                              .slice_stalls = 6 };
    trace_profile profile = { .hash = { 1, 2 }, .method = LS_PROFILE_REUSE }, back;
    profile.kernels.at = &kernel;
    profile.kernels.count = 1;
    assert_int_equal(profile_write(&profile, path, &err), LS_OK);
    assert_int_equal(profile_read(path, &back, &err), LS_OK);
    assert_true(hash_same(back.hash, profile.hash));
    assert_int_equal(back.method, LS_PROFILE_REUSE);
    const kernel_profile *k = profile_find(&back, 2);
    assert_non_null(k);
    assert_null(profile_find(&back, 1));
    assert_string_equal(k->name, name);
    assert_int_equal(k->count, 2);
    assert_int_equal(k->at[1].pc, 0x1b0);
    assert_memory_equal(k->at[0].level, insts[0].level, sizeof insts[0].level);
    assert_int_equal(k->conflicts, 3);
    assert_int_equal(k->insts, 100);
    assert_int_equal(k->slice_stalls, 6);
    profile_fini(&back);
}

static void refuse(const char *text, const char *says)
{
    ls_error err = { 0 };
    trace_profile profile;
    assert_int_equal(file_write(path, text, strlen(text), &err), LS_OK);
    assert_int_equal(profile_read(path, &profile, &err), LS_ERR_INPUT);
    if (strstr(err.what, says) == NULL)
        fail_msg("'%s' does not say '%s'", err.what, says);
    assert_int_equal(profile.kernels.count, 0);
}

#define HEAD "lockstep-profile 3\nhash 00000000000000010000000000000002\nmethod cache\n"

static void test_broken(void **state)
{
    (void)state;
    refuse("", ":0: this is no profile");
    refuse("lockstep-profile 9\n", ":1: this is no profile");
    refuse("lockstep-profile 3\nhash 12\n", ":2: the hash");
    refuse("lockstep-profile 3\nhash 00000000000000010000000000000002\nmethod guess\n",
           ":3: the method is neither");
    refuse(HEAD, "cut off");
    refuse(HEAD "pc 40\nend\n", ":4: an instruction stands before");
    refuse(HEAD "kernel 1 2 3\nend\n", ":4: a kernel has twelve");
    refuse(HEAD "kernel 0 1 4 5 0 0 0 0 0 0 0 0 0 0 f\nend\n", ":4: the numbers");
    refuse(HEAD "kernel 0 1 4 4 0 0 0 0 0 0 0 0 0 0 f\npc 40 1 2 3\nend\n", ":5: an instruction has");
    refuse(HEAD "end\nmore\n", "follows the end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
