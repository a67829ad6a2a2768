/* kanata.c: the pipeline of one core as Kanata text (.kanata, .log), which Konata opens: a line per instruction, a
 * thread per warp. Stages are those of timeline_steps.def. Cycles count from the first instruction of the file. */
#include "base/file.h"
#include "base/vec.h"
#include "report/packed.h"
#include "report/timeline/writer.h"

#include <inttypes.h>
#include <stdlib.h>

/* An instruction under way. */
typedef struct kanata_inst {
    uint64_t key;    /* id of its events; with the place 0 empty: key + 1 */
    uint64_t number; /* in the file */
} kanata_inst;

typedef struct kanata {
    file_writer file;
    packed_writer packed;
    writer_file about;
    const ls_clock *clock;
    kanata_inst *open; /* a table with open addressing; size a power of two */
    size_t size, count;
    uint64_t inst_count, retired;
    ls_cycle cycle;
    bool has_begun, is_out_of_memory;
} kanata;

static const char *const stages[LS_TAP_STEPS] = {
#define STEP(id_, name_, daisen_, help_) name_,
#include "lockstep/timeline_steps.def"
#undef STEP
};

static ls_status kanata_open(void *self, const writer_file *file, ls_error *err)
{
    kanata *k = self;
    k->about = *file;
    ls_status status = file_writer_open(&k->file, file->path, err);
    if (status != LS_OK)
        return status;
    status = packed_writer_open(&k->packed, packed_suffix_of(file->path), k->file.stream, err);
    if (status != LS_OK) {
        file_writer_abort(&k->file);
        return status;
    }
    fputs("Kanata\t0004\n", k->packed.stream);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ the table */

static size_t place_of(const kanata *k, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (k->size - 1);
}

static kanata_inst *find(const kanata *k, uint64_t key)
{
    for (size_t i = k->size > 0 ? place_of(k, key) : 0; k->size > 0 && k->open[i].key != 0;
         i = (i + 1) & (k->size - 1))
        if (k->open[i].key == key + 1)
            return &k->open[i];
    return NULL;
}

static bool insert(kanata *k, uint64_t key, uint64_t number)
{
    if (2 * (k->count + 1) > k->size) {
        kanata larger = *k;
        larger.size = k->size > 0 ? 2 * k->size : 256;
        larger.count = 0;
        larger.open = calloc(larger.size, sizeof *larger.open);
        if (larger.open == NULL)
            return false;
        for (size_t i = 0; i < k->size; i++)
            if (k->open[i].key != 0)
                (void)insert(&larger, k->open[i].key - 1, k->open[i].number);
        free(k->open);
        k->open = larger.open;
        k->size = larger.size;
    }
    size_t i = place_of(k, key);
    while (k->open[i].key != 0)
        i = (i + 1) & (k->size - 1);
    k->open[i] = (kanata_inst){ .key = key + 1, .number = number };
    k->count++;
    return true;
}

/* Entries behind the removed one move up, so that no search stops early. */
static void erase(kanata *k, kanata_inst *entry)
{
    size_t mask = k->size - 1, hole = (size_t)(entry - k->open);
    k->count--;
    for (size_t i = (hole + 1) & mask; k->open[i].key != 0; i = (i + 1) & mask) {
        size_t home = place_of(k, k->open[i].key - 1);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            k->open[hole] = k->open[i];
            hole = i;
        }
    }
    k->open[hole].key = 0;
}

/* --------------------------------------------------------------------------------------------------- events */

static void go_to(kanata *k, const ls_tap_event *event)
{
    if (k->clock == NULL)
        k->clock = ls_region_clock(ls_block_region(ls_engine_block(k->about.engine, event->block)));
    ls_cycle cycle = ls_clock_cycle_at(k->clock, event->time);
    if (!k->has_begun)
        fprintf(k->packed.stream, "C=\t%" PRIu64 "\n", cycle);
    else if (cycle > k->cycle)
        fprintf(k->packed.stream, "C\t%" PRIu64 "\n", cycle - k->cycle);
    k->has_begun = true;
    k->cycle = cycle;
}

static void begin(kanata *k, const ls_tap_event *event, const char *name)
{
    FILE *to = k->packed.stream;
    uint64_t number = k->inst_count++;
    if (!insert(k, event->id, number)) {
        k->is_out_of_memory = true;
        return;
    }
    fprintf(to, "I\t%" PRIu64 "\t%" PRIu64 "\t%u\n", number, number, event->slot);
    fprintf(to, "L\t%" PRIu64 "\t0\t0x%" PRIx64 ": %s\n", number, event->value, name != NULL ? name : "?");
    fprintf(to, "L\t%" PRIu64 "\t1\twarp %u\n", number, event->slot);
}

static void retire(kanata *k, kanata_inst *entry, bool is_flushed)
{
    fprintf(k->packed.stream, "R\t%" PRIu64 "\t%" PRIu64 "\t%d\n", entry->number, k->retired, is_flushed);
    k->retired += !is_flushed;
    erase(k, entry);
}

static void kanata_instruction(void *self, const ls_tap_event *event, const char *name)
{
    kanata *k = self;
    kanata_inst *entry = find(k, event->id);
    if (event->phase != LS_TAP_BEGIN && entry == NULL)
        return;
    go_to(k, event);
    if (event->phase == LS_TAP_BEGIN && entry == NULL)
        begin(k, event, name);
    entry = find(k, event->id);
    if (entry == NULL)
        return;
    if (event->phase == LS_TAP_END)
        retire(k, entry, false);
    else
        fprintf(k->packed.stream, "S\t%" PRIu64 "\t0\t%s\n", entry->number,
                stages[event->what < LS_TAP_STEPS ? event->what : LS_STEP_EXECUTE]);
}

static int by_number(const void *left, const void *right)
{
    const kanata_inst *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

static ls_status kanata_close(void *self, ls_time end, ls_error *err)
{
    kanata *k = self;
    (void)end;
    size_t count = 0;
    for (size_t i = 0; i < k->size; i++) /* instructions that the file does not see end */
        if (k->open[i].key != 0)
            k->open[count++] = k->open[i];
    if (count > 0)
        qsort(k->open, count, sizeof *k->open, by_number);
    for (size_t i = 0; i < count; i++)
        fprintf(k->packed.stream, "R\t%" PRIu64 "\t%" PRIu64 "\t1\n", k->open[i].number, k->retired);
    free(k->open);
    packed_writer_close(&k->packed);
    if (k->is_out_of_memory) {
        file_writer_abort(&k->file);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of a timeline");
    }
    return file_writer_commit(&k->file, err);
}

static void kanata_abort(void *self)
{
    kanata *k = self;
    free(k->open);
    packed_writer_close(&k->packed);
    file_writer_abort(&k->file);
}

const timeline_writer writer_kanata = {
    .open = kanata_open,
    .instruction = kanata_instruction,
    .close = kanata_close,
    .abort = kanata_abort,
    .size = sizeof(kanata),
    .kinds = LS_TAP_BIT(LS_TAP_INSTRUCTION),
};
