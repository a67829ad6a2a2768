/* position.c: see position.h. */
#include "workload/position.h"

#include "base/file.h"
#include "base/text.h"
#include "workload/devices/devices.h"
#include "workload/identity.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ numbers */

static void put_u64(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* ---------------------------------------------------------------------------------------------- the source */

static bool is_elf(const char *path)
{
    char head[4] = "";
    int fd;
    if (file_is_dir(path) || file_open(path, &fd, NULL, NULL) != LS_OK)
        return false;
    bool is = read(fd, head, sizeof head) == sizeof head && memcmp(head, "\177ELF", sizeof head) == 0;
    close(fd);
    return is;
}

/* The name of a workload is one word and no file. */
static bool is_program(const char *path)
{
    return is_elf(path) || (!strpbrk(path, "/.:") && !file_exists(path));
}

ls_status position_begin(const char *path, source_position *out, ls_error *err)
{
    *out = (source_position){ .kind = POSITION_TRACE };
    if (is_program(path))
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "'%s' is a program: its position depends on its options, so that only a simulation of it has one",
            path);
    if (devices_is(path))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "'%s' is for several GPUs: its position depends on how many there are, so that only a "
                       "simulation of it has one",
                       path);
    if (amd_file_is(path))
        out->kind = POSITION_RECORDING;
    return trace_identity(path, &out->identity, err);
}

ls_status position_begin_program(const char *text, const char *code_path, source_position *out, ls_error *err)
{
    hash128 code;
    hash_stream *hasher;
    *out = (source_position){ .kind = POSITION_PROGRAM };
    ls_status status = trace_identity(code_path, &code, err);
    if (status == LS_OK)
        status = hasher_create(&hasher, err);
    if (status != LS_OK)
        return status;
    uint8_t bytes[16];
    put_u64(bytes, code.low);
    put_u64(bytes + 8, code.high);
    hasher_add_field(hasher, text, strlen(text));
    hasher_add(hasher, bytes, sizeof bytes);
    out->identity = hasher_get(hasher);
    hasher_destroy(hasher);
    return LS_OK;
}

source_position position_begin_list(hash128 identity, uint32_t device_count)
{
    return (source_position){ .kind = POSITION_LIST, .identity = identity, .device_count = device_count };
}

ls_status position_check(const source_position *p, const char *path, ls_error *err)
{
    source_position here;
    ls_status status = position_begin(path, &here, err);
    return status == LS_OK ? position_check_source(p, &here, path, err) : status;
}

ls_status position_check_source(const source_position *p, const source_position *begin, const char *name,
                                ls_error *err)
{
    static const char *const names[] = { [POSITION_TRACE] = "a trace",
                                         [POSITION_RECORDING] = "a recording",
                                         [POSITION_PROGRAM] = "a program",
                                         [POSITION_LIST] = "a device list" };
    char saved[LS_HASH_TEXT_BYTES], found[LS_HASH_TEXT_BYTES];
    if (begin->kind != p->kind)
        ls_fail(err, LS_ERR_INPUT, "the position is one of %s, but this is %s", names[p->kind],
                names[begin->kind]);
    else if (!hash_same(begin->identity, p->identity))
        ls_fail(err, LS_ERR_INPUT, "the position is one of other content: %s, but this is %s",
                hash128_text(p->identity, saved), hash128_text(begin->identity, found));
    else if (begin->device_count != p->device_count)
        ls_fail(err, LS_ERR_INPUT, "the position has %u devices, but this work has %u", p->device_count,
                begin->device_count);
    else
        return LS_OK;
    return ls_error_at(err, name, 0, 0);
}

ls_status position_check_start(const source_position *p, ls_error *err)
{
    if (p->group == 0)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "the position is inside of a launch, after %" PRIu64
                   " of its thread blocks: a machine begins with whole kernels",
                   p->group);
}

/* ---------------------------------------------------------------------------------------------- restoring */

static ls_status skip_blocks(trace_kernel *kernel, uint64_t count, ls_error *err)
{
    ls_cta cta = { 0 };
    bool end = false;
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < count && status == LS_OK && !end; i++)
        status = kernel_next_cta(kernel, &cta, &end, err);
    ls_cta_fini(&cta);
    return status;
}

ls_status position_open_kernel(const source_position *p, sass_trace *trace, trace_kernel **out, ls_error *err)
{
    ls_status status = trace_open_kernel(trace, p->command, out, err);
    if (status != LS_OK)
        return status;
    uint64_t blocks = kernel_blocks(*out);
    if (p->group > blocks)
        status = ls_fail(err, LS_ERR_INPUT,
                         "the position is after %" PRIu64 " thread blocks, but the kernel has %" PRIu64,
                         p->group, blocks);
    else if (p->group > 0 && p->group < blocks && (*out)->ops->seek)
        status = kernel_seek(*out, p->group, err);
    else
        status = skip_blocks(*out, p->group, err);
    if (status != LS_OK) {
        kernel_close(*out);
        *out = NULL;
    }
    return status;
}

ls_status position_check_recording(const source_position *p, const amd_file *file, ls_error *err)
{
    size_t commands = amd_file_command_count(file);
    if (p->command > commands)
        return ls_fail(err, LS_ERR_INPUT,
                       "the position is before command %" PRIu64 ", but the recording has %zu", p->command,
                       commands);
    const amd_file_command *command =
        p->command < commands ? amd_file_command_at(file, (size_t)p->command) : NULL;
    uint64_t groups = 0;
    if (command && command->kind == AMD_FILE_LAUNCH)
        groups = amd_file_groups(amd_file_launch_at(file, command->launch));
    if (p->group > groups)
        return ls_fail(err, LS_ERR_INPUT,
                       "the position is after %" PRIu64 " work-groups, but the command has %" PRIu64, p->group,
                       groups);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- bytes */

static const uint8_t magic[8] = "LSPOSIT";

void position_write(const source_position *p, uint8_t out[POSITION_BYTES])
{
    memcpy(out, magic, sizeof magic);
    put_u64(out + 8, POSITION_VERSION | (uint64_t)p->kind << 32);
    put_u64(out + 16, p->identity.low);
    put_u64(out + 24, p->identity.high);
    put_u64(out + 32, p->command);
    put_u64(out + 40, p->group);
    put_u64(out + 48, p->launches);
    put_u64(out + 56, p->device_count);
    for (unsigned i = 0; i < POSITION_DEVICES; i++) {
        put_u64(out + 64 + 16 * i, p->devices[i].command);
        put_u64(out + 72 + 16 * i, p->devices[i].kernel);
    }
}

ls_status position_read(const uint8_t *bytes, size_t count, const char *from, source_position *out,
                        ls_error *err)
{
    if (count != POSITION_BYTES || memcmp(bytes, magic, sizeof magic) != 0) {
        ls_fail(err, LS_ERR_INPUT, "this is no position of a source");
        return ls_error_at(err, from, 0, 0);
    }
    uint64_t version = get_u64(bytes + 8) & UINT32_MAX, kind = get_u64(bytes + 8) >> 32;
    if (version != POSITION_VERSION || kind < POSITION_TRACE || kind > POSITION_LIST) {
        ls_fail(err, LS_ERR_UNSUPPORTED,
                "the position has version %" PRIu64 " and kind %" PRIu64 ", but this program knows version %u",
                version, kind, POSITION_VERSION);
        return ls_error_at(err, from, 0, 0);
    }
    *out = (source_position){ .kind = (position_kind)kind,
                              .identity = { .low = get_u64(bytes + 16), .high = get_u64(bytes + 24) },
                              .command = get_u64(bytes + 32),
                              .group = get_u64(bytes + 40),
                              .launches = get_u64(bytes + 48) };
    uint64_t devices = get_u64(bytes + 56);
    if (devices > POSITION_DEVICES) {
        ls_fail(err, LS_ERR_INPUT, "the position has %" PRIu64 " devices, but there are at most %u", devices,
                POSITION_DEVICES);
        return ls_error_at(err, from, 0, 0);
    }
    out->device_count = (uint32_t)devices;
    for (unsigned i = 0; i < POSITION_DEVICES; i++)
        out->devices[i] = (position_device){ .command = get_u64(bytes + 64 + 16 * i),
                                             .kernel = get_u64(bytes + 72 + 16 * i) };
    return LS_OK;
}
