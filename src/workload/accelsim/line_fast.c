/* line_fast.c: instruction lines, as many as possible at once: recognises a line by its pc and its bytes, and reads
 * mask and addresses. A line that the table does not have is left to line.c. */
#include "workload/accelsim/line.h"
#include "workload/accelsim/hex.h"

/* Reads the addresses at p, after the width and a space, into the block. Returns the text after them and their
 * space, or NULL: then the slow path reports the error. */
static const char *fast_addresses(ls_cta *cta, const char *p, uint32_t mask, uint32_t *addr)
{
    uint64_t *words = cta->addrs + cta->addr_count;
    unsigned lanes = (unsigned)__builtin_popcount(mask), count;
    char mode = p[0];
    if (p[1] != ' ')
        return NULL;
    p += 2;
    if (mode == '1') {
        int64_t stride;
        p = hex_read_address(p, &words[0]);
        if (!p || *p != ' ' || !(p = hex_read_decimal(p + 1, &stride)))
            return NULL;
        words[1] = (uint64_t)stride;
        count = 2;
    } else if (mode == '2') {
        uint64_t address;
        p = hex_read_address(p, &address);
        if (!p)
            return NULL;
        words[0] = address;
        for (unsigned i = 1; i < lanes; i++) {
            int64_t difference;
            if (*p != ' ' || !(p = hex_read_decimal(p + 1, &difference)))
                return NULL;
            words[i] = address += (uint64_t)difference;
        }
        count = lanes;
    } else if (mode == '0') {
        if (lanes == 0)
            p--; /* no addresses: the space after the mode also ends the list */
        for (unsigned i = 0; i < lanes; i++) {
            if (i && *p++ != ' ')
                return NULL;
            if (!(p = hex_read_address(p, &words[i])))
                return NULL;
        }
        count = lanes;
    } else {
        return NULL;
    }
    *addr = (uint32_t)cta->addr_count << 2 | (uint32_t)(mode - '0');
    cta->addr_count += count;
    return p + (*p == ' ');
}

/* The prefix before the pc: block and warp up to version 2, the source line with line info. */
static const char *fast_prefix(const acc_reader *r, const ls_cta *cta, const char *p, uint64_t *line)
{
    int64_t number;
    if (r->kernel.info.tracer_version < 3) {
        const uint32_t expected[4] = { cta->id[0], cta->id[1], cta->id[2], r->warp };
        for (int i = 0; i < 4; i++) {
            if (!(p = hex_read_decimal(p, &number)) || *p++ != ' ' || number != expected[i])
                return NULL;
        }
    }
    if (r->kernel.info.line_info) {
        if (!(p = hex_read_decimal(p, &number)) || *p++ != ' ' || number < 0)
            return NULL;
        *line = (uint64_t)number;
    }
    return p;
}

/* The instruction whose pc stands at *p, guessed from the line before or by the pc itself, and the mask after
 * it. *p moves past both. The caller checks the rest of the line. */
static inline const acc_shape *find_shape(acc_reader *r, const char **p, uint32_t *mask, uint32_t *number)
{
    const uint64_t full = 0x6666666666666666ull; /* "ffffffff" */
    const acc_shapes *shapes = &r->shapes;
    if (r->kernel.inst_count == 0)
        return NULL;
    acc_shape *last = &shapes->at[r->last];
    const acc_shape *shape = &shapes->at[last->next];
    *number = last->next;
    if (shape->pc_bytes && (hex_load(*p) ^ shape->pc_word) << (8 * (8 - shape->pc_bytes)) == 0) {
        *p += shape->pc_bytes;
    } else {
        uint32_t pc;
        unsigned digits = hex_read(*p, &pc);
        *p += digits + 1;
        if (digits == 0 || (*p)[-1] != ' ' || !(shape = acc_shapes_guess(shapes, pc, number)) ||
            shape->pc != pc)
            return NULL;
        last->next = *number;
    }
    if (hex_load(*p) == full)
        *mask = UINT32_MAX;
    else if (hex_read(*p, mask) != 8)
        return NULL;
    *p += 9;
    return (*p)[-1] == ' ' ? shape : NULL;
}

ls_status acc_lines_fast(acc_reader *r, ls_cta *cta, ls_error *err)
{
    const bool prefixed = r->kernel.info.tracer_version < 3 || r->kernel.info.line_info;
    while (r->at < r->end && ((size_t)(r->end - r->at) >= ACC_LINE_MAX || r->at_end)) {
        const char *p = r->at;
        uint64_t line = 0;
        uint32_t mask, number, addr = LS_ADDR_NONE;
        if (!acc_reserve(cta))
            return LS_OK; /* the slow way will say so */
        if (prefixed && !(p = fast_prefix(r, cta, p, &line)))
            return LS_OK;
        const acc_shape *shape = find_shape(r, &p, &mask, &number);
        if (!shape || mask & ~r->lanes || !shape->text || shape->line != line ||
            !acc_same(p, shape->text, shape->text_bytes))
            return LS_OK;
        p += shape->text_bytes;
        if (shape->addresses) {
            uint64_t before = cta->addr_count;
            p = fast_addresses(cta, p, mask, &addr);
            if (!p || !acc_same(p, shape->tail, shape->tail_bytes)) {
                cta->addr_count = before;
                return LS_OK;
            }
            p += shape->tail_bytes;
        }
        if (shape->values) {
            const char *stop = memchr(p, '\n', (size_t)(r->end - p));
            if (!stop || (size_t)(stop - r->at) > ACC_LINE_MAX || !acc_keep_values(r, cta, p, stop))
                return LS_OK;
            p = stop + 1;
        }
        ls_dyn dyn = { .inst = number, .mask = mask, .addr = addr };
        cta->dyns[cta->dyn_count++] = dyn;
        r->last = number;
        if (r->report) {
            ls_status status = acc_inspect(r, &dyn, err);
            if (status != LS_OK)
                return status;
        }
        r->lines++;
        r->line++;
        r->at = p;
    }
    return LS_OK;
}
