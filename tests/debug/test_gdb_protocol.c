/* test_gdb_protocol.c: packets of GDB's remote protocol: frames, checksums, escapes, and the parts of requests. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "debug/gdb_protocol.h"

#include <stdio.h>
#include <string.h>

static gdb_reader reader;

/* Feeds bytes and gives the last event. */
static gdb_event feed(const char *bytes, size_t count)
{
    gdb_event event = GDB_MORE;
    for (size_t i = 0; i < count; i++)
        event = gdb_read_byte(&reader, bytes[i]);
    return event;
}
#define FEED(text_) feed((text_), sizeof(text_) - 1)

static void frames(void **unused)
{
    (void)unused;
    char out[64];
    size_t n = gdb_frame("OK", 2, out, sizeof out);
    assert_int_equal(n, 6);
    assert_memory_equal(out, "$OK#9a", 6);
    assert_int_equal(FEED("$OK#9a"), GDB_PACKET);
    assert_string_equal(reader.payload, "OK");
    assert_int_equal(FEED("$OK#9b"), GDB_DAMAGED);
    assert_int_equal(FEED("$OK#x9"), GDB_DAMAGED);
    assert_int_equal(FEED("\x03"), GDB_INTERRUPT);
    assert_int_equal(FEED("+"), GDB_MORE);
    assert_int_equal(FEED("-"), GDB_AGAIN);
    /* A packet that was cut off, then a good one. */
    assert_int_equal(FEED("$qSup$OK#9a"), GDB_PACKET);
    assert_string_equal(reader.payload, "OK");
    assert_int_equal(gdb_frame("OK", 2, out, 5), 0);
}

static void escapes(void **unused)
{
    (void)unused;
    char out[64];
    size_t n = gdb_frame("a$b#c}d*", 8, out, sizeof out);
    assert_memory_equal(out,
                        "$a}\x04"
                        "b}\x03"
                        "c}]d}\n#",
                        14);
    assert_int_equal(feed(out, n), GDB_PACKET);
    assert_int_equal(reader.bytes, 8);
    assert_memory_equal(reader.payload, "a$b#c}d*", 8);
}

static void too_long(void **unused)
{
    (void)unused;
    assert_int_equal(FEED("$"), GDB_MORE);
    for (size_t i = 0; i <= GDB_PACKET_BYTES; i++)
        assert_int_equal(FEED("a"), GDB_MORE);
    uint8_t sum = (uint8_t)((GDB_PACKET_BYTES + 1) * 'a');
    char tail[8];
    snprintf(tail, sizeof tail, "#%02x", sum);
    assert_int_equal(feed(tail, 3), GDB_DAMAGED);
    assert_int_equal(FEED("$OK#9a"), GDB_PACKET);
}

static void hex(void **unused)
{
    (void)unused;
    const char *at = "1fZ";
    uint64_t value;
    uint8_t bytes[2];
    char text[5];
    assert_true(gdb_hex_number(&at, &value));
    assert_int_equal(value, 0x1f);
    assert_int_equal(*at, 'Z');
    assert_false(gdb_hex_number(&at, &value));
    at = "10000000000000000";
    assert_false(gdb_hex_number(&at, &value));
    assert_int_equal(gdb_hex_read("0aFf", 4, bytes, 2), 2);
    assert_int_equal(bytes[1], 0xff);
    assert_int_equal(gdb_hex_read("0aF", 3, bytes, 2), SIZE_MAX);
    assert_int_equal(gdb_hex_read("0a0b0c", 6, bytes, 2), SIZE_MAX);
    assert_int_equal(gdb_hex_read("0x", 2, bytes, 2), SIZE_MAX);
    gdb_hex_write(bytes, 2, text);
    assert_string_equal(text, "0aff");
    assert_int_equal(gdb_register_bytes(GDB_REG_PC, 32), 8);
    assert_int_equal(gdb_register_bytes(GDB_REG_CPSR, 32), 4);
    assert_int_equal(gdb_register_bytes(GDB_REG_SGPR, 32), 4);
    assert_int_equal(gdb_register_bytes(GDB_REG_VGPR, 32), 128);
    assert_int_equal(gdb_register_bytes(GDB_REGS - 1, 64), 256);
    assert_int_equal(gdb_register_bytes(GDB_REGS, 64), 0);
}

/* --------------------------------------------------------------------------------------------- requests */

static uint64_t selected, stopped_at;
static bool inserted;

static uint32_t lanes(void *self)
{
    (void)self;
    return 32;
}

static uint64_t current(void *self)
{
    (void)self;
    return 7;
}

static bool select_thread(void *self, uint64_t thread)
{
    (void)self;
    selected = thread;
    return thread < 100;
}

static bool stop_at(void *self, unsigned kind, uint64_t address, uint64_t bytes, bool insert)
{
    (void)self, (void)bytes;
    stopped_at = kind << 16 | address;
    inserted = insert;
    return true;
}

static const gdb_target target = {
    .lanes = lanes, .current = current, .select = select_thread, .stop_at = stop_at
};

static gdb_action ask(gdb_session *s, const char *packet)
{
    gdb_action action = gdb_handle(s, packet, strlen(packet));
    s->reply[s->bytes] = '\0';
    return action;
}

static void requests(void **unused)
{
    (void)unused;
    static gdb_session s;
    gdb_session_init(&s, &target);
    assert_int_equal(ask(&s, "vCont;s:9;c"), GDB_STEP);
    assert_int_equal(selected, 9);
    assert_int_equal(ask(&s, "vCont;c"), GDB_CONTINUE);
    assert_int_equal(selected, 7); /* the current one */
    assert_int_equal(ask(&s, "vCont;s:p1.-1"), GDB_STEP);
    assert_int_equal(selected, 7);
    assert_int_equal(ask(&s, "vCont;s:64"), GDB_ANSWER); /* thread 100 is not there */
    assert_string_equal(s.reply, "E01");
    assert_int_equal(ask(&s, "vCont;r1,2:1"), GDB_ANSWER);
    assert_int_equal(ask(&s, "Hc8"), GDB_ANSWER);
    assert_string_equal(s.reply, "OK");
    assert_int_equal(ask(&s, "s"), GDB_STEP);
    assert_int_equal(selected, 8);
    assert_int_equal(ask(&s, "Z3,1000,4"), GDB_ANSWER);
    assert_int_equal(stopped_at, 3 << 16 | 0x1000);
    assert_true(inserted);
    assert_int_equal(ask(&s, "z3,1000,4"), GDB_ANSWER);
    assert_false(inserted);
    assert_int_equal(ask(&s, "Z3,1000,0"), GDB_ANSWER);
    assert_string_equal(s.reply, "E01");
    assert_int_equal(ask(&s, "nonsense"), GDB_ANSWER);
    assert_int_equal(s.bytes, 0); /* not known */
    assert_int_equal(ask(&s, "k"), GDB_KILL);
    assert_int_equal(ask(&s, "D"), GDB_DETACH);
    assert_string_equal(s.reply, "OK");
    /* The description in pieces is the description. */
    static char whole[1 << 16], pieces[1 << 16];
    assert_int_equal(ask(&s, "qXfer:features:read:target.xml:0,3ff0"), GDB_ANSWER);
    size_t first = s.bytes - 1;
    memcpy(whole, s.reply + 1, first);
    for (size_t at = 0; at < first;) {
        char packet[80];
        snprintf(packet, sizeof packet, "qXfer:features:read:target.xml:%zx,100", at);
        (void)ask(&s, packet);
        memcpy(pieces + at, s.reply + 1, s.bytes - 1);
        at += s.bytes - 1;
        if (s.reply[0] == 'l')
            break;
    }
    assert_memory_equal(whole, pieces, first);
    assert_non_null(strstr(whole, "lockstep.amdgcn.scalar"));
    gdb_session_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames), cmocka_unit_test(escapes),  cmocka_unit_test(too_long),
        cmocka_unit_test(hex),    cmocka_unit_test(requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
