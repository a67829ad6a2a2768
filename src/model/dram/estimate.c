/* estimate.c: see estimate.h. May look into the specs of DRAM blocks, changes nothing in them.
 *
 * A scheduler that serves open rows first makes one activate per row and queue full of requests. The time of a queue
 * full is then the largest of what four resources need: the data bus, the busiest bank, the activates of the channel,
 * and the command bus; and what the bus loses when it turns between reads and writes. */
#include "model/dram/estimate.h"

#include "model/cache/cache.h"
#include "model/dram/bank.h"
#include "model/dram/fixed.h"

#include <string.h>

/* Turns of the bus in a queue full with reads and writes: rows are served whole, so a few banks' worth. */
#define TURNS 2u

static void describe_bank(const ls_block *block, dram_service *out)
{
    const bank_channel *c = ls_block_state((ls_block *)(uintptr_t)block);
    const bank_times *t = &c->times;
    const bank_spec *spec = c->spec;
    uint64_t front = c->front_latency * c->front_ratio.den / c->front_ratio.num; /* in DRAM cycles */
    uint32_t four = (t->faw + 3) / 4;
    *out = (dram_service){
        .latency_cycles = (uint32_t)front + t->cl + t->burst + 2,
        .open_cycles = t->rcd,
        .close_cycles = t->rp,
        .atom_num = t->burst > t->ccd ? t->burst : t->ccd,
        .atom_den = 1,
        .banks = c->bank_mask + 1,
        .column_cycles = t->ccdl,
        .read_row = t->rcd + (t->rtpl > t->ccd ? t->rtpl : t->ccd) + t->rp,
        .write_row = t->rcdwr + t->wtp + t->rp,
        .row_cycles = t->rc,
        .activate_cycles = t->rrd > four ? t->rrd : four,
        .turn_cycles = t->rtw + t->wtr,
        .queue = (uint32_t)spec->queue_entries,
        .hash = c->hash,
        .bank_bits = c->bank_bits,
        .in_order = c->scheduler == BANK_FIFO,
    };
    out->queue = out->queue == 0 || out->queue > 512 ? 512 : out->queue;
}

ls_status dram_get_service(const ls_block *block, dram_service *out, ls_error *err)
{
    const char *model = ls_block_type_of(block)->name;
    if (strcmp(model, "bank") == 0) {
        describe_bank(block, out);
        return LS_OK;
    }
    if (strcmp(model, "fixed") == 0) {
        const fixed_spec *spec = ls_block_spec(block);
        uint64_t num = spec->atoms_per_cycle.den, den = spec->atoms_per_cycle.num;
        while (num > UINT32_MAX || den > UINT32_MAX) {
            num >>= 1;
            den >>= 1;
        }
        *out = (dram_service){ .latency_cycles = (uint32_t)spec->latency_cycles + 1,
                               .atom_num = num == 0 ? 1 : (uint32_t)num,
                               .atom_den = den == 0 ? 1 : (uint32_t)den,
                               .queue = 64 };
        return LS_OK;
    }
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "core.memory 'analytic' knows the DRAM models 'bank' and 'fixed', not '%s'", model);
}

void dram_estimate_init(dram_estimate *e, const dram_service *service)
{
    memset(e, 0, sizeof *e);
    e->service = service;
}

static uint32_t bank_of(const dram_service *s, uint32_t number, uint32_t row)
{
    uint32_t mask = s->banks - 1;
    number &= mask;
    if (s->hash == BANK_HASH_XOR)
        return number ^ (row & mask);
    return s->hash == BANK_HASH_IPOLY ? cache_ipoly(row, number, s->bank_bits) : number;
}

/* Rows of a bank that are still among the newest seen are taken for the same visit. */
static bool known_row(dram_estimate *e, uint32_t number, uint32_t row)
{
    uint32_t *rows = e->rows[number], seen = e->service->in_order ? 1 : 8;
    for (uint32_t i = 0; i < seen; i++)
        if (rows[i] == row + 1)
            return true;
    memmove(rows + 1, rows, 7 * sizeof *rows);
    rows[0] = row + 1;
    return false;
}

void dram_estimate_add(dram_estimate *e, uint32_t number, uint32_t row, uint32_t atoms, bool write)
{
    const dram_service *s = e->service;
    e->writes += write ? atoms : 0;
    e->reads += !write;
    if (s->banks != 0) {
        uint32_t b = bank_of(s, number, row);
        e->columns[b] += atoms;
        e->closed += !write && e->last_row[b] == 0;
        e->conflicts += !write && e->last_row[b] != 0 && e->last_row[b] != row + 1;
        e->last_row[b] = row + 1;
        if (!known_row(e, b, row)) {
            if (e->open[b] != row + 1) {
                e->row_count[b]++;
                e->rows_met++;
            }
        }
    }
    e->waiting += atoms;
    if (e->waiting >= s->queue)
        dram_estimate_flush(e);
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void dram_estimate_flush(dram_estimate *e)
{
    const dram_service *s = e->service;
    if (e->waiting == 0)
        return;
    uint64_t cycles = ((uint64_t)e->waiting * s->atom_num + s->atom_den - 1) / s->atom_den;
    if (s->banks != 0) {
        uint64_t row = e->writes * 2 > e->waiting ? s->write_row : s->read_row, slowest = 0;
        for (uint32_t b = 0; b < s->banks; b++) {
            uint32_t rows = e->row_count[b], columns = e->columns[b];
            uint64_t of_bank = columns * (uint64_t)s->column_cycles;
            if (rows > 0)
                of_bank = most(of_bank + (row - s->column_cycles) * rows, (uint64_t)rows * s->row_cycles);
            slowest = most(slowest, of_bank);
            e->open[b] = e->rows[b][0] != 0 ? e->rows[b][0] : e->open[b];
            e->columns[b] = e->row_count[b] = 0;
        }
        memset(e->rows, 0, sizeof e->rows);
        cycles = most(cycles, slowest);
        cycles = most(cycles, (uint64_t)e->rows_met * s->activate_cycles);
        cycles = most(cycles, e->waiting + 2 * (uint64_t)e->rows_met);
        if (e->writes != 0 && e->writes != e->waiting)
            cycles += (uint64_t)TURNS * s->turn_cycles;
    }
    e->busy_cycles += cycles;
    e->atoms += e->waiting;
    e->waiting = e->writes = e->rows_met = 0;
}
