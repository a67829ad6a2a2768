/* fuzz_gdb.c: any bytes that a client of GDB's remote protocol could send: no packet crashes the server, and every answer fits
 * into a packet that our own reader takes back as it was. */
#include "debug/gdb_protocol.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THREADS 70u

static uint32_t lanes(void *self)
{
    (void)self;
    return 64;
}

static uint64_t current(void *self)
{
    (void)self;
    return 3;
}

static void threads(void *self, bool (*each)(void *each_self, uint64_t thread), void *each_self)
{
    (void)self;
    for (uint64_t i = 1; i <= THREADS && each(each_self, i << 40); i++)
        ;
}

static bool select_thread(void *self, uint64_t thread)
{
    (void)self;
    return thread != 0 && thread <= THREADS;
}

static void describe(void *self, char *out, size_t bytes)
{
    (void)self;
    snprintf(out, bytes, "a wave");
}

static gdb_answer read_register(void *self, uint64_t number, uint8_t *out)
{
    (void)self;
    memset(out, (int)number, gdb_register_bytes(number, 64));
    return number % 5 == 4 ? GDB_HAS_NONE : GDB_YES;
}

static gdb_answer write_register(void *self, uint64_t number, const uint8_t *from)
{
    uint8_t copy[GDB_REGISTER_BYTES];
    (void)self;
    memcpy(copy, from, gdb_register_bytes(number, 64));
    return copy[0] != 1 ? GDB_YES : GDB_NO;
}

static bool read_memory(void *self, uint64_t address, void *out, uint64_t bytes)
{
    (void)self;
    memset(out, 0x5a, bytes);
    return address % 7 != 0 && bytes < 5000;
}

static bool write_memory(void *self, uint64_t address, const void *from, uint64_t bytes)
{
    volatile uint8_t sum = 0;
    (void)self;
    for (uint64_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)from)[i]);
    return address % 7 != 0;
}

static bool stop_at(void *self, unsigned kind, uint64_t address, uint64_t bytes, bool insert)
{
    (void)self, (void)address, (void)insert;
    if (kind >= GDB_STOP_KINDS || (kind >= GDB_STOP_WRITE && (bytes == 0 || bytes > 4096)))
        abort();
    return true;
}

static void monitor(void *self, const char *command, char *out, size_t bytes)
{
    (void)self;
    snprintf(out, bytes, "%s", command);
}

static void stop_reply(void *self, char *out, size_t bytes)
{
    (void)self;
    snprintf(out, bytes, "T05thread:3;");
}

/* The frame of a reply is read back as the reply. */
static void check_reply(const gdb_session *s)
{
    static char frame[2 * GDB_PACKET_BYTES + 8];
    static gdb_reader reader;
    if (s->bytes > GDB_PACKET_BYTES)
        abort();
    size_t bytes = gdb_frame(s->reply, s->bytes, frame, sizeof frame);
    gdb_event event = GDB_MORE;
    memset(&reader, 0, sizeof reader);
    for (size_t i = 0; i < bytes; i++)
        event = gdb_read_byte(&reader, frame[i]);
    if (bytes == 0 || event != GDB_PACKET || reader.bytes != s->bytes ||
        memcmp(reader.payload, s->reply, s->bytes) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gdb_target target = { .lanes = lanes,
                                .current = current,
                                .threads = threads,
                                .select = select_thread,
                                .describe = describe,
                                .read_register = read_register,
                                .write_register = write_register,
                                .read_memory = read_memory,
                                .write_memory = write_memory,
                                .stop_at = stop_at,
                                .monitor = monitor,
                                .stop_reply = stop_reply };
    static gdb_reader reader;
    static gdb_session session;
    memset(&reader, 0, sizeof reader);
    gdb_session_init(&session, &target);
    /* As frames with checksums; and each line as a payload, because a fuzzer finds no checksums. */
    for (size_t i = 0; i < size; i++)
        if (gdb_read_byte(&reader, (char)data[i]) == GDB_PACKET) {
            (void)gdb_handle(&session, reader.payload, reader.bytes);
            check_reply(&session);
        }
    for (size_t i = 0; i < size;) {
        char line[512];
        size_t n = 0;
        while (i < size && data[i] != '\n' && n < sizeof line - 1)
            line[n++] = (char)data[i++];
        i += i < size && data[i] == '\n';
        line[n] = '\0';
        (void)gdb_handle(&session, line, n);
        check_reply(&session);
    }
    gdb_session_fini(&session);
    return 0;
}
