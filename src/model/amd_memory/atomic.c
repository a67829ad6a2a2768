/* atomic.c: atomics on the bytes of a line. */
#include "model/amd_memory/atomic.h"

#include "isa/amd/exec/memory.h"

bool line_atomic_is_pair(uint8_t atomic)
{
    return atomic == AMD_ATOMIC_CMPSWAP || atomic == AMD_ATOMIC_FCMPSWAP || atomic == AMD_ATOMIC_MSKOR ||
           atomic == AMD_ATOMIC_WRAP;
}

/* The most common atomic of programs. */
static uint32_t add_words(ls_line_message *message, uint8_t *line)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < 2; word++)
        for (uint64_t mask = message->mask[word]; mask != 0; count++) {
            uint32_t at = (uint32_t)__builtin_ctzll(mask), old, operand;
            mask &= ~(UINT64_C(0xf) << at);
            at += word * 64;
            memcpy(&old, line + at, 4);
            memcpy(&operand, message->data + at, 4);
            memcpy(message->data + at, &old, 4);
            operand += old;
            memcpy(line + at, &operand, 4);
        }
    return count;
}

uint32_t line_atomic_apply(ls_line_message *message, uint8_t *line)
{
    uint32_t bytes = message->atomic_bytes, count = 0;
    if (message->atomic == AMD_ATOMIC_ADD && bytes == 4)
        return add_words(message, line);
    bool pair = line_atomic_is_pair(message->atomic);
    uint32_t base = pair && message->half != 0 ? LS_LINE_BYTES_MAX / 2 : 0;
    uint64_t all = bytes == 8 ? 0xff : 0xf;
    for (uint32_t word = 0; word < 2; word++)
        for (uint64_t mask = message->mask[word]; mask != 0; count++) {
            uint32_t at = (uint32_t)__builtin_ctzll(mask);
            mask &= ~(all << at);
            at += word * 64;
            uint8_t *operand = message->data + at - base;
            uint32_t data[4] = { 0 };
            memcpy(data, operand, bytes);
            if (pair)
                memcpy(data + bytes / 4, operand + LS_LINE_BYTES_MAX / 2, bytes);
            amd_atomic_apply(line + at, bytes, (amd_atomic)message->atomic, data);
            memcpy(operand, data, bytes);
        }
    return count;
}
