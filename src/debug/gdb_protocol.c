/* gdb_protocol.c: see gdb_protocol.h. Every branch fills the reply, and nothing of the packet is trusted. */
#include "debug/gdb_protocol.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTION_BYTES (64u << 10)
#define MEMORY_BYTES (GDB_PACKET_BYTES / 2 - 1)

/* ----------------------------------------------------------------------------------------------- replies */

static gdb_action answer(gdb_session *s, const char *text)
{
    s->bytes = strlen(text);
    if (s->bytes > GDB_PACKET_BYTES)
        s->bytes = GDB_PACKET_BYTES;
    memmove(s->reply, text, s->bytes);
    s->reply[s->bytes] = '\0';
    return GDB_ANSWER;
}

static gdb_action answer_ok(gdb_session *s, bool good)
{
    return answer(s, good ? "OK" : "E01");
}

/* ------------------------------------------------------------------------------------------- description */

uint32_t gdb_register_bytes(uint64_t number, uint32_t lanes)
{
    if (number <= GDB_REG_VCC && number != GDB_REG_CPSR)
        return 8;
    return number < GDB_REG_VGPR ? 4 : number < GDB_REGS ? 4 * lanes : 0;
}

static void put_reg(FILE *out, const char *letter, unsigned number, unsigned bits, const char *type)
{
    fprintf(out, "<reg name=\"%s%u\" bitsize=\"%u\" type=\"%s\"/>\n", letter, number, bits, type);
}

static void describe(gdb_session *s)
{
    uint32_t lanes = s->target->lanes(s->target->self);
    FILE *out = s->description ? fmemopen(s->description, DESCRIPTION_BYTES, "w") : NULL;
    if (!out)
        return;
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
          "<architecture>aarch64</architecture>\n<feature name=\"org.gnu.gdb.aarch64.core\">\n",
          out);
    for (unsigned i = 0; i < GDB_REG_SP; i++)
        put_reg(out, "x", i, 64, "int");
    fputs(
        "<reg name=\"sp\" bitsize=\"64\" type=\"data_ptr\"/>\n<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/>\n"
        "<reg name=\"cpsr\" bitsize=\"32\"/>\n</feature>\n<feature name=\"lockstep.amdgcn.core\">\n"
        "<reg name=\"exec\" bitsize=\"64\" type=\"uint64\"/>\n<reg name=\"vcc\" bitsize=\"64\" type=\"uint64\"/>\n"
        "<reg name=\"scc\" bitsize=\"32\" type=\"uint32\"/>\n<reg name=\"m0\" bitsize=\"32\" type=\"uint32\"/>\n"
        "<reg name=\"mode\" bitsize=\"32\" type=\"uint32\"/>\n</feature>\n"
        "<feature name=\"lockstep.amdgcn.scalar\">\n",
        out);
    for (unsigned i = 0; i < GDB_SGPRS; i++)
        put_reg(out, "s", i, 32, "uint32");
    fprintf(
        out,
        "</feature>\n<feature name=\"lockstep.amdgcn.vector\">\n<vector id=\"lanes\" type=\"uint32\" count=\"%u\"/>\n",
        lanes);
    for (unsigned i = 0; i < GDB_VGPRS; i++)
        put_reg(out, "v", i, 32 * lanes, "lanes");
    fputs("</feature>\n</target>\n", out);
    fclose(out);
    s->description_bytes = strlen(s->description);
}

/* "qXfer:features:read:target.xml:OFFSET,LENGTH" */
static gdb_action read_description(gdb_session *s, const char *args)
{
    uint64_t offset, length;
    if (!starts_with(args, "target.xml:"))
        return answer(s, "E00");
    args += strlen("target.xml:");
    if (!gdb_hex_number(&args, &offset) || *args++ != ',' || !gdb_hex_number(&args, &length) || *args)
        return answer(s, "E01");
    if (s->description_bytes == 0)
        describe(s);
    if (!s->description || offset > s->description_bytes)
        return answer(s, "E01");
    uint64_t left = s->description_bytes - offset, most = GDB_PACKET_BYTES - 2;
    length = length < most ? length : most;
    bool last = length >= left;
    length = last ? left : length;
    s->reply[0] = last ? 'l' : 'm';
    memcpy(s->reply + 1, s->description + offset, length);
    s->bytes = length + 1;
    return GDB_ANSWER;
}

/* ------------------------------------------------------------------------------------------------ threads */

/* "p1.2", "2", "-1", "0": a thread; 0 is any, UINT64_MAX all. */
static bool parse_thread(const char **at, uint64_t *out)
{
    uint64_t ignored;
    if (**at == 'p') {
        ++*at;
        if (!gdb_hex_number(at, &ignored) || **at != '.')
            return false;
        ++*at;
    }
    if (starts_with(*at, "-1")) {
        *at += 2;
        *out = UINT64_MAX;
        return true;
    }
    return gdb_hex_number(at, out);
}

static bool choose(gdb_session *s, uint64_t thread)
{
    const gdb_target *t = s->target;
    if (thread == 0 || thread == UINT64_MAX)
        thread = t->current(t->self);
    return thread != 0 && t->select(t->self, thread);
}

/* "Hg2", "Hc-1" */
static gdb_action set_thread(gdb_session *s, const char *args)
{
    char which = *args++;
    uint64_t thread;
    if ((which != 'g' && which != 'c') || !parse_thread(&args, &thread) || *args)
        return answer(s, "E01");
    if (thread != 0 && thread != UINT64_MAX && !s->target->select(s->target->self, thread))
        return answer(s, "E02");
    *(which == 'g' ? &s->thread : &s->run_thread) = thread == UINT64_MAX ? 0 : thread;
    return answer(s, "OK");
}

static bool list_thread(void *self, uint64_t thread)
{
    gdb_session *s = self;
    if (s->list_skip > 0) {
        s->list_skip--;
        return true;
    }
    if (s->bytes + 20 > GDB_PACKET_BYTES)
        return false;
    s->bytes += (size_t)snprintf(s->reply + s->bytes, 20, "%c%" PRIx64, s->bytes ? ',' : 'm', thread);
    s->listed++;
    return true;
}

static gdb_action list_threads(gdb_session *s, bool first)
{
    if (first)
        s->listed = 0;
    s->list_skip = s->listed;
    s->bytes = 0;
    s->target->threads(s->target->self, list_thread, s);
    return s->bytes ? GDB_ANSWER : answer(s, "l");
}

static gdb_action describe_thread(gdb_session *s, const char *args)
{
    uint64_t thread;
    char text[200];
    if (*args++ != ',' || !parse_thread(&args, &thread) || !choose(s, thread))
        return answer(s, "E01");
    s->target->describe(s->target->self, text, sizeof text);
    gdb_hex_write(text, strlen(text), s->reply);
    s->bytes = 2 * strlen(text);
    return GDB_ANSWER;
}

static gdb_action is_alive(gdb_session *s, const char *args)
{
    uint64_t thread;
    return answer_ok(s, parse_thread(&args, &thread) && !*args && s->target->select(s->target->self, thread));
}

/* ---------------------------------------------------------------------------------------- registers, memory */

static size_t put_register(gdb_session *s, uint64_t number, uint32_t lanes, char *out)
{
    uint8_t value[GDB_REGISTER_BYTES] = { 0 };
    uint32_t bytes = gdb_register_bytes(number, lanes);
    if (s->target->read_register(s->target->self, number, value) == GDB_YES)
        gdb_hex_write(value, bytes, out);
    else
        memset(out, 'x', 2 * bytes);
    return 2 * bytes;
}

/* `g`: those before the vector registers. The client asks for others by `p`. */
static gdb_action read_registers(gdb_session *s)
{
    uint32_t lanes = s->target->lanes(s->target->self);
    if (!choose(s, s->thread))
        return answer(s, "E01");
    s->bytes = 0;
    for (unsigned i = 0; i < GDB_REG_VGPR; i++)
        s->bytes += put_register(s, i, lanes, s->reply + s->bytes);
    return GDB_ANSWER;
}

static gdb_action read_register(gdb_session *s, const char *args)
{
    uint32_t lanes = s->target->lanes(s->target->self);
    uint64_t number;
    if (!gdb_hex_number(&args, &number) || *args || gdb_register_bytes(number, lanes) == 0 ||
        !choose(s, s->thread))
        return answer(s, "E01");
    s->bytes = put_register(s, number, lanes, s->reply);
    return GDB_ANSWER;
}

/* "P6=01000000" */
static gdb_action write_register(gdb_session *s, const char *args)
{
    uint8_t value[GDB_REGISTER_BYTES];
    uint32_t lanes = s->target->lanes(s->target->self);
    uint64_t number;
    if (!gdb_hex_number(&args, &number) || *args++ != '=' || !choose(s, s->thread))
        return answer(s, "E01");
    uint32_t bytes = gdb_register_bytes(number, lanes);
    if (bytes == 0 || gdb_hex_read(args, strlen(args), value, sizeof value) != bytes)
        return answer(s, "E01");
    return answer_ok(s, s->target->write_register(s->target->self, number, value) == GDB_YES);
}

/* "ADDRESS,LENGTH" */
static bool parse_range(const char **args, uint64_t *address, uint64_t *bytes)
{
    if (!gdb_hex_number(args, address) || **args != ',')
        return false;
    ++*args;
    return gdb_hex_number(args, bytes);
}

static gdb_action read_memory(gdb_session *s, const char *args)
{
    uint8_t data[MEMORY_BYTES];
    uint64_t address, bytes;
    if (!parse_range(&args, &address, &bytes) || *args || !choose(s, s->thread))
        return answer(s, "E01");
    bytes = bytes < sizeof data ? bytes : sizeof data;
    /* A part is as good as an answer: the bytes up to the first that is not mapped. */
    while (bytes > 0 && !s->target->read_memory(s->target->self, address, data, bytes))
        bytes /= 2;
    if (bytes == 0)
        return answer(s, "E14");
    gdb_hex_write(data, bytes, s->reply);
    s->bytes = 2 * bytes;
    return GDB_ANSWER;
}

static gdb_action write_memory(gdb_session *s, const char *args)
{
    uint8_t data[MEMORY_BYTES];
    uint64_t address, bytes;
    if (!parse_range(&args, &address, &bytes) || *args++ != ':' || bytes > sizeof data ||
        !choose(s, s->thread) || gdb_hex_read(args, strlen(args), data, sizeof data) != bytes)
        return answer(s, "E01");
    return answer_ok(s, bytes == 0 || s->target->write_memory(s->target->self, address, data, bytes));
}

/* "Z2,100006000,4" */
static gdb_action change_stop(gdb_session *s, const char *args, bool insert)
{
    uint64_t kind, address, bytes;
    if (!gdb_hex_number(&args, &kind) || *args++ != ',' || !parse_range(&args, &address, &bytes))
        return answer(s, "E01");
    if (kind >= GDB_STOP_KINDS)
        return answer(s, "");
    if (kind >= GDB_STOP_WRITE && (bytes == 0 || bytes > 4096))
        return answer(s, "E01");
    return answer_ok(s, s->target->stop_at(s->target->self, (unsigned)kind, address, bytes, insert));
}

/* ------------------------------------------------------------------------------------------------- running */

/* "vCont;s:2;c": the first action that names a thread to step wins; all others continue. */
static gdb_action resume(gdb_session *s, const char *args)
{
    bool steps = false, any = false;
    uint64_t stepped = 0;
    while (*args == ';') {
        char what = args[1];
        uint64_t thread = 0, ignored;
        if (what == '\0')
            return answer(s, "E01");
        args += 2;
        if ((what == 'C' || what == 'S') && !gdb_hex_number(&args, &ignored))
            return answer(s, "E01");
        if (*args == ':') {
            args++;
            if (!parse_thread(&args, &thread))
                return answer(s, "E01");
        }
        if (what != 'c' && what != 'C' && what != 's' && what != 'S')
            return answer(s, "E01");
        any = true;
        if ((what == 's' || what == 'S') && !steps) {
            steps = true;
            stepped = thread;
        }
    }
    if (!any || *args || !choose(s, steps ? stepped : 0))
        return answer(s, "E01");
    return steps ? GDB_STEP : GDB_CONTINUE;
}

/* `c` and `s`, which may have an address: not here. */
static gdb_action resume_old(gdb_session *s, const char *args, bool steps)
{
    if (*args || !choose(s, s->run_thread))
        return answer(s, "E01");
    return steps ? GDB_STEP : GDB_CONTINUE;
}

static gdb_action monitor(gdb_session *s, const char *args)
{
    char command[512], out[GDB_PACKET_BYTES / 2];
    size_t bytes =
        *args == ',' ? gdb_hex_read(args + 1, strlen(args + 1), command, sizeof command - 1) : SIZE_MAX;
    if (bytes == SIZE_MAX)
        return answer(s, "E01");
    command[bytes] = '\0';
    (void)choose(s, s->thread);
    out[0] = '\0';
    s->target->monitor(s->target->self, command, out, sizeof out);
    if (!*out)
        return answer(s, "OK");
    gdb_hex_write(out, strlen(out), s->reply);
    s->bytes = 2 * strlen(out);
    return GDB_ANSWER;
}

/* ------------------------------------------------------------------------------------------------- queries */

static gdb_action query(gdb_session *s, const char *packet)
{
    char text[80];
    if (starts_with(packet, "qSupported")) {
        snprintf(text, sizeof text, "PacketSize=%x;qXfer:features:read+;QStartNoAckMode+;vContSupported+",
                 GDB_PACKET_BYTES);
        return answer(s, text);
    }
    if (starts_with(packet, "qXfer:features:read:"))
        return read_description(s, packet + strlen("qXfer:features:read:"));
    if (strcmp(packet, "qfThreadInfo") == 0 || strcmp(packet, "qsThreadInfo") == 0)
        return list_threads(s, packet[1] == 'f');
    if (starts_with(packet, "qThreadExtraInfo"))
        return describe_thread(s, packet + strlen("qThreadExtraInfo"));
    if (strcmp(packet, "qC") == 0) {
        snprintf(text, sizeof text, "QC%" PRIx64, s->target->current(s->target->self));
        return answer(s, text);
    }
    if (starts_with(packet, "qAttached"))
        return answer(s, "1");
    if (starts_with(packet, "qRcmd"))
        return monitor(s, packet + strlen("qRcmd"));
    if (strcmp(packet, "qSymbol::") == 0)
        return answer(s, "OK");
    if (strcmp(packet, "QStartNoAckMode") == 0) {
        s->has_no_acks = true;
        return answer(s, "OK");
    }
    return answer(s, "");
}

static gdb_action handle_v(gdb_session *s, const char *packet)
{
    if (strcmp(packet, "vCont?") == 0)
        return answer(s, "vCont;c;C;s;S");
    if (starts_with(packet, "vCont"))
        return resume(s, packet + strlen("vCont"));
    return starts_with(packet, "vKill") ? GDB_KILL : answer(s, "");
}

static gdb_action stop_reply(gdb_session *s)
{
    char text[200];
    s->target->stop_reply(s->target->self, text, sizeof text);
    return answer(s, text);
}

gdb_action gdb_handle(gdb_session *s, const char *packet, size_t bytes)
{
    if (memchr(packet, '\0', bytes)) /* no request that is known here has one */
        return answer(s, "");
    const char *args = packet + (bytes > 0);
    switch (bytes > 0 ? *packet : '\0') {
    case '?':
        return stop_reply(s);
    case 'q':
    case 'Q':
        return query(s, packet);
    case 'v':
        return handle_v(s, packet);
    case 'H':
        return set_thread(s, args);
    case 'T':
        return is_alive(s, args);
    case 'g':
        return read_registers(s);
    case 'p':
        return read_register(s, args);
    case 'P':
        return write_register(s, args);
    case 'm':
        return read_memory(s, args);
    case 'M':
        return write_memory(s, args);
    case 'Z':
    case 'z':
        return change_stop(s, args, *packet == 'Z');
    case 'c':
    case 's':
        return resume_old(s, args, *packet == 's');
    case 'k':
        return GDB_KILL;
    case 'D':
        answer(s, "OK");
        return GDB_DETACH;
    default:
        return answer(s, "");
    }
}

void gdb_session_init(gdb_session *s, const gdb_target *target)
{
    *s = (gdb_session){ .target = target, .description = calloc(1, DESCRIPTION_BYTES) };
}

void gdb_session_fini(gdb_session *s)
{
    free(s->description);
}
