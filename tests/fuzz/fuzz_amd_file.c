/* fuzz_amd_file.c: recordings of AMD programs: any bytes as a file, as a catalog in a good frame, and as the
 * tape of a wave, where no checksum protects the reader. Nothing crashes, a refusal is one line, and memory
 * stays in proportion. */
#include "isa/amd/exec/tape.h"
#include "workload/pack/amd_file.h"
#include "workload/pack/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_STEPS 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(ls_status status, const ls_error *err)
{
    char text[1024];
    if (status == LS_OK)
        return;
    if (err->status != status || err->what[0] == '\0' || strchr(ls_error_text(err, text, sizeof text), '\n'))
        abort();
}

static bool visit(void *self, const amd_walk_step *step)
{
    uint64_t *steps = self;
    if (!step->inst || (step->access && step->access->pieces > AMD_PIECES_MAX))
        abort();
    return ++*steps < MOST_STEPS;
}

static void read_path(const char *path)
{
    amd_file *file;
    ls_error err;
    memory_space *address_space = NULL;
    ls_status status = amd_file_open(path, &file, &err);
    check_error(status, &err);
    if (status != LS_OK)
        return;
    status = amd_file_window(file, &address_space, &err);
    for (size_t i = 0; i < amd_file_launch_count(file) && i < 8 && status == LS_OK; i++) {
        amd_program *program = NULL;
        uint64_t steps = 0;
        status = amd_file_program(file, i, address_space, &program, &err);
        check_error(status, &err);
        if (status == LS_OK)
            check_error(amd_walk_launch(file, i, program, 0, 64, visit, &steps, &err), &err);
        amd_program_destroy(program);
    }
    address_space_destroy(address_space);
    amd_file_close(file);
}

static void read_file(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size) {
        ls_error err;
        read_path(path);
        check_error(amd_file_verify(path, &err), &err);
    }
    close(fd);
}

/* A good file around the catalog; the indices of its launches are this catalog too, and so always wrong. */
static void read_catalog(const uint8_t *data, size_t size)
{
    char path[64];
    ls_error err;
    pack_out out;
    uint8_t directory[16] = { LS_PACK_HEADER_BYTES, size > 0 ? data[0] & 7 : 0 };
    memset(directory + 2, LS_PACK_HEADER_BYTES, 7);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!stream)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pack_out_init_flags(&out, stream, path, 1, LS_PACK_FLAG_AMD, &err) == LS_OK) {
        uint64_t at;
        if (pack_put_section(&out, LS_PACK_AMD_CATALOG, data, size, size, &err) == LS_OK &&
            (at = out.offset) > 0 &&
            pack_put_section(&out, LS_PACK_DIRECTORY, directory, 2 + directory[1], 2 + directory[1], &err) ==
                LS_OK &&
            pack_put_trailer(&out, at, &err) == LS_OK && fflush(stream) == 0)
            read_path(path);
        pack_out_fini(&out);
    }
    fclose(stream);
}

/* s_load_dwordx2; s_mov_b32 m0; v_lshlrev_b32; v_mov_b32 (2); ds_add_u32; s_waitcnt; s_barrier; ds_read_b32;
 * s_waitcnt; v_mov_b32 (2); flat_atomic_add; s_endpgm (gfx803) */
static const uint32_t words[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24060082, 0x7e080281, 0x7e0a0280, 0xd8000000, 0x00000405, 0xbf8c007f,
    0xbf8a0000, 0xd86c0000, 0x06000005, 0xbf8c007f, 0x7e020204, 0x7e040205, 0xdd080000, 0x00000601, 0xbf810000,
};

static bool make_code(amd_tape_code *code, amd_program **program)
{
    memory_space *address_space;
    uint64_t at;
    if (address_space_create(1u << 24, &address_space, NULL) != LS_OK)
        return false;
    bool good = address_space_alloc(address_space, 4096, 0, LS_PAGE_READ, &at, NULL) == LS_OK &&
                address_space_write(address_space, at, words, sizeof words, NULL) == LS_OK;
    amd_kernel kernel = { .name = "fuzz",
                          .target = AMD_GFX803,
                          .code = at,
                          .code_bytes = sizeof words,
                          .entry = at,
                          .rsrc1 = 3 | 12u << 6 };
    good = good && amd_program_create(&kernel, address_space, program, NULL) == LS_OK;
    address_space_destroy(address_space);
    return good && amd_tape_code_init(code, *program);
}

static void read_tape(const uint8_t *data, size_t size)
{
    static amd_tape_code code;
    static amd_program *program;
    static amd_access access;
    amd_tape_memory memory[8];
    amd_tape tape;
    if (!program && !make_code(&code, &program))
        abort();
    uint8_t *bytes = malloc(size + AMD_TAPE_SLACK);
    if (!bytes || code.memory_count > 8)
        abort();
    if (size > 0)
        memcpy(bytes, data, size);
    memset(bytes + size, 0xff, AMD_TAPE_SLACK);
    const uint8_t *at = bytes;
    if (amd_tape_open(&tape, &code, memory, &at, bytes + size))
        for (unsigned i = 0; i < MOST_STEPS && tape.left > 0; i++) {
            if (tape.inst == 0 || tape.inst > program->op_count)
                abort();
            if (i % 3 != 0 && amd_tape_access(&tape, 0x100000000, &access) && access.pieces > AMD_PIECES_MAX)
                abort();
            if (i % 7 == 0)
                amd_tape_again(&tape);
            amd_tape_step(&tape);
        }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == (uint8_t)LS_PACK_MAGIC[0])
        read_file(data, size);
    else if (data[0] == 'C')
        read_catalog(data + 1, size - 1);
    else
        read_tape(data + 1, size - 1);
    return 0;
}
