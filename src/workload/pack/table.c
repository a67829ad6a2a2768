/* table.c: static instructions as columns of a packed section. A number replaces a text wherever it reproduces
 * the same text, so that loading a table parses nothing. Any other text is kept as it is. Touches memory only;
 * the ISA folder defines instructions. */
#include "workload/pack/table.h"

#include "workload/inst_text.h"
#include "workload/rules.h"

#include <inttypes.h>
#include <stdlib.h>

/* How the start of a line is encoded. */
enum { PLACE_PC, PLACE_LINE_PC, PLACE_TEXT };
/* How the end of a line is encoded. */
enum { TAIL_NONE, TAIL_IMM, TAIL_NO_VALUES, TAIL_VALUES, TAIL_TEXT };
static const char *const tail_words[] = { [TAIL_NO_VALUES] = "NoVal", [TAIL_VALUES] = "Val" };

#define SRC_SHIFT 4 /* of the byte with the numbers of registers */

static void put_place(text_buffer *out, unsigned kind, uint64_t line, uint64_t pc)
{
    if (kind == PLACE_LINE_PC)
        text_printf(out, "%" PRIu64 " ", line);
    text_printf(out, "%04" PRIx64, pc);
}

static void put_tail(text_buffer *out, unsigned kind, int64_t first, int64_t second)
{
    if (kind >= TAIL_IMM)
        text_printf(out, "%" PRId64, first);
    if (kind >= TAIL_NO_VALUES)
        text_printf(out, " %" PRId64 " %s", second, tail_words[kind]);
}

/* ------------------------------------------------------------------------------------------------ writing */

void pack_table_writer_clear(pack_table_writer *w)
{
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++)
        w->columns[i].count = 0;
    map_fini(&w->opcodes);
    w->count = w->last_pc = w->last_line = 0;
}

void pack_table_writer_fini(pack_table_writer *w)
{
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++)
        free(w->columns[i].at);
    map_fini(&w->opcodes);
    text_fini(&w->text);
    *w = (pack_table_writer){ 0 };
}

static bool same_text(pack_table_writer *w, const char *text)
{
    return !w->text.failed && strcmp(text_get(&w->text), text) == 0;
}

static bool add_place(pack_table_writer *w, const char *text)
{
    pack_bytes *b = &w->columns[LS_PACK_PLACES];
    unsigned kind = strchr(text, ' ') ? PLACE_LINE_PC : PLACE_PC;
    uint64_t pc = 0, line = kind == PLACE_LINE_PC ? strtoull(text, NULL, 10) : 0;
    text_clear(&w->text);
    if (inst_text_pc(text, &pc))
        put_place(&w->text, kind, line, pc);
    if (!same_text(w, text))
        return pack_add_varint(b, PLACE_TEXT) && pack_add_text(b, text, strlen(text));
    bool done = pack_add_varint(b, kind) && pack_add_varint(b, zigzag((int64_t)(pc - w->last_pc)));
    if (kind == PLACE_LINE_PC) {
        done = done && pack_add_varint(b, zigzag((int64_t)(line - w->last_line)));
        w->last_line = line;
    }
    w->last_pc = pc;
    return done;
}

/* The number of an opcode, counted from 1; new ones are added. 0 without memory. */
static uint64_t opcode_number(pack_table_writer *w, const char *opcode, size_t bytes)
{
    uint64_t number = (uint64_t)(uintptr_t)map_getn(&w->opcodes, opcode, bytes);
    if (number > 0)
        return number;
    number = w->opcodes.count + 1;
    return map_putn(&w->opcodes, opcode, bytes, (void *)(uintptr_t)number) &&
                   pack_add_text(&w->columns[LS_PACK_OPCODES], opcode, bytes)
               ? number
               : 0;
}

/* Opcode 0 says that the text itself follows. */
static bool add_body(pack_table_writer *w, const char *text, const char *tail, bool *has_addresses)
{
    pack_bytes *b = &w->columns[LS_PACK_BODIES], *registers = &w->columns[LS_PACK_REGISTERS];
    const char *width = strrchr(text, ' ');
    inst_fields f;
    *has_addresses = strcmp(width ? width + 1 : text, "0") != 0;
    text_clear(&w->text);
    bool read = inst_fields_read(text, &f);
    if (read) {
        *has_addresses = inst_fields_have_words(&f, tail, LS_PACK_VERSION);
        inst_fields_write(&f, &w->text);
    }
    if (!read || f.has_commit || !same_text(w, text)) /* the columns have no place for the flag of a group */
        return pack_add_varint(b, 0) && pack_add_text(b, text, strlen(text));
    uint64_t number = opcode_number(w, f.opcode, f.opcode_bytes);
    bool done = number > 0 && pack_add_varint(b, number) &&
                pack_add_varint(b, f.dst_count | f.src_count << SRC_SHIFT) && pack_add_varint(b, f.width);
    for (uint32_t i = 0; i < f.dst_count; i++)
        done = done && pack_add_varint(registers, f.dsts[i]);
    for (uint32_t i = 0; i < f.src_count; i++)
        done = done && pack_add_varint(registers, f.srcs[i]);
    return done;
}

static bool add_tail(pack_table_writer *w, const char *text)
{
    pack_bytes *b = &w->columns[LS_PACK_TAILS];
    const char *second = strchr(text, ' ');
    int64_t numbers[2] = { 0, 0 };
    unsigned kind = !*text                     ? TAIL_NONE
                    : !second                  ? TAIL_IMM
                    : ends_with(text, "NoVal") ? TAIL_NO_VALUES
                                               : TAIL_VALUES;
    text_clear(&w->text);
    if (inst_text_imm(text, &numbers[0]) && (!second || inst_text_imm(second + 1, &numbers[1])))
        put_tail(&w->text, kind, numbers[0], numbers[1]);
    if (!same_text(w, text))
        return pack_add_varint(b, TAIL_TEXT) && pack_add_text(b, text, strlen(text));
    bool done = pack_add_varint(b, kind);
    for (unsigned i = 0; i < kind && i < 2; i++)
        done = done && pack_add_varint(b, zigzag(numbers[i]));
    return done;
}

bool pack_table_add(pack_table_writer *w, const inst_words *text, bool *has_addresses)
{
    w->count++;
    return add_place(w, text->pc) && add_body(w, text->body, text->tail, has_addresses) &&
           add_tail(w, text->tail) && !w->text.failed;
}

bool pack_table_payload(const pack_table_writer *w, pack_bytes *out)
{
    out->count = 0;
    bool done = pack_add_varint(out, w->count) && pack_add_varint(out, w->opcodes.count);
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++)
        done = done && pack_add_text(out, (const char *)w->columns[i].at, w->columns[i].count);
    return done;
}

/* ------------------------------------------------------------------------------------------------ reading */

#define LIKE 2u

typedef struct table_reader {
    pack_record columns[LS_PACK_COLUMN_COUNT];
    uint64_t count, opcode_count, pc, line;
    struct {
        const char *at;
        size_t bytes;
        /* Instructions with this opcode that were decoded last, by number + 1, and their widths: a predicated
         * or shortened form alternates with the plain one. */
        uint32_t like[LIKE], width[LIKE], next;
    } *opcodes;
} table_reader;

/* One instruction: fields and numbers, or texts where these are kept (at NULL: not). */
typedef struct table_entry {
    inst_fields fields;
    struct entry_text {
        const char *at;
        size_t bytes;
    } pc_text, body_text, tail_text;
    unsigned place, tail;
    uint32_t opcode; /* number, from 0; if there is no text of the body */
    uint64_t pc, line;
    int64_t imm[2];
} table_entry;

/* False if the payload is wrong, or without memory (*memory). */
static bool open_table(table_reader *r, mem_arena *arena, const uint8_t *payload, size_t bytes, bool *memory)
{
    pack_record all = { payload, payload + bytes, false };
    *r = (table_reader){ .count = pack_take_number(&all, bytes),
                         .opcode_count = pack_take_number(&all, bytes) };
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++) {
        size_t column;
        const uint8_t *at = (const uint8_t *)pack_take_text(&all, &column);
        r->columns[i] = (pack_record){ at, at + column, false };
    }
    pack_record *opcodes = &r->columns[LS_PACK_OPCODES];
    if (all.failed || all.at != all.end || r->opcode_count > (uint64_t)(opcodes->end - opcodes->at))
        return false;
    r->opcodes = arena_array(arena, r->opcode_count + 1, sizeof *r->opcodes);
    *memory = r->opcodes != NULL;
    for (uint64_t i = 0; i < r->opcode_count && *memory; i++) {
        r->opcodes[i].at = pack_take_text(opcodes, &r->opcodes[i].bytes);
        if (r->opcodes[i].bytes == 0 || memchr(r->opcodes[i].at, '\0', r->opcodes[i].bytes))
            return false;
    }
    return *memory && !opcodes->failed;
}

static struct entry_text take_text(pack_record *r)
{
    struct entry_text text;
    text.at = pack_take_text(r, &text.bytes);
    r->failed = r->failed || memchr(text.at, '\0', text.bytes) != NULL;
    return text;
}

static void read_body(table_reader *r, table_entry *e)
{
    pack_record *b = &r->columns[LS_PACK_BODIES], *registers = &r->columns[LS_PACK_REGISTERS];
    uint64_t number = pack_take_number(b, r->opcode_count);
    if (number == 0) {
        e->body_text = take_text(b);
        return;
    }
    uint64_t counts = pack_take_number(b, LS_INST_SRC_MAX << SRC_SHIFT | LS_INST_DST_MAX);
    e->opcode = (uint32_t)number - 1;
    e->fields = (inst_fields){
        .opcode = r->opcodes[number - 1].at,
        .opcode_bytes = r->opcodes[number - 1].bytes,
        .dst_count = (uint32_t)counts & ((1u << SRC_SHIFT) - 1),
        .src_count = (uint32_t)counts >> SRC_SHIFT,
        .width = (uint32_t)pack_take_number(b, UINT32_MAX),
    };
    if (e->fields.dst_count > LS_INST_DST_MAX || e->fields.src_count > LS_INST_SRC_MAX) {
        b->failed = true;
        e->fields.dst_count = e->fields.src_count = 0;
    }
    for (uint32_t i = 0; i < e->fields.dst_count; i++)
        e->fields.dsts[i] = (uint16_t)pack_take_number(registers, LS_REG_COUNT - 1);
    for (uint32_t i = 0; i < e->fields.src_count; i++)
        e->fields.srcs[i] = (uint16_t)pack_take_number(registers, LS_REG_COUNT - 1);
}

/* The next instruction; false if the payload is wrong. */
static bool read_entry(table_reader *r, table_entry *e)
{
    pack_record *places = &r->columns[LS_PACK_PLACES], *tails = &r->columns[LS_PACK_TAILS];
    e->pc_text.at = e->body_text.at = e->tail_text.at = NULL;
    e->place = (unsigned)pack_take_number(places, PLACE_TEXT);
    if (e->place == PLACE_TEXT)
        e->pc_text = take_text(places);
    else
        r->pc += (uint64_t)unzigzag(pack_take_varint(places));
    if (e->place == PLACE_LINE_PC)
        r->line += (uint64_t)unzigzag(pack_take_varint(places));
    e->pc = r->pc;
    e->line = r->line;
    read_body(r, e);
    e->tail = (unsigned)pack_take_number(tails, TAIL_TEXT);
    e->imm[0] = e->imm[1] = 0;
    if (e->tail == TAIL_TEXT)
        e->tail_text = take_text(tails);
    else
        for (unsigned i = 0; i < e->tail && i < 2; i++)
            e->imm[i] = unzigzag(pack_take_varint(tails));
    bool failed = false;
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++)
        failed = failed || r->columns[i].failed;
    return !failed;
}

static bool at_end(const table_reader *r)
{
    for (int i = 0; i < LS_PACK_COLUMN_COUNT; i++)
        if (r->columns[i].at != r->columns[i].end)
            return false;
    return true;
}

/* The texts of an entry, both kept and generated ones; false without memory. */
static bool write_texts(mem_arena *arena, text_buffer *scratch, const table_entry *e, inst_words *out)
{
    text_clear(scratch);
    if (!e->pc_text.at)
        put_place(scratch, e->place, e->line, e->pc);
    out->pc = e->pc_text.at ? arena_strndup(arena, e->pc_text.at, e->pc_text.bytes)
                            : arena_strdup(arena, text_get(scratch));
    text_clear(scratch);
    if (!e->body_text.at)
        inst_fields_write(&e->fields, scratch);
    out->body = e->body_text.at ? arena_strndup(arena, e->body_text.at, e->body_text.bytes)
                                : arena_strdup(arena, text_get(scratch));
    text_clear(scratch);
    if (!e->tail_text.at)
        put_tail(scratch, e->tail, e->imm[0], e->imm[1]);
    out->tail = e->tail_text.at ? arena_strndup(arena, e->tail_text.at, e->tail_text.bytes)
                                : arena_strdup(arena, text_get(scratch));
    return !scratch->failed && out->pc && out->body && out->tail;
}

const inst_words *pack_table_texts(pack_table *table)
{
    table_reader r;
    bool memory = true;
    if (table->texts)
        return table->texts;
    inst_words *texts = arena_array(&table->arena, table->count + 1, sizeof *texts);
    if (!texts || !open_table(&r, &table->arena, table->payload, table->payload_bytes, &memory))
        return NULL;
    text_buffer scratch = { 0 };
    for (uint32_t i = 0; i < table->count && memory; i++) {
        table_entry e;
        memory = read_entry(&r, &e) && write_texts(&table->arena, &scratch, &e, &texts[i]);
    }
    text_fini(&scratch);
    table->texts = memory ? texts : NULL;
    return table->texts;
}

/* ----------------------------------------------------------------------------------------------- decoding */

/* Texts that are kept are parsed as a reader of text would. */
static ls_status decode_text(table_entry *e, mem_arena *arena, const ls_kernel_info *info, bool unknown_as_alu,
                             uint32_t version, ls_inst *out, bool *words, ls_error *err)
{
    inst_fields f;
    inst_words text;
    text_buffer scratch = { 0 };
    bool memory = write_texts(arena, &scratch, e, &text);
    text_fini(&scratch);
    if (!memory)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    const char *last = strrchr(text.body, ' ');
    *words = inst_fields_read(text.body, &f) ? inst_fields_have_words(&f, text.tail, version)
                                             : strcmp(last ? last + 1 : text.body, "0") != 0;
    return inst_text_decode(&text, info, unknown_as_alu, out, err);
}

/* Most instructions differ from an earlier one with their opcode by their registers only. */
static ls_status decode_fields(pack_table *table, table_reader *r, const table_entry *e, uint32_t i,
                               const ls_kernel_info *info, bool unknown_as_alu, ls_error *err)
{
    for (uint32_t k = 0; k < LIKE; k++) {
        uint32_t like = r->opcodes[e->opcode].like[k];
        if (like != 0 && r->opcodes[e->opcode].width[k] == e->fields.width &&
            inst_fields_decode_like(&e->fields, e->pc, e->imm[0], &table->insts[like - 1], &table->insts[i]))
            return LS_OK;
    }
    uint32_t place = r->opcodes[e->opcode].next++ % LIKE;
    r->opcodes[e->opcode].like[place] = i + 1;
    r->opcodes[e->opcode].width[place] = e->fields.width;
    const inst_imms imms = { e->imm[0], e->imm[1], e->tail >= TAIL_NO_VALUES };
    return inst_fields_decode(&e->fields, e->pc, &imms, info, unknown_as_alu, &table->insts[i], err);
}

static ls_status decode(pack_table *table, table_reader *r, const ls_kernel_info *info, bool unknown_as_alu,
                        uint32_t version, ls_error *err)
{
    for (uint32_t i = 0; i < r->count; i++) {
        table_entry e;
        ls_status status;
        if (!read_entry(r, &e))
            return ls_fail(err, LS_ERR_INPUT, "the table of instructions is damaged at number %" PRIu32, i);
        bool words = false;
        if (e.pc_text.at || e.body_text.at || e.tail_text.at)
            status =
                decode_text(&e, &table->arena, info, unknown_as_alu, version, &table->insts[i], &words, err);
        else {
            words = inst_fields_have_words(&e.fields, e.tail == TAIL_VALUES ? " Val" : "", version);
            status = decode_fields(table, r, &e, i, info, unknown_as_alu, err);
        }
        if (status != LS_OK)
            return status;
        if (!words && rules_needs_addresses(&table->insts[i]))
            return ls_fail(err, LS_ERR_INPUT, "%s at pc 0x%" PRIx64 " has no addresses",
                           sass_opcode_name(table->insts[i].opcode), table->insts[i].pc);
        table->plain[i] = !words;
    }
    if (!at_end(r))
        return ls_fail(err, LS_ERR_INPUT, "the table of instructions goes on after its last one");
    table->count = (uint32_t)r->count;
    for (uint32_t i = table->count; i-- > 0;)
        table->plain[i] = table->plain[i] ? table->plain[i + 1] + 1 : 0;
    return LS_OK;
}

void pack_table_destroy(pack_table *table)
{
    if (!table)
        return;
    arena_fini(&table->arena);
    free(table);
}

static ls_status fill(pack_table *table, const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                      const trace_options *options, uint32_t version, ls_error *err)
{
    table_reader r;
    bool memory = true;
    table->payload = arena_alloc(&table->arena, bytes + 1);
    if (!table->payload)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    memcpy(table->payload, payload, bytes);
    table->payload_bytes = bytes;
    if (!open_table(&r, &table->arena, table->payload, bytes, &memory))
        return memory ? ls_fail(err, LS_ERR_INPUT, "the table of instructions is damaged")
                      : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    table->insts = arena_alloc_aligned(&table->arena, (r.count + 1) * sizeof *table->insts, 64);
    table->plain = arena_array(&table->arena, r.count + 1, sizeof *table->plain); /* the last is 0 */
    if (!table->insts || !table->plain)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return decode(table, &r, info, options->unknown_opcodes_as_alu, version, err);
}

ls_status pack_table_create(const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                            const trace_options *options, uint32_t version, pack_table **out, ls_error *err)
{
    *out = NULL;
    pack_table *table = calloc(1, sizeof *table);
    if (!table)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = fill(table, payload, bytes, info, options, version, err);
    if (status != LS_OK) {
        pack_table_destroy(table);
        return status;
    }
    *out = table;
    return LS_OK;
}
