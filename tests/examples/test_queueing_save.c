/* test_queueing_save.c: a machine is saved at any time and continues in another process, with other threads
 * and groups. It ends with the same bits as a machine that was never interrupted.
 *
 * The test starts itself again: `test FILE CASE THREADS` loads the state in FILE, runs to the end and prints
 * its fingerprint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER LS_SOURCE_DIR "/examples/queueing"
#define US UINT64_C(1000000000)

typedef struct machine_case {
    const char *file, *sets;
    ls_time until; /* 0: to its end */
} machine_case;

static const machine_case cases[] = {
    { "ping.yaml", "client.messages=40 client.rotate=true servers=3 clients=2", 0 },
    { "busy.yaml", "client.messages=150", 0 },
    { "busy.yaml", "client.messages=100 arbiter.model=round-robin server.queue_messages=0", 0 },
    { "md1.yaml", "client.messages=30 client.load=0.003 clients=4 servers=2", 0 }, /* the queues grow */
    { "saturation.yaml", "clients=2", 6 * US },
    { "deadlock.yaml", "", 0 }, /* ends with the same report */
};

#define PRINT_MAX 1024

static void must(ls_status status, const ls_error *err)
{
    char text[512];
    if (status)
        fail_msg("%s", ls_error_text(err, text, sizeof text));
}

/* Runs to the case's end and writes everything that must not differ. */
static void finish(rig *r, const machine_case *c, uint32_t threads, char print[PRINT_MAX], ls_time *end)
{
    ls_error err = { 0 };
    ls_run_result result;
    uint64_t hash = 0;
    ls_status status =
        ls_run(r->engine, &(ls_run_options){ .threads = threads, .until = c->until }, &result, &err);
    assert_true(status == LS_OK || status == LS_ERR_DEADLOCK);
    assert_int_equal(rig_hash(r, &hash, NULL), LS_OK);
    snprintf(print, PRINT_MAX, "%llx, %llu events, %llu messages, %llu ticks, %llu cycles, end %llu, '%s'",
             (unsigned long long)hash, (unsigned long long)result.events, (unsigned long long)result.messages,
             (unsigned long long)result.ticks, (unsigned long long)result.region_cycles,
             (unsigned long long)result.end_time, err.what);
    if (end)
        *end = result.end_time;
}

static rig open_case(const machine_case *c)
{
    rig r;
    ls_error err = { 0 };
    must(rig_open(&r, FOLDER, c->file, c->sets, &err), &err);
    return r;
}

/* --------------------------------------------------------------------------------------- the other process */

/* Clients apart from servers: no trace of groups is in a saved state. */
static void group_clients(const rig *r)
{
    ls_group *group;
    ls_error err = { 0 };
    must(ls_group_create(r->engine, "clients", &group, &err), &err);
    for (uint32_t i = 0; i < ls_engine_block_count(r->engine); i++) {
        ls_domain *domain = ls_region_domain(ls_block_region(ls_engine_block(r->engine, i)));
        if (strncmp(ls_domain_name(domain), "client", 6) == 0)
            must(ls_domain_set_group(domain, group, &err), &err);
    }
}

static int go_on(const char *path, const char *case_text, const char *threads_text)
{
    static char bytes[1 << 24];
    const machine_case *c = &cases[strtoul(case_text, NULL, 10)];
    uint32_t threads = (uint32_t)strtoul(threads_text, NULL, 10);
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    rig r;
    ls_error err = { 0 };
    char print[PRINT_MAX] = "";
    if (file)
        fclose(file);
    if (rig_open(&r, FOLDER, c->file, c->sets, &err))
        return 1;
    if (threads % 2)
        group_clients(&r);
    if (ls_engine_load(r.engine, bytes, count, &err))
        snprintf(print, sizeof print, "%s", err.what);
    else
        finish(&r, c, threads, print, NULL);
    rig_close(&r);
    puts(print);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ this one */

static void continue_elsewhere(const char *path, size_t number, uint32_t threads, char print[PRINT_MAX])
{
    char self[512], command[PRINT_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "'%s' '%s' %zu %u", self, path, number, threads);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    print[0] = '\0';
    char *line = fgets(print, PRINT_MAX, from);
    assert_int_equal(pclose(from), 0);
    assert_non_null(line);
    print[strcspn(print, "\n")] = '\0';
}

static void save_to(ls_engine *engine, const char *path)
{
    ls_error err = { 0 };
    void *bytes;
    size_t count;
    must(ls_engine_save(engine, &bytes, &count, &err), &err);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    free(bytes);
}

static void test_saved_machines_go_on(void **state)
{
    (void)state;
    char path[] = "lockstep-save-XXXXXX"; /* in the directory of the tests */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    ls_random random;
    ls_random_init(&random, 14);
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char whole[PRINT_MAX], part[PRINT_MAX];
        ls_time end;
        rig r = open_case(&cases[i]);
        finish(&r, &cases[i], 1, whole, &end);
        rig_close(&r);
        for (uint32_t k = 0; k < 8; k++) {
            static const uint32_t threads[] = { 1, 2, 3, 8 };
            ls_time cut = k == 0 ? 1 : 1 + ls_random_below(&random, end);
            r = open_case(&cases[i]);
            ls_error err = { 0 };
            must(ls_run(r.engine, &(ls_run_options){ .threads = 1 + k % 3, .until = cut }, NULL, &err), &err);
            save_to(r.engine, path);
            continue_elsewhere(path, i, threads[(k + i) % 4], part);
            if (strcmp(part, whole) != 0)
                fail_msg("%s cut at %llu fs, %u threads:\n%s\n%s", cases[i].file, (unsigned long long)cut,
                         threads[(k + i) % 4], whole, part);
            finish(&r, &cases[i], 2, part, NULL); /* saving changes nothing */
            assert_string_equal(part, whole);
            rig_close(&r);
        }
    }
    unlink(path);
}

static void test_another_machine_is_refused(void **state)
{
    (void)state;
    ls_error err = { 0 };
    void *bytes;
    size_t count;
    rig r = open_case(&cases[0]);
    must(ls_run(r.engine, &(ls_run_options){ .until = US / 10 }, NULL, &err), &err);
    must(ls_engine_save(r.engine, &bytes, &count, &err), &err);
    rig_close(&r);
    rig other =
        open_case(&(machine_case){ .file = "ping.yaml", .sets = "servers=3 clients=2 request.credits=5" });
    assert_int_equal(ls_engine_load(other.engine, bytes, count, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what,
                           "the state was saved from another machine: it has link "
                           "'request:client0-server0' from 'client0'.0 to 'server0'.0, latency 20, "));
    assert_non_null(strstr(err.what, "128 credits"));
    assert_non_null(strstr(err.what, "5 credits"));
    rig_close(&other);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return go_on(argv[1], argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_machines_go_on),
        cmocka_unit_test(test_another_machine_is_refused),
    };
    return cmocka_run_group_tests_name("queueing_save", tests, NULL, NULL);
}
