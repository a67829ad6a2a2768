/* estimate.c: see estimate.h. May look into the specs of DRAM blocks, changes nothing in them.
 *
 * A scheduler that serves open rows first makes one activate for all requests to a row that are in the queue
 * when its turn comes. The time of many requests is then the largest of four times: of the data bus, the
 * busiest bank, the activates of the channel, and the command bus. The bus also loses time when it turns
 * between reads and writes. */
#include "model/cache/sector_cache.h"
#include "model/dram/estimate.h"

#include "model/dram/bank.h"
#include "model/dram/fixed.h"
#include "model/policy/set_hash.h"

#include <string.h>

/* Atoms over which the times of resources even out. */
#define WINDOW 2048u
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
        /* Between lonely reads a refresh closes every bank. */
        .latency_cycles = (uint32_t)front + t->cl + t->burst + 2 + (spec->refresh ? t->rcd : 0),
        .open_cycles = spec->refresh ? 0 : t->rcd,
        .close_cycles = spec->refresh ? 0 : t->rp,
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
        .in_order = c->in_order,
        .write_buffer = c->capacity * (SECTOR_CACHE_LINE_BYTES / SECTOR_BYTES), /* of whole lines */
    };
    out->queue = out->queue == 0 || out->queue > ESTIMATE_QUEUE_MAX ? ESTIMATE_QUEUE_MAX : out->queue;
}

ls_status dram_get_service(const ls_block *block, dram_service *out, ls_error *err)
{
    const char *model = ls_block_type_of(block)->name;
    if (strcmp(model, "bank") == 0) {
        describe_bank(block, out);
        if (((const bank_spec *)ls_block_spec(block))->scheduler >= BANK_SCHEDULERS)
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "dram.scheduler is a plug-in's, which the formulas of memory do not know: set "
                           "core.memory to cycle");
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
                               .queue = 64,
                               .write_buffer = (uint32_t)spec->queue_entries };
        return LS_OK;
    }
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "core.memory 'analytic' knows the DRAM models 'bank' and 'fixed', not '%s'", model);
}

void dram_estimate_init(dram_estimate *e, const dram_service *service)
{
    memset(e, 0, sizeof *e);
    e->service = service;
    for (uint32_t i = 0; i < ESTIMATE_QUEUE_MAX; i++)
        e->rows[i].next = (uint16_t)(i + 1 < ESTIMATE_QUEUE_MAX ? i + 1 : ESTIMATE_NONE);
    for (uint32_t i = 0; i < ESTIMATE_BANKS_MAX; i++)
        e->oldest[i] = e->newest[i] = ESTIMATE_NONE;
}

static uint32_t bank_of(const dram_service *s, uint32_t number, uint32_t row)
{
    uint32_t mask = s->banks - 1;
    number &= mask;
    if (s->hash == BANK_HASH_XOR)
        return number ^ (row & mask);
    return s->hash == BANK_HASH_IPOLY ? set_hash_ipoly(row, number, s->bank_bits) : number;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The times of the resources since the last call overlap: the longest counts. */
static void add_up(dram_estimate *e)
{
    const dram_service *s = e->service;
    uint64_t cycles = ((uint64_t)e->served * s->atom_num + s->atom_den - 1) / s->atom_den;
    for (uint32_t b = 0; b < s->banks; b++) {
        cycles = most(cycles, e->bank_cycles[b]);
        e->bank_cycles[b] = 0;
    }
    cycles = most(cycles, (uint64_t)e->activates * s->activate_cycles);
    cycles = most(cycles, e->served + 2 * (uint64_t)e->activates);
    if (s->banks != 0 && e->reads_in != 0 && e->writes_in != 0)
        cycles += (uint64_t)TURNS * s->turn_cycles * (e->served + s->queue - 1) / s->queue;
    e->busy_cycles += cycles;
    e->atoms += e->served;
    e->served = e->activates = e->reads_in = e->writes_in = 0;
}

/* The bank with work that is least advanced in time. */
static uint32_t next_bank(const dram_estimate *e)
{
    uint32_t best = ESTIMATE_BANKS_MAX;
    for (uint32_t b = 0; b < e->service->banks; b++)
        if (e->oldest[b] != ESTIMATE_NONE &&
            (best == ESTIMATE_BANKS_MAX || e->bank_cycles[b] < e->bank_cycles[best]))
            best = b;
    return best;
}

static void serve(dram_estimate *e)
{
    const dram_service *s = e->service;
    uint32_t b = next_bank(e);
    uint16_t i = e->oldest[b];
    uint32_t atoms = e->rows[i].atoms;
    uint64_t cycles = (uint64_t)atoms * s->column_cycles;
    if (e->open[b] != e->rows[i].row + 1) {
        uint64_t row = e->writes_in > e->reads_in ? s->write_row : s->read_row;
        cycles = most(cycles - s->column_cycles + row, s->row_cycles);
        e->activates++;
        e->open[b] = e->rows[i].row + 1;
    }
    e->bank_cycles[b] += cycles;
    e->waiting -= atoms;
    e->served += atoms;
    e->oldest[b] = e->rows[i].next;
    if (e->oldest[b] == ESTIMATE_NONE)
        e->newest[b] = ESTIMATE_NONE;
    e->rows[i].next = e->free_row;
    e->free_row = i;
    if (e->served >= WINDOW)
        add_up(e);
}

/* Joins the requests for the same row, or becomes the newest of its bank. */
static void enqueue(dram_estimate *e, uint32_t b, uint32_t row, uint32_t atoms)
{
    const dram_service *s = e->service;
    uint16_t last = e->newest[b];
    for (uint16_t i = s->in_order ? last : e->oldest[b]; i != ESTIMATE_NONE; i = e->rows[i].next)
        if (e->rows[i].row == row && e->rows[i].atoms < UINT16_MAX - atoms) {
            e->rows[i].atoms = (uint16_t)(e->rows[i].atoms + atoms);
            return;
        }
    uint16_t i = e->free_row;
    e->free_row = e->rows[i].next;
    e->rows[i].row = row;
    e->rows[i].atoms = (uint16_t)atoms;
    e->rows[i].next = ESTIMATE_NONE;
    if (last == ESTIMATE_NONE)
        e->oldest[b] = i;
    else
        e->rows[last].next = i;
    e->newest[b] = i;
}

void dram_estimate_add(dram_estimate *e, uint32_t number, uint32_t row, uint32_t atoms, bool write)
{
    const dram_service *s = e->service;
    e->reads += !write;
    e->reads_in += write ? 0 : atoms;
    e->writes_in += write ? atoms : 0;
    if (s->banks == 0) {
        e->served += atoms;
        if (e->served >= WINDOW)
            add_up(e);
        return;
    }
    uint32_t b = bank_of(s, number, row);
    e->closed += !write && e->last_row[b] == 0;
    e->conflicts += !write && e->last_row[b] != 0 && e->last_row[b] != row + 1;
    e->last_row[b] = row + 1;
    enqueue(e, b, row, atoms);
    e->waiting += atoms;
    while (e->waiting >= s->queue)
        serve(e);
}

void dram_estimate_flush(dram_estimate *e)
{
    while (e->waiting > 0)
        serve(e);
    if (e->served > 0)
        add_up(e);
}
