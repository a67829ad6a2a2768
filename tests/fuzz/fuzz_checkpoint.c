/* fuzz_checkpoint.c: any bytes as a checkpoint: as they are, with a checksum of the whole file that fits, and as the sections
 * of a good file. Nothing crashes, and a refusal is one line. */
#include "base/hash.h"
#include "lockstep/sim.h"
#include "sim/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHOLE_AT 40u /* of the checksum in the header */
#define HEADER_BYTES 56u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(ls_status status, const ls_error *err)
{
    char text[1024];
    if (status == LS_OK)
        return;
    if (err->what[0] == '\0' || strchr(ls_error_text(err, text, sizeof text), '\n'))
        abort();
}

static void read_path(const char *path)
{
    static const char *const names[] = { "identity", "options", "engine", "metrics", "trace", "series" };
    checkpoint_reader *reader;
    ls_error err = { 0 };
    ls_sim *sim = NULL;
    ls_status status = checkpoint_open(path, &reader, &err);
    check_error(status, &err);
    for (size_t i = 0; i < LS_COUNT_OF(names) && status == LS_OK; i++) {
        const void *bytes;
        size_t count;
        ls_error own = { 0 };
        check_error(checkpoint_find(reader, names[i], &bytes, &count, &own), &own);
    }
    checkpoint_close(reader);
    /* Wrong identities and options are refused before anything is built; the machine of a good one is not run. */
    status = ls_sim_resume(&(ls_sim_resume_options){ LS_SIM_RESUME_OPTIONS, .file = path }, &sim, &err);
    check_error(status, &err);
    ls_sim_close(sim);
}

static void read_file(const uint8_t *data, size_t size, bool fits)
{
    char path[64];
    uint8_t *bytes = malloc(size + 1);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || bytes == NULL)
        abort();
    if (size > 0)
        memcpy(bytes, data, size);
    if (fits && size >= HEADER_BYTES) {
        uint64_t file_bytes = size;
        memcpy(bytes + WHOLE_AT - sizeof file_bytes, &file_bytes, sizeof file_bytes);
        memset(bytes + WHOLE_AT, 0, sizeof(hash128));
        hash128 whole = hash128_of(bytes, size);
        memcpy(bytes + WHOLE_AT, &whole, sizeof whole);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, bytes, size) == (ssize_t)size)
        read_path(path);
    close(fd);
    free(bytes);
}

/* The bytes after a count go to identity, the rest to options, in a file whose checksums fit. */
static void read_sections(const uint8_t *data, size_t size)
{
    char path[4096];
    const char *place = getenv("TMPDIR");
    checkpoint_writer *writer;
    ls_error err = { 0 };
    size_t first = size > 0 && data[0] < size ? data[0] : 0;
    snprintf(path, sizeof path, "%s/lockstep-fuzz-XXXXXX", place != NULL && *place ? place : P_tmpdir);
    int fd = mkstemp(path);
    if (fd < 0 || checkpoint_create(&writer, &err) != LS_OK)
        abort();
    close(fd);
    checkpoint_add(writer, "identity", data, first);
    checkpoint_add(writer, "options", data + first, size - first);
    if (checkpoint_write(writer, path, &err) == LS_OK)
        read_path(path);
    checkpoint_destroy(writer);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'S')
        read_sections(data + 1, size - 1);
    else
        read_file(data + (data[0] == 'F'), size - (data[0] == 'F'), data[0] == 'F');
    return 0;
}
