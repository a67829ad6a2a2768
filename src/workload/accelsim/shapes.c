/* shapes.c: the slow half of the table of static instructions: looking up by words, adding, learning
 * bytes. */
#include "workload/accelsim/shapes.h"

#include "workload/accelsim/hex.h"

#include <stdlib.h>

#define MAX_PC_SLOTS (1u << 20) /* 8 MiB of code; instructions above are found by their words */
#define MAX_LEARNED 4

void acc_shapes_fini(acc_shapes *shapes)
{
    free(shapes->at);
    free(shapes->by_pc);
    free(shapes->slots);
    arena_fini(&shapes->arena);
    *shapes = (acc_shapes){ 0 };
}

/* ------------------------------------------------------------------------------------------------ look-up */

/* As FNV-1a, by words of eight bytes where there are some; the end of the last one is folded in. */
static uint64_t hash_text(uint64_t hash, const char *text, uint32_t bytes)
{
    uint64_t word;
    for (; bytes >= sizeof word; bytes -= (uint32_t)sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * 1099511628211ull;
        hash ^= hash >> 32;
    }
    for (; bytes > 0; bytes--)
        hash = (hash ^ (unsigned char)*text++) * 1099511628211ull;
    return (hash ^ 0xff) * 1099511628211ull; /* so that "ab","c" differs from "a","bc" */
}

static bool same_words(const inst_words *a, const inst_words *b)
{
    return strcmp(a->pc, b->pc) == 0 && strcmp(a->body, b->body) == 0 && strcmp(a->tail, b->tail) == 0;
}

uint32_t acc_shapes_find(const acc_shapes *shapes, const inst_words *words, const uint32_t bytes[3],
                         uint64_t *hash)
{
    uint64_t h = hash_text(14695981039346656037ull, words->pc, bytes[0]);
    h = hash_text(hash_text(h, words->body, bytes[1]), words->tail, bytes[2]);
    *hash = h ^ h >> 29;
    if (!shapes->slot_count)
        return UINT32_MAX;
    for (uint32_t slot = (uint32_t)*hash & (shapes->slot_count - 1); shapes->slots[slot];
         slot = (slot + 1) & (shapes->slot_count - 1)) {
        const acc_shape *shape = &shapes->at[shapes->slots[slot] - 1];
        if (shape->hash == *hash && same_words(&shape->words, words))
            return shapes->slots[slot] - 1;
    }
    return UINT32_MAX;
}

/* ------------------------------------------------------------------------------------------------- adding */

static void put_slot(acc_shapes *shapes, uint64_t hash, uint32_t number)
{
    uint32_t slot = (uint32_t)hash & (shapes->slot_count - 1);
    while (shapes->slots[slot])
        slot = (slot + 1) & (shapes->slot_count - 1);
    shapes->slots[slot] = number + 1;
}

static bool grow_slots(acc_shapes *shapes, uint32_t count)
{
    acc_shapes grown = *shapes;
    grown.slot_count = shapes->slot_count ? shapes->slot_count * 2 : 256;
    grown.slots = calloc(grown.slot_count, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (uint32_t i = 0; i < count; i++)
        put_slot(&grown, shapes->at[i].hash, i);
    free(shapes->slots);
    shapes->slots = grown.slots;
    shapes->slot_count = grown.slot_count;
    return true;
}

static bool grow_shapes(acc_shapes *shapes)
{
    uint32_t capacity = shapes->capacity ? shapes->capacity * 2 : 128;
    acc_shape *moved = realloc(shapes->at, capacity * sizeof *moved);
    if (!moved)
        return false;
    shapes->at = moved;
    shapes->capacity = capacity;
    return true;
}

/* One piece of memory for all three. */
static bool copy_words(acc_shapes *shapes, inst_words *to, const inst_words *words, const uint32_t bytes[3])
{
    char *at = arena_alloc(&shapes->arena, (size_t)bytes[0] + bytes[1] + bytes[2] + 3);
    if (!at)
        return false;
    to->pc = memcpy(at, words->pc, bytes[0] + 1u);
    to->body = memcpy(at + bytes[0] + 1, words->body, bytes[1] + 1u);
    to->tail = memcpy(at + bytes[0] + bytes[1] + 2, words->tail, bytes[2] + 1u);
    return true;
}

bool acc_shapes_add(acc_shapes *shapes, uint32_t number, uint64_t pc, uint64_t line, const inst_words *words,
                    const uint32_t bytes[3], uint64_t hash)
{
    if (number >= shapes->capacity && !grow_shapes(shapes))
        return false;
    if (number * 2 >= shapes->slot_count && !grow_slots(shapes, number))
        return false;
    acc_shape shape = { .pc = pc, .line = line, .next = number, .hash = hash };
    const char *digits = strrchr(words->pc, ' '); /* after the source line */
    digits = digits ? digits + 1 : words->pc;
    uint32_t digit_count = bytes[0] - (uint32_t)(digits - words->pc);
    if (digit_count < sizeof shape.pc_word) {
        char word[sizeof shape.pc_word + 1] = "";
        memcpy(word, digits, digit_count);
        word[digit_count] = ' ';
        shape.pc_bytes = digit_count + 1;
        shape.pc_word = hex_load(word);
    }
    if (!copy_words(shapes, &shape.words, words, bytes))
        return false;
    shapes->at[number] = shape;
    put_slot(shapes, hash, number);
    return true;
}

/* ----------------------------------------------------------------------------------------------- learning */

static bool reserve_pc(acc_shapes *shapes, uint64_t slot)
{
    if (slot < shapes->pc_count)
        return true;
    uint32_t count = shapes->pc_count ? shapes->pc_count : 512;
    while (count <= slot)
        count *= 2;
    uint32_t *moved = realloc(shapes->by_pc, count * sizeof *moved);
    if (!moved)
        return false;
    memset(moved + shapes->pc_count, 0, (count - shapes->pc_count) * sizeof *moved);
    shapes->by_pc = moved;
    shapes->pc_count = count;
    return true;
}

bool acc_shapes_learn(acc_shapes *shapes, uint32_t number, const char *text, size_t text_bytes,
                      const char *tail, size_t tail_bytes, bool addresses, bool values)
{
    acc_shape *shape = &shapes->at[number];
    uint64_t slot = shape->pc >> 3;
    if (slot >= MAX_PC_SLOTS || text_bytes > ACC_TEXT_MAX || tail_bytes > ACC_TEXT_MAX)
        return true;
    if (!reserve_pc(shapes, slot))
        return false;
    shapes->by_pc[slot] = number + 1;
    /* Only the spacing can differ from the known texts; memory must not grow with every such line. */
    if (shape->learned >= MAX_LEARNED)
        return true;
    shape->learned++;
    char *to = arena_alloc(&shapes->arena, text_bytes + tail_bytes + (size_t)2 * ACC_PAD);
    if (!to)
        return false;
    shape->text = memcpy(to, text, text_bytes);
    shape->tail = to + text_bytes + ACC_PAD;
    if (tail_bytes > 0)
        memcpy(to + text_bytes + ACC_PAD, tail, tail_bytes);
    shape->text_bytes = (uint16_t)text_bytes;
    shape->tail_bytes = (uint16_t)tail_bytes;
    shape->addresses = addresses;
    shape->values = values;
    return true;
}
