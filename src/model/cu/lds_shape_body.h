/* lds_shape_body.h: the functions of lds_shape.c on vectors of eight lanes, for one kind of host. Included
 * once for each, with NAME(what) and HOW, the attributes of a function for it. (With ordinary inlining between
 * kinds the compiler would already have split the vectors.) */

#define BODY HOW static inline __attribute__((always_inline))

BODY bool NAME(is)(const lds_shape *shape, const uint32_t *addresses, unsigned parts)
{
    shape_vector wrong = { 0 }, base = wrong + addresses[0];
    for (unsigned part = 0; part < parts; part++) {
        shape_vector at, offset;
        memcpy(&at, addresses + part * LDS_SHAPE_PART, sizeof at);
        memcpy(&offset, shape->offset + part * LDS_SHAPE_PART, sizeof offset);
        wrong |= (at - base) ^ offset;
    }
    uint64_t words[4];
    memcpy(words, &wrong, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

BODY void NAME(move)(uint32_t *to, const void *from)
{
    shape_vector value;
    memcpy(&value, from, sizeof value);
    memcpy(to, &value, sizeof value);
}

/* Consecutive lanes: dword i of lane l is at 4 * (l * dwords + i). */
BODY void NAME(load_dense)(const uint8_t *from, uint32_t *to, unsigned dwords)
{
    shape_vector in[4];
    for (unsigned i = 0; i < dwords; i++)
        memcpy(&in[i], from + i * sizeof in[i], sizeof in[i]);
    if (dwords == 1) {
        memcpy(to, &in[0], sizeof in[0]);
    } else if (dwords == 2) {
        shape_vector even = __builtin_shufflevector(in[0], in[1], 0, 2, 4, 6, 8, 10, 12, 14);
        shape_vector odd = __builtin_shufflevector(in[0], in[1], 1, 3, 5, 7, 9, 11, 13, 15);
        memcpy(to, &even, sizeof even);
        memcpy(to + LDS_SHAPE_COLUMN, &odd, sizeof odd);
    } else {
        /* Pairs of lanes l and l + 4 beside each other, then their dwords. */
        shape_vector a = __builtin_shufflevector(in[0], in[2], 0, 1, 2, 3, 8, 9, 10, 11);
        shape_vector b = __builtin_shufflevector(in[0], in[2], 4, 5, 6, 7, 12, 13, 14, 15);
        shape_vector c = __builtin_shufflevector(in[1], in[3], 0, 1, 2, 3, 8, 9, 10, 11);
        shape_vector d = __builtin_shufflevector(in[1], in[3], 4, 5, 6, 7, 12, 13, 14, 15);
        shape_vector ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
        shape_vector cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
        shape_vector ab_high = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
        shape_vector cd_high = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
        shape_vector x = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
        shape_vector y = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
        shape_vector z = __builtin_shufflevector(ab_high, cd_high, 0, 1, 8, 9, 4, 5, 12, 13);
        shape_vector w = __builtin_shufflevector(ab_high, cd_high, 2, 3, 10, 11, 6, 7, 14, 15);
        memcpy(to, &x, sizeof x);
        memcpy(to + LDS_SHAPE_COLUMN, &y, sizeof y);
        memcpy(to + 2 * LDS_SHAPE_COLUMN, &z, sizeof z);
        memcpy(to + 3 * LDS_SHAPE_COLUMN, &w, sizeof w);
    }
}

/* All lanes at one place. */
BODY void NAME(load_one)(const uint8_t *from, uint32_t *to, unsigned dwords)
{
    for (unsigned i = 0; i < dwords; i++, from += 4, to += LDS_SHAPE_COLUMN) {
        uint32_t dword;
        memcpy(&dword, from, sizeof dword);
        shape_vector all = { dword, dword, dword, dword, dword, dword, dword, dword };
        memcpy(to, &all, sizeof all);
    }
}

BODY void NAME(load)(const lds_shape *shape, const uint8_t *lds, uint32_t *to, unsigned dwords)
{
    const uint32_t *offset = shape->offset;
    uint32_t *at = to;
    for (unsigned part = 0, parts = shape->parts; part < parts; part++) {
        unsigned same = shape->same[part];
        if (same != part) {
            const uint32_t *from = to + same * LDS_SHAPE_PART;
            for (unsigned i = 0; i < dwords; i++)
                NAME(move)(at + i * LDS_SHAPE_COLUMN, from + i * LDS_SHAPE_COLUMN);
        } else if (shape->step[part] == 0) {
            NAME(load_one)(lds + (int32_t)offset[0], at, dwords);
        } else if (shape->step[part] == dwords * 4) {
            NAME(load_dense)(lds + (int32_t)offset[0], at, dwords);
        } else {
            for (unsigned lane = 0; lane < LDS_SHAPE_PART; lane++)
                for (unsigned i = 0; i < dwords; i++)
                    memcpy(at + lane + i * LDS_SHAPE_COLUMN, lds + (int32_t)offset[lane] + i * 4, 4);
        }
        at += LDS_SHAPE_PART;
        offset += LDS_SHAPE_PART;
    }
}

/* In the order of the lanes: of several writes to one place, the last one stays. */
BODY void NAME(store)(const lds_shape *shape, uint8_t *lds, const uint32_t *from, unsigned dwords,
                      unsigned stride)
{
    for (unsigned part = 0; part < shape->parts; part++) {
        const uint32_t *offset = shape->offset + part * LDS_SHAPE_PART;
        const uint32_t *at = from + part * LDS_SHAPE_PART;
        if (dwords == 1 && shape->step[part] == 4) {
            memcpy(lds + (int32_t)offset[0], at, LDS_SHAPE_PART * sizeof *at);
            continue;
        }
        for (unsigned lane = 0; lane < LDS_SHAPE_PART; lane++)
            for (unsigned i = 0; i < dwords; i++)
                memcpy(lds + (int32_t)offset[lane] + i * 4, at + lane + i * stride, 4);
    }
}

BODY void NAME(take)(uint32_t *to, const uint32_t *from, unsigned count, unsigned lanes)
{
    for (unsigned i = 0; i < count; i++, to += lanes, from += LDS_SHAPE_COLUMN)
        for (unsigned lane = 0; lane < lanes; lane += 2 * LDS_SHAPE_PART) {
            NAME(move)(to + lane, from + lane);
            NAME(move)(to + lane + LDS_SHAPE_PART, from + lane + LDS_SHAPE_PART);
        }
}

/* --- for each size -------------------------------------------------------------------------------------- */

HOW static void NAME(load_any)(const lds_shape *shape, const uint8_t *lds, uint32_t *to, unsigned dwords)
{
    if (dwords == 1)
        NAME(load)(shape, lds, to, 1);
    else if (dwords == 2)
        NAME(load)(shape, lds, to, 2);
    else
        NAME(load)(shape, lds, to, 4);
}

HOW static void NAME(store_any)(const lds_shape *shape, uint8_t *lds, const uint32_t *from, unsigned dwords,
                                unsigned stride)
{
    if (dwords == 1)
        NAME(store)(shape, lds, from, 1, stride);
    else if (dwords == 2)
        NAME(store)(shape, lds, from, 2, stride);
    else
        NAME(store)(shape, lds, from, 4, stride);
}

HOW static void NAME(take_any)(uint32_t *to, const uint32_t *from, unsigned count, unsigned lanes)
{
    if (lanes == 64)
        NAME(take)(to, from, count, 64);
    else
        NAME(take)(to, from, count, 32);
}

HOW static bool NAME(is_any)(const lds_shape *shape, const uint32_t *addresses)
{
    return shape->parts == 8 ? NAME(is)(shape, addresses, 8) : NAME(is)(shape, addresses, 4);
}

static const lds_shape_ops NAME(ops) = { NAME(is_any), NAME(load_any), NAME(store_any), NAME(take_any) };

#undef BODY
#undef HOW
#undef NAME
