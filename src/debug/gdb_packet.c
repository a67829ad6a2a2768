/* gdb_packet.c: see gdb_packet.h. */
#include "debug/gdb_packet.h"

int gdb_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void keep(gdb_reader *r, char byte)
{
    if (r->bytes < GDB_PACKET_BYTES)
        r->payload[r->bytes++] = byte;
    else
        r->is_damaged = true;
}

static gdb_event outside(gdb_reader *r, char byte)
{
    if (byte == 3)
        return GDB_INTERRUPT;
    if (byte == '-')
        return GDB_AGAIN;
    if (byte == '$') {
        r->state = GDB_INSIDE;
        r->bytes = 0;
        r->sum = 0;
        r->is_damaged = false;
    }
    return GDB_MORE;
}

static gdb_event end(gdb_reader *r, int digit)
{
    r->state = GDB_OUTSIDE;
    r->told = (uint8_t)(r->told | (digit & 15));
    r->payload[r->bytes] = '\0';
    return r->is_damaged || digit < 0 || r->told != r->sum ? GDB_DAMAGED : GDB_PACKET;
}

gdb_event gdb_read_byte(gdb_reader *r, char byte)
{
    int digit = gdb_hex_digit(byte);
    switch (r->state) {
    case GDB_OUTSIDE:
        return outside(r, byte);
    case GDB_INSIDE:
        if (byte == '$') /* the last one was cut off */
            return outside(r, byte);
        if (byte == '#') {
            r->state = GDB_SUM_HIGH;
            return GDB_MORE;
        }
        r->sum = (uint8_t)(r->sum + (uint8_t)byte);
        if (byte == '}')
            r->state = GDB_ESCAPED;
        else
            keep(r, byte);
        return GDB_MORE;
    case GDB_ESCAPED:
        r->sum = (uint8_t)(r->sum + (uint8_t)byte);
        keep(r, (char)(byte ^ 0x20));
        r->state = GDB_INSIDE;
        return GDB_MORE;
    case GDB_SUM_HIGH:
        r->is_damaged |= digit < 0;
        r->told = (uint8_t)((digit & 15) << 4);
        r->state = GDB_SUM_LOW;
        return GDB_MORE;
    default:
        return end(r, digit);
    }
}

size_t gdb_frame(const char *payload, size_t bytes, char *out, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum = 0;
    size_t n = 0;
    if (room < 2 * bytes + 5)
        return 0;
    out[n++] = '$';
    for (size_t i = 0; i < bytes; i++) {
        char c = payload[i];
        if (c == '$' || c == '#' || c == '}' || c == '*') {
            out[n++] = '}';
            sum = (uint8_t)(sum + '}');
            c = (char)(c ^ 0x20);
        }
        out[n++] = c;
        sum = (uint8_t)(sum + (uint8_t)c);
    }
    out[n++] = '#';
    out[n++] = digits[sum >> 4];
    out[n++] = digits[sum & 15];
    return n;
}

bool gdb_hex_number(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    for (int digit; (digit = gdb_hex_digit(*p)) >= 0; p++) {
        if (value >> 60 != 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    bool any = p != *at;
    *at = p;
    *out = value;
    return any;
}

void gdb_hex_write(const void *from, size_t bytes, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = from;
    for (size_t i = 0; i < bytes; i++) {
        *out++ = digits[p[i] >> 4];
        *out++ = digits[p[i] & 15];
    }
    *out = '\0';
}

size_t gdb_hex_read(const char *text, size_t text_bytes, void *out, size_t room)
{
    uint8_t *to = out;
    if (text_bytes % 2 != 0 || text_bytes / 2 > room)
        return SIZE_MAX;
    for (size_t i = 0; i < text_bytes; i += 2) {
        int high = gdb_hex_digit(text[i]), low = gdb_hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return SIZE_MAX;
        to[i / 2] = (uint8_t)(high << 4 | low);
    }
    return text_bytes / 2;
}
