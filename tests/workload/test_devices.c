/* test_devices.c: device lists, owners of addresses, and collectives as programs. */
#include "kernel_text.h"
#include "temp_dir.h"

#include "workload/devices/devices.h"
#include "workload/synth/kind.h"

#define HEAD DEVICES_HEAD "\n"
#define VECTOR "run synth:vector-add,n=1024\n"

static devices_list *open_text(const char *text, uint32_t devices)
{
    devices_list *list;
    ls_error err = { 0 };
    write_text("list", text);
    ls_status status = devices_open("list", devices, NULL, &list, &err);
    if (status != LS_OK)
        print_message("%s\n", err.what);
    assert_int_equal(status, LS_OK);
    return list;
}

static const char *error_of(const char *text, uint32_t devices)
{
    static char out[1024];
    devices_list *list = NULL;
    ls_error err = { 0 };
    write_text("list", text);
    if (devices_open("list", devices, NULL, &list, &err) == LS_OK) {
        devices_close(list);
        return "";
    }
    return ls_error_text(&err, out, sizeof out);
}

#define ASSERT_SAYS(text_, part_) assert_non_null(strstr(error_of(text_, 2), part_))

static void test_commands(void **state)
{
    (void)state;
    devices_list *list = open_text(HEAD "device 0\n" VECTOR "copy 4096 0 1 0x1000 0x2000\nsignal a\nsignal a\n"
                                        "device 1\nwait a\ndelay 70\n" VECTOR VECTOR "wait a # the second\n",
                                   2);
    const devices_device *d = &list->at[0];
    assert_int_equal(list->count, 2);
    assert_int_equal(d->commands.count, 4);
    assert_int_equal(d->commands.at[0].kind, DEVICE_KERNELS);
    assert_int_equal(d->commands.at[0].end, d->trace->command_count);
    assert_int_equal(d->commands.at[1].bytes, 4096);
    assert_int_equal(d->commands.at[1].from_address, 0x1000);
    assert_int_equal(d->commands.at[1].to_address, 0x2000);
    assert_int_equal(d->commands.at[2].to, 1);
    d = &list->at[1];
    assert_int_equal(d->commands.count, 5);
    assert_int_equal(d->commands.at[0].count, 1);
    assert_int_equal(d->commands.at[4].count, 2);
    assert_int_equal(d->commands.at[1].cycles, 70);
    assert_int_equal(d->commands.at[3].first, d->commands.at[2].end);
    assert_string_equal(list->names.at + d->commands.at[4].text, "a");
    devices_close(list);
}

/* A signal goes to every device that waits for it, and to no other. */
static void test_fan_out(void **state)
{
    (void)state;
    devices_list *list =
        open_text(HEAD "device 0\nsignal go\ndevice 1\nwait go\ndevice 2\ndelay 1\ndevice 3\nwait go\n", 4);
    assert_int_equal(list->at[0].commands.count, 2);
    assert_int_equal(list->at[0].commands.at[0].to, 1);
    assert_int_equal(list->at[0].commands.at[1].to, 3);
    devices_close(list);
}

static void test_errors(void **state)
{
    (void)state;
    ASSERT_SAYS(HEAD, "the list has no device");
    ASSERT_SAYS(HEAD "device 2\n", "there is no device 2: the platform has 2 GPUs");
    ASSERT_SAYS(HEAD "device x\n", "'x' is no device");
    ASSERT_SAYS(HEAD "device 0\ndelay 1\ndevice 0\n", "device 0 has a section already");
    ASSERT_SAYS(HEAD "delay 5\n", "'delay' stands before the first device");
    ASSERT_SAYS(HEAD "device 0\nsignl a\n", "'signl' is no line of a device list");
    ASSERT_SAYS(HEAD "device 0\ncopy 1 0\n", "it must be: copy BYTES FROM TO");
    ASSERT_SAYS(HEAD "device 0\ncopy 1 1 0\n", "it is made by its source");
    ASSERT_SAYS(HEAD "device 0\ncopy 1 0 0\n", "to itself");
    ASSERT_SAYS(HEAD "device 0\ncopy 0 0 1\n", "'0' is no number of bytes: a number from 1");
    ASSERT_SAYS(HEAD "device 0\nrun missing.g\n", "list:3");
    ASSERT_SAYS(HEAD "device 0\nrun synth:all-reduce\n", "is for several devices itself");
    ASSERT_SAYS(HEAD "device 0\nwait redy\ndevice 1\nsignal ready\n",
                "device 0 waits 1 times for signal 'redy'");
    ASSERT_SAYS(HEAD "device 0\nsignal a\nwait a\n", "which other devices send 0 times");
    ASSERT_SAYS(HEAD "device 0\nowners x\n", "'owners' stands before the first device");
    ASSERT_SAYS(HEAD "owners first-touch 1000\ndevice 0\n", "a power of two");
    ASSERT_SAYS(HEAD "owners none\ndevice 0\n", "none");
    write_text("ranges", "0x1000 4096 0\n0x1800 16 1\n");
    ASSERT_SAYS(HEAD "owners ranges\ndevice 0\n", "two ranges have address 0x1800");
    write_text("ranges", "0x1000 4096\n");
    ASSERT_SAYS(HEAD "owners ranges\ndevice 0\n", "a range is an address, a number of bytes and a device");
    write_text("ranges", "0x1000 4096 3\n");
    ASSERT_SAYS(HEAD "owners ranges\ndevice 0\n", "a range of device 3");
}

static void test_owners_by_file(void **state)
{
    (void)state;
    const ls_owner_range *ranges;
    uint32_t count;
    write_text("ranges",
               "# address bytes device\n0x3000 0x1000 1\n0x1000 0x1000 1\n0x2000 0x1000 1\n0x4000 16 0\n");
    devices_list *list = open_text(HEAD "owners ranges\ndevice 0\ndelay 1\ndevice 1\ndelay 1\n", 2);
    assert_int_equal(devices_owner_ranges(list, 0, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].begin, 0x1000);
    assert_int_equal(ranges[0].end, 0x4000);
    assert_int_equal(ranges[0].owner, 1);
    assert_int_equal(devices_owner_ranges(list, 1, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].begin, 0x4000);
    const ls_address_owners owners = { ranges, count };
    assert_null(ls_address_owner(&owners, 0x3fff));
    assert_ptr_equal(ls_address_owner(&owners, 0x400f), ranges);
    assert_null(ls_address_owner(&owners, 0x4010));
    devices_close(list);
}

/* Copies of a device's own traces make addresses its own, whatever others declare. */
static void test_owners_by_copies(void **state)
{
    (void)state;
    const ls_owner_range *ranges;
    uint32_t count;
    devices_list *list = open_text(HEAD "device 0\n" VECTOR "device 1\ndelay 1\n", 2);
    assert_int_equal(devices_owner_ranges(list, 0, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(devices_owner_ranges(list, 1, &ranges, &count, NULL), LS_OK);
    assert_true(count > 0);
    assert_int_equal(ranges[0].begin, synth_array(0));
    assert_int_equal(ranges[0].end, synth_array(0) + 4096);
    assert_int_equal(ranges[0].owner, 0);
    devices_close(list);
    list = open_text(HEAD "device 0\n" VECTOR "device 1\n" VECTOR, 2);
    assert_int_equal(devices_owner_ranges(list, 1, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 0);
    devices_close(list);
}

static void test_owners_by_touch(void **state)
{
    (void)state;
    const ls_owner_range *ranges;
    uint32_t count;
    /* Device 1 touches twice as much: the second half is its own. */
    devices_list *list = open_text(HEAD "owners first-touch 4096\ndevice 0\nrun synth:vector-add,n=1024\n"
                                        "device 1\nrun synth:vector-add,n=2048\n",
                                   2);
    assert_int_equal(devices_owner_ranges(list, 1, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ranges[0].begin, synth_array(0));
    assert_int_equal(ranges[0].end, synth_array(0) + 4096);
    assert_int_equal(devices_owner_ranges(list, 0, &ranges, &count, NULL), LS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ranges[0].begin, synth_array(0) + 4096);
    assert_int_equal(ranges[0].end, synth_array(0) + 8192);
    devices_close(list);
}

static uint64_t count_kind(const devices_list *list, uint32_t device, device_command_kind kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->at[device].commands.count; i++)
        count += list->at[device].commands.at[i].kind == kind;
    return count;
}

static devices_list *collective(const char *text, uint32_t devices)
{
    devices_list *list;
    assert_true(devices_is(text));
    assert_int_equal(devices_open(text, devices, NULL, &list, NULL), LS_OK);
    return list;
}

/* 2 (n - 1) steps of a ring, each with a kernel or copy, a signal and a wait. */
static void test_rings(void **state)
{
    (void)state;
    for (uint32_t n = 2; n < 6; n++) {
        devices_list *list = collective("synth:all-reduce,bytes=65536", n);
        assert_int_equal(list->collective.bytes % (512 * n), 0);
        assert_true(list->collective.factor == 2.0 * (n - 1) / n);
        for (uint32_t d = 0; d < n; d++) {
            assert_int_equal(count_kind(list, d, DEVICE_KERNELS), 2 * (n - 1));
            assert_int_equal(count_kind(list, d, DEVICE_SIGNAL), 2 * (n - 1));
            assert_int_equal(count_kind(list, d, DEVICE_WAIT), 2 * (n - 1));
            assert_int_equal(count_kind(list, d, DEVICE_DELAY), 2 * (n - 1));
            assert_false(list->at[d].commands.at[1].continues);
        }
        devices_close(list);
    }
    devices_list *list = collective("synth:all-gather,bytes=65536,engine=copy,step_ns=0", 4);
    assert_int_equal(count_kind(list, 3, DEVICE_COPY), 3);
    assert_int_equal(count_kind(list, 3, DEVICE_KERNELS), 0);
    assert_int_equal(count_kind(list, 3, DEVICE_DELAY), 0);
    devices_close(list);
}

static void test_broadcasts(void **state)
{
    (void)state;
    devices_list *list = collective("synth:broadcast,algorithm=flat,bytes=4096", 5);
    assert_int_equal(count_kind(list, 0, DEVICE_KERNELS), 4);
    devices_close(list);
    list = collective("synth:broadcast,algorithm=tree,bytes=4096", 8);
    assert_int_equal(count_kind(list, 0, DEVICE_KERNELS), 3);
    assert_int_equal(count_kind(list, 1, DEVICE_KERNELS), 2);
    assert_int_equal(count_kind(list, 7, DEVICE_KERNELS), 0);
    assert_int_equal(count_kind(list, 7, DEVICE_WAIT), 1);
    devices_close(list);
    list = collective("synth:broadcast,algorithm=ring,bytes=8192,pieces=4", 2);
    assert_int_equal(count_kind(list, 0, DEVICE_KERNELS), 4);
    assert_int_equal(count_kind(list, 1, DEVICE_WAIT), 4);
    devices_close(list);
}

static void test_collective_errors(void **state)
{
    (void)state;
    devices_list *list;
    ls_error err = { 0 };
    assert_false(devices_is("synth:vector-add"));
    assert_false(devices_is("missing"));
    assert_int_equal(devices_open("synth:all-reduce", 1, NULL, &list, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "at least two GPUs"));
    assert_int_equal(devices_open("synth:all-reduce,byte=1", 2, NULL, &list, &err), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "bytes");
    assert_int_equal(devices_open("synth:peer-bandwidth,to=5", 2, NULL, &list, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "there is no device 5"));
    assert_int_equal(devices_open("synth:peer-latency,from=1", 2, NULL, &list, &err), LS_ERR_USAGE);
}

/* Waits that come to their ends in some order, and a cycle of three behind a device that only waits for it. */
static void test_waits(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "lockstep devices 1\ndevice 0\nwait b\nsignal a\nwait b\ndevice 1\nsignal b\nwait a\nsignal b\n",
        "lockstep devices 1\ndevice 0\nwait x\ndevice 1\nwait c\nsignal a\nsignal x\ndevice 2\nwait a\nsignal "
        "b\ndevice 3\nwait b\nsignal c\n",
    };
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        devices_list *list;
        ls_error err = { 0 };
        strcpy(text, texts[i]);
        assert_int_equal(devices_open_memory("a.list", text, strlen(text), 4, NULL, &list, &err), LS_OK);
        assert_int_equal(devices_check_waits(list, &err), i == 0 ? LS_OK : LS_ERR_INPUT);
        if (i == 1)
            assert_non_null(strstr(err.what,
                                   "device 1 for 'c' of device 3 (line 5), device 3 for 'b' of device 2 "
                                   "(line 12), device 2 for 'a' of device 1 (line 9)"));
        devices_close(list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_fan_out),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_owners_by_file),
        cmocka_unit_test(test_owners_by_copies),
        cmocka_unit_test(test_owners_by_touch),
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_broadcasts),
        cmocka_unit_test(test_collective_errors),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
