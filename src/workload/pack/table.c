/* table.c: static instructions as three columns of a packed section: the program counters (as differences), the
 * bodies and the tails of their lines. Touches memory only; the meaning of a line is the ISA's. */
#include "workload/pack/table.h"

#include "workload/inst_text.h"

#include <stdlib.h>

/* How the start of a line is said: numbers where these give the same text again. */
enum { PLACE_PC, PLACE_LINE_PC, PLACE_TEXT };
#define PLACE_BYTES 48 /* the longest text that numbers give */

/* Written by hand: it runs for each instruction of each table that is loaded. */
static const char *place_text(char out[PLACE_BYTES], unsigned kind, uint64_t line, uint64_t pc)
{
    char *p = out + PLACE_BYTES, *least;
    *--p = '\0';
    least = p - 4;
    do {
        *--p = "0123456789abcdef"[pc & 15];
        pc >>= 4;
    } while (pc != 0 || p > least);
    if (kind == PLACE_LINE_PC) {
        *--p = ' ';
        do {
            *--p = (char)('0' + line % 10);
            line /= 10;
        } while (line != 0);
    }
    return p;
}

bool ls_pack_has_addresses(const char *body)
{
    const char *width = strrchr(body, ' ');
    width = width ? width + 1 : body;
    return strcmp(width, "0") != 0;
}

/* ------------------------------------------------------------------------------------------------- writing */

void ls_pack_table_writer_clear(ls_pack_table_writer *w)
{
    w->places.count = w->bodies.count = w->tails.count = 0;
    w->count = w->last_pc = w->last_line = 0;
}

void ls_pack_table_writer_fini(ls_pack_table_writer *w)
{
    free(w->places.at);
    free(w->bodies.at);
    free(w->tails.at);
    *w = (ls_pack_table_writer){ 0 };
}

/* Numbers if they say the text exactly, else the text. */
static bool add_place(ls_pack_table_writer *w, const char *text)
{
    char *rest, again[PLACE_BYTES];
    unsigned kind = strchr(text, ' ') ? PLACE_LINE_PC : PLACE_PC;
    uint64_t line = kind == PLACE_LINE_PC ? strtoull(text, &rest, 10) : 0;
    uint64_t pc = strtoull(kind == PLACE_LINE_PC ? rest : text, NULL, 16);
    if (strcmp(place_text(again, kind, line, pc), text) != 0)
        return ls_pack_add_varint(&w->places, PLACE_TEXT) && ls_pack_add_text(&w->places, text, strlen(text));
    bool done = ls_pack_add_varint(&w->places, kind) &&
                ls_pack_add_varint(&w->places, ls_zigzag((int64_t)(pc - w->last_pc)));
    if (kind == PLACE_LINE_PC) {
        done = done && ls_pack_add_varint(&w->places, ls_zigzag((int64_t)(line - w->last_line)));
        w->last_line = line;
    }
    w->last_pc = pc;
    return done;
}

bool ls_pack_table_add(ls_pack_table_writer *w, const ls_inst_text *text, bool *has_addresses)
{
    *has_addresses = ls_pack_has_addresses(text->body);
    w->count++;
    return add_place(w, text->pc) && ls_pack_add_bytes(&w->bodies, text->body, strlen(text->body) + 1) &&
           ls_pack_add_bytes(&w->tails, text->tail, strlen(text->tail) + 1);
}

bool ls_pack_table_payload(const ls_pack_table_writer *w, ls_pack_bytes *out)
{
    out->count = 0;
    return ls_pack_add_varint(out, w->count) && ls_pack_add_varint(out, w->places.count) &&
           ls_pack_add_bytes(out, w->places.at, w->places.count) &&
           ls_pack_add_varint(out, w->bodies.count) && ls_pack_add_bytes(out, w->bodies.at, w->bodies.count) &&
           ls_pack_add_varint(out, w->tails.count) && ls_pack_add_bytes(out, w->tails.at, w->tails.count);
}

/* ------------------------------------------------------------------------------------------------- reading */

/* The next terminated text of a column, or NULL. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at, *stop = memchr(text, '\0', (size_t)(end - text));
    if (!stop)
        return NULL;
    *at = stop + 1;
    return text;
}

static const char *next_place(ls_arena *arena, ls_pack_record *r, uint64_t *pc, uint64_t *line)
{
    char text[PLACE_BYTES];
    unsigned kind = (unsigned)ls_pack_take_number(r, PLACE_TEXT);
    if (kind == PLACE_TEXT) {
        size_t bytes;
        const char *from = ls_pack_take_text(r, &bytes);
        r->failed |= memchr(from, '\0', bytes) != NULL;
        return ls_arena_strndup(arena, from, bytes);
    }
    *pc += (uint64_t)ls_unzigzag(ls_pack_take_varint(r));
    if (kind == PLACE_LINE_PC)
        *line += (uint64_t)ls_unzigzag(ls_pack_take_varint(r));
    return ls_arena_strdup(arena, place_text(text, kind, *line, *pc));
}

/* False without memory; *problem is NULL or what is wrong. */
static bool read_texts(ls_pack_table *table, const uint8_t *payload, size_t bytes, const char **problem)
{
    ls_pack_record r = { payload, payload + bytes, false };
    size_t place_bytes, body_bytes, tail_bytes;
    uint64_t count = ls_pack_take_number(&r, bytes);
    const char *places = ls_pack_take_text(&r, &place_bytes), *bodies = ls_pack_take_text(&r, &body_bytes);
    const char *tails = ls_pack_take_text(&r, &tail_bytes);
    *problem = "is damaged: its columns do not fit together";
    if (r.failed || r.at != r.end || count > place_bytes || count > body_bytes || count > tail_bytes)
        return true;
    table->texts = ls_arena_array(&table->arena, count + 1, sizeof *table->texts);
    table->insts = ls_arena_alloc_aligned(&table->arena, (count + 1) * sizeof *table->insts, 64);
    table->plain = ls_arena_array(&table->arena, count + 1, sizeof *table->plain);
    char *body = ls_arena_alloc(&table->arena, body_bytes + 1), *tail = ls_arena_alloc(&table->arena, tail_bytes + 1);
    if (!table->texts || !table->insts || !table->plain || !body || !tail)
        return false;
    memcpy(body, bodies, body_bytes);
    memcpy(tail, tails, tail_bytes);
    const char *body_at = body, *tail_at = tail;
    uint64_t pc = 0, line = 0;
    ls_pack_record place = { (const uint8_t *)places, (const uint8_t *)places + place_bytes, false };
    for (uint64_t i = 0; i < count; i++) {
        ls_inst_text *text = &table->texts[i];
        text->pc = next_place(&table->arena, &place, &pc, &line);
        if (!text->pc)
            return false;
        text->body = next_text(&body_at, body + body_bytes);
        text->tail = next_text(&tail_at, tail + tail_bytes);
        if (place.failed || !text->body || !text->tail)
            return true;
    }
    if (place.at != place.end || body_at != body + body_bytes || tail_at != tail + tail_bytes)
        return true;
    table->count = (uint32_t)count;
    for (uint32_t i = table->count; i-- > 0;)
        table->plain[i] = ls_pack_has_addresses(table->texts[i].body) ? 0
                          : i + 1 < table->count                      ? table->plain[i + 1] + 1
                                                                      : 1;
    *problem = NULL;
    return true;
}

void ls_pack_table_destroy(ls_pack_table *table)
{
    if (!table)
        return;
    ls_arena_fini(&table->arena);
    free(table);
}

ls_status ls_pack_table_create(const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                               const ls_trace_options *options, ls_pack_table **out, ls_error *err)
{
    *out = NULL;
    ls_pack_table *table = calloc(1, sizeof *table);
    const char *problem = NULL;
    ls_status status = LS_OK;
    if (!table || !read_texts(table, payload, bytes, &problem))
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    else if (problem)
        status = ls_fail(err, LS_ERR_INPUT, "the table of instructions %s", problem);
    for (uint32_t i = 0; status == LS_OK && i < table->count; i++)
        status = ls_inst_text_decode(&table->texts[i], info, options->unknown_opcodes_as_alu, &table->insts[i], err);
    if (status != LS_OK) {
        ls_pack_table_destroy(table);
        return status;
    }
    *out = table;
    return LS_OK;
}
