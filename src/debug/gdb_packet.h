/* gdb_packet.h: packets of GDB's remote protocol: "$payload#checksum", acknowledgements, the interrupt byte. Bytes in,
 * bytes out: no sockets, no debugger. */
#ifndef DEBUG_GDB_PACKET_H
#define DEBUG_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GDB_PACKET_BYTES 16384 /* most of a payload, both ways */

typedef enum gdb_event {
    GDB_MORE,      /* the packet is not complete */
    GDB_PACKET,    /* one is in payload, unescaped, with a 0 behind it */
    GDB_DAMAGED,   /* one whose checksum is wrong, or that is too long */
    GDB_INTERRUPT, /* Ctrl-C */
    GDB_AGAIN,     /* '-': the last answer is wanted again */
} gdb_event;

typedef struct gdb_reader {
    enum { GDB_OUTSIDE, GDB_INSIDE, GDB_ESCAPED, GDB_SUM_HIGH, GDB_SUM_LOW } state;
    char payload[GDB_PACKET_BYTES + 1];
    size_t bytes;
    uint8_t sum, told; /* of what came; of what the packet says */
    bool is_damaged;
} gdb_reader;

gdb_event gdb_read_byte(gdb_reader *reader, char byte);

/* Writes a packet with its frame; returns its bytes, 0 if `room` is too small. */
size_t gdb_frame(const char *payload, size_t bytes, char *out, size_t room);

int gdb_hex_digit(char c); /* -1: none */
/* A hexadecimal number at *at, moved past it. False: there is none, or more than 64 bits. */
bool gdb_hex_number(const char **at, uint64_t *out);
/* Bytes as text; out has 2 * bytes + 1. */
void gdb_hex_write(const void *from, size_t bytes, char *out);
/* Text as bytes; returns how many, SIZE_MAX if it is no whole number of them or does not fit. */
size_t gdb_hex_read(const char *text, size_t text_bytes, void *out, size_t room);

#endif
