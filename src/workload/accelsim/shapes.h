/* shapes.h: the static instructions of a kernel by the text of their lines. A line of a trace is recognised by
 * its pc and its bytes, so that only mask and addresses must be read. An unknown line is parsed once and
 * added. */
#ifndef ACCELSIM_SHAPES_H
#define ACCELSIM_SHAPES_H

#include "base/arena.h"
#include "workload/trace.h"

#include <string.h>

#define ACC_TEXT_MAX 512 /* longer lines are read the slow way every time */
#define ACC_PAD 8        /* readable bytes after each text, for comparisons */

typedef struct acc_shape {
    uint64_t pc;
    uint64_t pc_word;  /* the characters of the pc and its space, as hex_load() gives them */
    uint32_t pc_bytes; /* of them; 0: more than a word */
    uint32_t next;     /* the instruction that followed it last: the first guess for the next line */
    /* The bytes of the line. Text: from after the mask's space to the end of a line without addresses, else to
     * the space after the width. Tail: from after the addresses to the end. NULL: only the slow path
     * recognises it. */
    const char *text, *tail;
    uint16_t text_bytes, tail_bytes;
    bool addresses;
    uint8_t learned;  /* how often the bytes were taken */
    bool values;      /* register values follow the tail, up to the end of the line */
    uint64_t line;    /* of the source; 0 without line info */
    uint64_t hash;    /* of words */
    inst_words words; /* single spaces between them */
} acc_shape;

typedef struct acc_shapes {
    acc_shape *at; /* as many as the kernel has instructions, with the same numbers */
    uint32_t capacity;
    uint32_t *by_pc; /* pc / 8: number + 1 of the last instruction seen there; 0: none */
    uint32_t pc_count;
    uint32_t *slots; /* hash of the words: number + 1; open addressing, a power of two */
    uint32_t slot_count;
    mem_arena arena;
} acc_shapes;

void acc_shapes_fini(acc_shapes *shapes);

/* The instruction with these words, or UINT32_MAX. bytes: how long the words of pc, body and tail are. */
uint32_t acc_shapes_find(const acc_shapes *shapes, const inst_words *words, const uint32_t bytes[3],
                         uint64_t *hash);
/* Adds instruction `number`, the next one; copies the words. false when the host has no memory left. */
bool acc_shapes_add(acc_shapes *shapes, uint32_t number, uint64_t pc, uint64_t line, const inst_words *words,
                    const uint32_t bytes[3], uint64_t hash);
/* Remembers the bytes of a line, so that the next one like it is known. */
bool acc_shapes_learn(acc_shapes *shapes, uint32_t number, const char *text, size_t text_bytes,
                      const char *tail, size_t tail_bytes, bool addresses, bool values);

/* Whether the bytes at p are those of the text; may look at up to 7 more. */
static inline bool acc_same(const char *p, const char *text, unsigned bytes)
{
    uint64_t a, b;
    for (; bytes > 8; bytes -= 8, p += 8, text += 8) {
        memcpy(&a, p, 8);
        memcpy(&b, text, 8);
        if (a != b)
            return false;
    }
    memcpy(&a, p, 8);
    memcpy(&b, text, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return bytes == 0 || (a ^ b) >> (8 * (8 - bytes)) == 0;
#else
    return bytes == 0 || (a ^ b) << (8 * (8 - bytes)) == 0;
#endif
}

/* The last instruction seen at this pc, or NULL. */
static inline const acc_shape *acc_shapes_guess(const acc_shapes *shapes, uint64_t pc, uint32_t *number)
{
    uint64_t slot = pc >> 3;
    if (slot >= shapes->pc_count || shapes->by_pc[slot] == 0)
        return NULL;
    *number = shapes->by_pc[slot] - 1;
    return &shapes->at[*number];
}

#endif
