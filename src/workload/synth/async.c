/* async.c: rows and executions of Hopper's asynchronous machine. Touches memory only. */
#include "workload/synth/async.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- rows */

uint32_t synth_row_init(synth_program *p)
{
    uint32_t row = synth_op(p, "0 SYNCS.EXCH.64 2 UR4 UR6 8");
    synth_tail(p, 0, 0, true);
    return row;
}

uint32_t synth_row_expect(synth_program *p)
{
    uint32_t row = synth_op(p, "0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8");
    synth_tail(p, 0, 0, true);
    return row;
}

uint32_t synth_row_arrive(synth_program *p, bool remote)
{
    uint32_t row = synth_op(p, "0 SYNCS.ARRIVE.TRANS64%s.A1T0 1 R4 8", remote ? ".RED" : "");
    synth_tail(p, 0, 0, true);
    return row;
}

uint32_t synth_row_wait(synth_program *p)
{
    uint32_t row = synth_op(p, "0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 R5 8");
    synth_tail(p, 0, 0, true);
    synth_op(p, "0 BRA 0 0");
    return row;
}

uint32_t synth_row_barrier(synth_program *p, uint32_t id, uint32_t warps)
{
    uint32_t row = synth_op(p, "0 BAR.SYNC.DEFER_BLOCKING 0 0");
    synth_tail(p, id, (int64_t)warps * SYNTH_WARP, false);
    return row;
}

uint32_t synth_row_named(synth_program *p, uint32_t warps, bool arrive)
{
    uint32_t row = synth_op(p, "1 R13 BAR.%s 0 0", arrive ? "ARV" : "SYNC.DEFER_BLOCKING");
    synth_tail(p, (int64_t)warps * SYNTH_WARP, 0, true);
    return row;
}

uint32_t synth_rows_cluster_barrier(synth_program *p, bool cluster)
{
    if (!cluster)
        return synth_row_barrier(p, 0, 0);
    uint32_t row = synth_op(p, "0 UCGABAR_ARV 0 0");
    synth_op(p, "0 UCGABAR_WAIT 0 0");
    return row;
}

uint32_t synth_row_semaphore(synth_program *p, synth_semaphore_op op)
{
    static const char *const rows[] = { [SYNTH_SEMAPHORE_WAIT] = "1 R16 LDG.E.STRONG.GPU 2 R18 R20 4",
                                        [SYNTH_SEMAPHORE_ADD] = "0 REDG.E.ADD.STRONG.GPU 2 R18 R20 4",
                                        [SYNTH_SEMAPHORE_SET] = "0 STG.E.STRONG.GPU 2 R18 R20 4" };
    uint32_t row = synth_op(p, "%s", rows[op]);
    synth_tail(p, 0, 0, true);
    return row;
}

const char *const synth_element_names[] = { "fp16", "bf16", "tf32", "fp8", "int8", NULL };

uint32_t synth_element_bytes(uint32_t type)
{
    return type == SYNTH_TF32 ? 4 : type == SYNTH_FP8 || type == SYNTH_INT8 ? 1 : 2;
}

void synth_row_product(synth_program *p, uint32_t type, uint32_t n, unsigned sums, unsigned a, bool commit)
{
    static const char *const names[][2] = {
        [SYNTH_FP16] = { "HGMMA", "F32" },      [SYNTH_BF16] = { "HGMMA", "F32.BF16" },
        [SYNTH_TF32] = { "HGMMA", "F32.TF32" }, [SYNTH_FP8] = { "QGMMA", "F32.E4M3.E4M3" },
        [SYNTH_INT8] = { "IGMMA", "S8.S8" },
    };
    char from[16] = "1";
    if (a != 0)
        snprintf(from, sizeof from, "2 R%u", a);
    synth_op(p, "1 R%u %s.64x%ux%u.%s %s R%u %d 0", sums, names[type][0], n, 32 / synth_element_bytes(type),
             names[type][1], from, sums, commit);
    synth_tail(p, 0, 0, false);
}

/* --------------------------------------------------------------------------------------------- executions */

/* Text of a register's values: once, if all lanes have the same. */
static void add_values(text_buffer *text, const uint64_t *lanes, int digits)
{
    unsigned same = 1;
    while (same < SYNTH_WARP && lanes[same] == lanes[0])
        same++;
    unsigned count = same == SYNTH_WARP ? 1 : SYNTH_WARP;
    text_printf(text, "%s%u", text->count && text_get(text)[text->count - 1] != '\n' ? " " : "", count);
    for (unsigned i = 0; i < count; i++)
        text_printf(text, " %0*" PRIx64, digits, digits == 8 ? lanes[i] & UINT32_MAX : lanes[i]);
}

/* The values of the execution that follows: its destination (unknown: 0) if it has one, addresses, and the operand if digits
 * are not 0. */
static void keep_values(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP], uint64_t operand,
                        int digits)
{
    bool barrier = strncmp(w->program->rows.at[row].body, "1 R13 BAR", 9) == 0; /* its only register */
    synth_values *v = w->values;
    uint64_t same[SYNTH_WARP];
    if (!v || w->failed)
        return;
    text_add(&v->text, "\n"); /* before each: the first register has no blank before it */
    cta_value value = { .dyn = (uint32_t)w->cta->dyn_count, .at = (uint32_t)v->text.count };
    if (w->program->rows.at[row].body[0] == '1' && !barrier)
        text_add(&v->text, "1 00000000");
    add_values(&v->text, addresses, 8);
    for (unsigned i = 0; i < SYNTH_WARP; i++)
        same[i] = operand;
    if (digits > 0)
        add_values(&v->text, same, digits);
    value.bytes = (uint32_t)(v->text.count - value.at);
    w->failed = v->text.failed || v->text.count > UINT32_MAX || !vec_push(&v->list, value);
}

/* A record: addresses of the mask's lanes, then the operand. */
static void put_operand(synth_warp *w, uint32_t row, uint64_t address, uint64_t operand, int digits)
{
    uint64_t lanes[SYNTH_WARP], words[SYNTH_WARP + 2];
    unsigned count;
    for (unsigned i = 0; i < SYNTH_WARP; i++)
        lanes[i] = address;
    keep_values(w, row, lanes, operand, digits);
    ls_addr_mode mode = synth_encode(w->mask, lanes, words + 1, &count);
    words[0] = ls_record_head(LS_RECORD_MBARRIER, mode, 1, count + 2);
    words[count + 1] = operand;
    synth_record(w, row, words, count + 2);
}

void synth_mbarrier_init(synth_warp *w, uint32_t row, uint64_t address, uint32_t arrivals)
{
    uint32_t before = w->mask;
    uint64_t half = (UINT64_C(0x100000) - arrivals) << 1 & UINT32_MAX; /* as mbarrier.init encodes it */
    w->mask = 1;
    put_operand(w, row, address, half, 16);
    w->mask = before;
}

void synth_mbarrier_value(synth_warp *w, uint32_t row, uint64_t address, uint64_t operand)
{
    put_operand(w, row, address, operand, 8);
}

void synth_mbarrier_arrive(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP])
{
    keep_values(w, row, addresses, 0, 0);
    synth_list(w, row, addresses);
}

void synth_mbarrier_wait(synth_warp *w, uint32_t row, uint64_t address, uint32_t parity)
{
    synth_mbarrier_value(w, row, address, parity);
    synth_one(w, row + 1, 0);
}

void synth_semaphore(synth_warp *w, uint32_t row, uint64_t address, uint64_t operand)
{
    uint32_t before = w->mask;
    w->mask = 1;
    put_operand(w, row, address, operand, 8);
    w->mask = before;
}

void synth_named_barrier(synth_warp *w, uint32_t row, uint32_t id)
{
    const uint64_t words[] = { ls_record_head(LS_RECORD_BARRIER, 0, 0, 2), id };
    uint64_t lanes[SYNTH_WARP];
    for (unsigned i = 0; i < SYNTH_WARP; i++)
        lanes[i] = id;
    keep_values(w, row, lanes, 0, 0);
    synth_record(w, row, words, LS_COUNT_OF(words));
}

void synth_bulk(synth_warp *w, uint32_t row, const synth_box *box, uint64_t mbarrier, uint32_t blocks)
{
    enum { BASE_DIGITS = 1 }; /* of an address in the text, at least: as tracers write it */
    uint64_t words[LS_BULK_WORD_ADDRESSES + SYNTH_BOX_ROWS];
    uint32_t before = w->mask, count = LS_BULK_WORD_ADDRESSES + box->rows;
    words[0] = ls_record_head(LS_RECORD_BULK, 4, (blocks != 0) | BASE_DIGITS << 8, count);
    words[LS_BULK_WORD_PLACE] = mbarrier | (uint64_t)blocks << 32;
    words[LS_BULK_WORD_BYTES] = (uint64_t)box->rows * SYNTH_BOX_BYTES;
    words[LS_BULK_WORD_OUTSIDE] = 0;
    words[LS_BULK_WORD_COUNT] = box->rows;
    for (uint32_t i = 0; i < box->rows; i++)
        words[LS_BULK_WORD_ADDRESSES + i] = box->base + i * box->pitch;
    w->mask = 1;
    synth_record(w, row, words, count);
    w->mask = before;
}
