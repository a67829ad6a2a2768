/* memory_image.c: MIMG: loads, stores, atomics and samples of images. Images have one mip level, so operands
 * that choose a level (level of detail, derivatives, bias) are skipped. */
#include "isa/amd/exec/image.h"
#include "isa/amd/exec/memory_impl.h"

#include <math.h>

/* Properties that the name of an operation gives. */
typedef struct image_op {
    bool sample, gather, store, resinfo, raw, sign;
    bool bias, derivatives, halves, offset, compare;
} image_op;

/* The words between underscores after "image_sample" or "image_gather4". */
static bool image_modifiers(const char *name, image_op *op)
{
    while (*name == '_') {
        const char *word = ++name;
        size_t length = 0;
        while (word[length] != '\0' && word[length] != '_')
            length++;
        name += length;
        if (length == 1 && word[0] == 'o')
            op->offset = true;
        else if (length == 1 && word[0] == 'b')
            op->bias = true;
        else if (length == 1 && word[0] == 'c')
            op->compare = true;
        else if ((length == 1 && word[0] == 'd') || (length == 2 && memcmp(word, "cd", 2) == 0))
            op->derivatives = true;
        else if (length == 3 && memcmp(word, "g16", 3) == 0)
            op->halves = true;
    }
    return !op->compare;
}

static image_op image_what(const amd_inst *inst)
{
    image_op op = { .sample = false };
    const char *name = amd_op_name((amd_op)inst->op);
    if (strncmp(name, "image_sample", 12) == 0) {
        op.sample = true;
        image_modifiers(name + 12, &op);
    } else if (strncmp(name, "image_gather4", 13) == 0) {
        op.sample = op.gather = true;
        image_modifiers(name + 13, &op);
    } else if (strncmp(name, "image_store", 11) == 0) {
        op.store = true;
    } else if (strcmp(name, "image_get_resinfo") == 0) {
        op.resinfo = true;
    }
    op.raw = strstr(name, "_pck") != NULL;
    op.sign = strstr(name, "_sgn") != NULL;
    return op;
}

bool mem_image_supported(amd_target target, const amd_inst *inst, const mem_row *row)
{
    (void)target;
    if (inst->dim >= 6 && target != AMD_GFX803) /* several samples per texel */
        return false;
    return row->kind == AMD_ACCESS_ATOMIC || !image_what(inst).compare;
}

/* --- where the coordinates are -------------------------------------------------------------------------- */

/* Address register i of a lane: after the first one they may be anywhere (NSA). */
static uint32_t image_word(const amd_wave *wave, const amd_inst *inst, unsigned i, unsigned lane)
{
    unsigned code = inst->src[0].code + i;
    if (i > 0 && (inst->flags & AMD_NSA))
        code = AMD_VGPR + inst->nsa[(i - 1) % sizeof inst->nsa];
    return mem_vgpr(wave, code)[lane];
}

static uint32_t image_coordinate(const amd_wave *wave, const amd_inst *inst, unsigned first, unsigned i,
                                 unsigned lane, bool integer)
{
    if (!(inst->flags & AMD_A16))
        return image_word(wave, inst, first + i, lane);
    uint32_t pair = image_word(wave, inst, first + i / 2, lane);
    uint16_t half = (uint16_t)(i % 2 ? pair >> 16 : pair);
    if (integer)
        return half;
    float wide = amd_half_to_float(half);
    uint32_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

/* Number of coordinates of a texel. The last one may be a layer. */
static unsigned image_axes(unsigned kind)
{
    static const uint8_t axes[] = { 1, 2, 3, 3, 2, 3 };
    return axes[kind];
}

static bool image_layered(unsigned kind)
{
    return kind >= AMD_IMAGE_CUBE;
}

static amd_image image_resource(const amd_wave *wave, const amd_inst *inst)
{
    uint32_t words[8] = { 0 };
    unsigned count = inst->flags & AMD_R128 ? 4 : 8;
    for (unsigned i = 0; i < count; i++)
        words[i] = wave->sgpr[(inst->src[2].code + i) & 127];
    amd_image image = amd_image_unpack((amd_target)wave->target, words);
    if (wave->target != AMD_GFX803 && inst->dim <= AMD_IMAGE_2D_ARRAY)
        image.kind = inst->dim; /* the instruction says how many coordinates it brings */
    return image;
}

/* --- places --------------------------------------------------------------------------------------------- */

/* Puts a whole coordinate into [0, size) by the sampler's rule; false: the border. */
static bool image_wrap(unsigned wrap, int64_t at, int64_t size, int64_t *out)
{
    int64_t twice;
    switch (wrap) {
    case AMD_WRAP_REPEAT:
        at %= size;
        *out = at < 0 ? at + size : at;
        return true;
    case AMD_WRAP_MIRROR:
        twice = at % (2 * size);
        twice = twice < 0 ? twice + 2 * size : twice;
        *out = twice < size ? twice : 2 * size - 1 - twice;
        return true;
    case AMD_WRAP_MIRROR_ONCE_EDGE:
        at = at < 0 ? -1 - at : at;
        *out = at < size ? at : size - 1;
        return true;
    case AMD_WRAP_EDGE:
        *out = at < 0 ? 0 : at < size ? at : size - 1;
        return true;
    case AMD_WRAP_MIRROR_ONCE_HALF_BORDER:
    case AMD_WRAP_MIRROR_ONCE_BORDER:
        at = at < 0 ? -1 - at : at;
        break;
    default:
        break;
    }
    *out = at;
    return at >= 0 && at < size;
}

static uint64_t image_texel_address(const amd_image *image, const int64_t at[3])
{
    return image->address +
           (((uint64_t)at[2] * image->height + (uint64_t)at[1]) * image->pitch + (uint64_t)at[0]) *
               image->texel.bytes;
}

/* One texel by whole coordinates. */
static void image_plain(const amd_wave *wave, const amd_inst *inst, const amd_image *image, amd_access *access,
                        unsigned lane)
{
    unsigned axes = image_axes(image->kind);
    int64_t at[3] = { 0 }, size[3] = { image->width, image->height, image->depth };
    bool inside = true;
    for (unsigned i = 0; i < axes && i < LS_COUNT_OF(at); i++) {
        unsigned axis = image->kind == AMD_IMAGE_1D_ARRAY && i == 1 ? 2 : i;
        at[axis] = image_coordinate(wave, inst, 0, i, lane, true);
        inside = inside && at[axis] < size[axis];
    }
    if (!inside)
        access->absent[0] |= 1ull << lane;
    access->address[0][lane] = image_texel_address(image, at);
}

typedef struct image_axis {
    int64_t texel; /* the lower one */
    float between; /* 0 to 1: how near to the next one */
} image_axis;

static image_axis image_place(float coordinate, uint32_t size, bool normalized, bool linear)
{
    image_axis axis = { .texel = 0 };
    float at = normalized ? coordinate * (float)size : coordinate;
    if (linear)
        at -= 0.5f;
    else if (normalized) /* positions are rounded to 1/256 of a texel: compilers rely on it for n * (1 /
                          * size) */
        at += 1.0f / 512;
    if (!(at > -1e9f && at < 1e9f)) /* also NaN; far outside on either side */
        at = at > 0 ? 1e9f : at < 0 ? -1e9f : 0;
    float floor_ = floorf(at);
    axis.texel = (int64_t)floor_;
    axis.between = at - floor_;
    return axis;
}

static void image_sample(const amd_wave *wave, const amd_inst *inst, const image_op *op,
                         const amd_image *image, const amd_sampler *sampler, amd_access *access, unsigned lane)
{
    unsigned axes = image_axes(image->kind), spatial = axes - image_layered(image->kind);
    unsigned first = op->offset + op->bias;
    if (op->derivatives)
        first += op->halves ? (spatial == 3 ? 4 : 2) : 2 * spatial;
    bool normalized = !sampler->unnormalized && !(inst->flags & AMD_UNORM);
    uint32_t size[3] = { image->width, image->height, image->depth };
    uint32_t offsets = op->offset ? image_word(wave, inst, 0, lane) : 0;
    image_axis place[3] = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
    for (unsigned i = 0; i < axes; i++) {
        uint32_t bits = image_coordinate(wave, inst, first, i, lane, false);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (i >= spatial) { /* a layer: the nearest there is */
            float layer = fminf(fmaxf(rintf(value), 0), (float)(image->depth - 1));
            place[2].texel = (int64_t)layer;
            continue;
        }
        bool linear = op->gather || (access->filter >> i & 1) != 0;
        place[i] = image_place(value, size[i], normalized, linear);
        place[i].texel += (int32_t)(offsets >> i * 8 << 26) >> 26;
        access->weight[i][lane] = place[i].between;
    }
    /* Piece p is the texel after the lower one along each linear axis whose bit is set. */
    for (unsigned piece = 0; piece < access->pieces; piece++) {
        int64_t at[3];
        bool inside = true;
        for (unsigned i = 0, bit = 0; i < 3; i++) {
            int64_t next = 0;
            if (access->filter >> i & 1)
                next = piece >> bit++ & 1;
            if (i >= spatial)
                at[i] = place[i].texel;
            else
                inside = image_wrap(sampler->wrap[i], place[i].texel + next, size[i], &at[i]) && inside;
        }
        if (!inside) {
            access->absent[piece] |= 1ull << lane;
            at[0] = at[1] = at[2] = 0;
        }
        access->address[piece][lane] = image_texel_address(image, at);
    }
}

/* --- step 1 --------------------------------------------------------------------------------------------- */

static void image_store_data(const amd_wave *wave, const amd_inst *inst, const image_op *op,
                             const amd_image *image, amd_access *access)
{
    MEM_FOR_LANES(lane, access->lanes)
    {
        uint32_t in[4] = { 0 }, out[4] = { 0 };
        unsigned reg = 0;
        for (unsigned i = 0; i < 4; i++) {
            if (!(inst->dmask >> i & 1))
                continue;
            uint32_t value;
            if (inst->flags & AMD_D16) {
                bool packed = wave->target != AMD_GFX803;
                value = mem_vgpr(wave, inst->src[1].code + (packed ? reg / 2 : reg))[lane];
                uint16_t half = (uint16_t)(packed && reg % 2 ? value >> 16 : value);
                float wide = amd_half_to_float(half);
                value = half;
                if (image->texel.number == AMD_NUMBER_SINT)
                    value = (uint32_t)(int32_t)(int16_t)half;
                else if (!amd_format_is_integer(&image->texel))
                    memcpy(&value, &wide, sizeof value);
            } else {
                value = mem_vgpr(wave, inst->src[1].code + reg)[lane];
            }
            in[i] = value;
            reg++;
        }
        if (op->raw) {
            memcpy(access->data[lane], in, image->texel.bytes);
            continue;
        }
        /* A texel's component takes the register that loads would put it into. */
        for (unsigned i = 4; i-- > 0;)
            if (image->select[i] >= AMD_SELECT_X)
                out[image->select[i] - AMD_SELECT_X] = in[i];
        amd_format_write(&image->texel, out, access->data[lane]);
    }
}

static void image_atomic_data(const amd_wave *wave, const amd_inst *inst, amd_access *access)
{
    bool pair = access->atomic == AMD_ATOMIC_CMPSWAP || access->atomic == AMD_ATOMIC_FCMPSWAP;
    unsigned dwords = access->piece_bytes / 4u * (pair ? 2u : 1u);
    for (unsigned i = 0; i < dwords; i++) {
        const uint32_t *from = mem_vgpr(wave, inst->src[1].code + i);
        MEM_FOR_LANES(lane, access->lanes)
        access->data[lane][i] = from[lane];
    }
}

bool mem_image_address(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    amd_image image = image_resource(wave, inst);
    image_op op = image_what(inst);
    access->space = AMD_SPACE_GLOBAL;
    access->texel = image.texel;
    memcpy(access->select, image.select, sizeof image.select);
    access->piece_bytes = image.texel.bytes;
    access->returns = row->kind == AMD_ACCESS_ATOMIC ? (inst->flags & AMD_GLC) != 0 : !op.store;
    if (op.store)
        access->kind = AMD_ACCESS_STORE;
    if (op.resinfo) {
        access->kind = AMD_ACCESS_EXCHANGE;
        bool flat = image.kind == AMD_IMAGE_1D_ARRAY;
        uint32_t facts[4] = { image.width, flat ? image.depth : image.height, flat ? 1 : image.depth, 1 };
        MEM_FOR_LANES(lane, access->lanes)
        memcpy(access->data[lane], facts, sizeof facts);
        return true;
    }
    bool word = image.texel.bytes == 4 || image.texel.bytes == 8;
    if (image.texel.bytes == 0 || (row->kind == AMD_ACCESS_ATOMIC && !word)) {
        access->zero = access->lanes;
        access->lanes = 0;
        return true;
    }
    if (op.sample) {
        uint32_t words[4];
        for (unsigned i = 0; i < 4; i++)
            words[i] = wave->sgpr[(inst->src[3].code + i) & 127];
        amd_sampler sampler = amd_sampler_unpack(words);
        unsigned spatial = image_axes(image.kind) - image_layered(image.kind);
        if (sampler.linear || op.gather)
            access->filter = spatial > 1 ? 3 : 1;
        if (spatial == 3 && sampler.linear_z)
            access->filter |= 4;
        access->pieces = (uint8_t)(1u << __builtin_popcount(access->filter));
        access->border = sampler.border;
        MEM_FOR_LANES(lane, access->lanes)
        image_sample(wave, inst, &op, &image, &sampler, access, lane);
        return true;
    }
    MEM_FOR_LANES(lane, access->lanes)
    image_plain(wave, inst, &image, access, lane);
    if (op.store)
        image_store_data(wave, inst, &op, &image, access);
    else if (row->kind == AMD_ACCESS_ATOMIC)
        image_atomic_data(wave, inst, access);
    return true;
}

/* --- step 3 --------------------------------------------------------------------------------------------- */

/* The four registers of a texel: the descriptor's selection of its components, or the border. */
static void image_components(const amd_access *access, unsigned lane, unsigned piece, bool sample,
                             uint32_t out[4])
{
    bool integer = amd_format_is_integer(&access->texel);
    float one_float = 1;
    uint32_t one = 1, texel[4] = { 0 };
    if (!integer)
        memcpy(&one, &one_float, sizeof one);
    if (access->absent[piece] >> lane & 1) {
        if (sample && access->border == 2)
            texel[0] = texel[1] = texel[2] = one;
        if (sample && access->border != 0)
            texel[3] = one;
    } else {
        unsigned dwords = (access->piece_bytes + 3u) / 4;
        amd_format_read(&access->texel, access->data[lane] + piece * dwords, texel);
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned select = access->select[i];
        out[i] = select >= AMD_SELECT_X ? texel[select - AMD_SELECT_X] : select == AMD_SELECT_1 ? one : 0;
        if (!sample && (access->absent[piece] >> lane & 1))
            out[i] = 0;
    }
}

/* Weighted sum of the texels around a position. Reduces the pieces along one axis after another. */
static void image_filter(const amd_access *access, unsigned lane, uint32_t out[4])
{
    float value[AMD_PIECES_MAX][4];
    for (unsigned piece = 0; piece < access->pieces; piece++) {
        uint32_t bits[4];
        image_components(access, lane, piece, true, bits);
        memcpy(value[piece], bits, sizeof bits);
    }
    unsigned count = access->pieces;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (!(access->filter >> axis & 1))
            continue;
        float to = access->weight[axis][lane], from = 1 - to;
        count /= 2;
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < 4; j++)
                value[i][j] = from * value[2 * i][j] + to * value[2 * i + 1][j];
    }
    memcpy(out, value[0], sizeof value[0]);
}

static void image_gather(const amd_inst *inst, const amd_access *access, unsigned lane, uint32_t out[4])
{
    static const uint8_t order[4] = { 2, 3, 1, 0 }; /* counter-clockwise from the lower left */
    unsigned which = inst->dmask != 0 ? (unsigned)__builtin_ctz(inst->dmask) & 3 : 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t texel[4];
        image_components(access, lane, order[i] % access->pieces, true, texel);
        out[i] = texel[which];
    }
}

static void image_put(amd_wave *wave, const amd_inst *inst, const amd_access *access, unsigned lane,
                      unsigned mask, const uint32_t value[4])
{
    bool halves = (inst->flags & AMD_D16) != 0, packed = wave->target != AMD_GFX803;
    unsigned reg = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(mask >> i & 1))
            continue;
        uint32_t *to = mem_vgpr(wave, inst->vdst.code + (halves && packed ? reg / 2 : reg)) + lane;
        if (halves) {
            float wide;
            memcpy(&wide, &value[i], sizeof wide);
            uint32_t half =
                amd_format_is_integer(&access->texel) ? value[i] & 0xffff : amd_float_to_half(wide);
            *to = packed && reg % 2 ? (*to & 0xffff) | half << 16 : half;
        } else {
            *to = value[i];
        }
        reg++;
    }
    if (inst->flags & (AMD_TFE | AMD_LWE))
        mem_vgpr(wave, inst->vdst.code + (halves && packed ? (reg + 1) / 2 : reg))[lane] = 0;
}

/* Texels as they lie in memory. */
static void image_raw(const amd_access *access, unsigned lane, bool sign, uint32_t out[4])
{
    memset(out, 0, 4 * sizeof out[0]);
    if (access->absent[0] >> lane & 1)
        return;
    memcpy(out, access->data[lane], access->piece_bytes);
    if (sign && access->piece_bytes == 1)
        out[0] = (uint32_t)(int32_t)(int8_t)out[0];
    if (sign && access->piece_bytes == 2)
        out[0] = (uint32_t)(int32_t)(int16_t)out[0];
}

void mem_image_writeback(amd_wave *wave, const amd_inst *inst, const mem_row *row, const amd_access *access)
{
    image_op op = image_what(inst);
    if (row->kind == AMD_ACCESS_ATOMIC) {
        for (unsigned i = 0; i < access->piece_bytes / 4u; i++) {
            uint32_t *to = mem_vgpr(wave, inst->vdst.code + i);
            MEM_FOR_LANES(lane, access->lanes)
            to[lane] = access->absent[0] >> lane & 1 ? 0 : access->data[lane][i];
        }
        return;
    }
    MEM_FOR_LANES(lane, access->lanes | access->zero)
    {
        uint32_t value[4] = { 0 };
        unsigned mask = op.gather ? 15 : inst->dmask;
        if (access->zero >> lane & 1)
            ;
        else if (op.resinfo)
            memcpy(value, access->data[lane], sizeof value);
        else if (op.raw)
            image_raw(access, lane, op.sign, value);
        else if (op.gather)
            image_gather(inst, access, lane, value);
        else if (op.sample && access->pieces > 1 && !amd_format_is_integer(&access->texel))
            image_filter(access, lane, value);
        else
            image_components(access, lane, 0, op.sample, value);
        image_put(wave, inst, access, lane, mask, value);
    }
}
