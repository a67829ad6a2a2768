/* trace_record.c: see trace_record.h. */
#include "runtime/emulate/trace_record.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    unsigned code;
    const char *name;
} named[] = {
    { AMD_VCC_LO, "vcc_lo" },   { AMD_VCC_HI, "vcc_hi" },   { AMD_M0, "m0" },
    { AMD_EXEC_LO, "exec_lo" }, { AMD_EXEC_HI, "exec_hi" }, { AMD_SCC, "scc" },
};

static const char *const kinds[] = { "none", "load", "store", "atomic", "exchange" };
static const char *const spaces[] = { "global", "lds", "scratch", "scalar", "flat" };

const char *trace_register_name(unsigned code, char *out, size_t bytes)
{
    for (size_t i = 0; i < LS_COUNT_OF(named); i++)
        if (named[i].code == code)
            return named[i].name;
    snprintf(out, bytes, "%c%u", code >= AMD_VGPR ? 'v' : 's', code >= AMD_VGPR ? code - AMD_VGPR : code);
    return out;
}

bool trace_register_find(const char *name, unsigned *code)
{
    uint64_t number;
    for (size_t i = 0; i < LS_COUNT_OF(named); i++)
        if (strcmp(named[i].name, name) == 0) {
            *code = named[i].code;
            return true;
        }
    if ((*name != 's' && *name != 'v') || parse_u64(name + 1, strlen(name + 1), &number, NULL) != LS_OK ||
        number >= (*name == 's' ? 106u : 256u))
        return false;
    *code = (unsigned)number + (*name == 'v' ? AMD_VGPR : 0u);
    return true;
}

/* ------------------------------------------------------------------------------------------------- JSON */

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
}

void trace_print_launch(FILE *file, const trace_launch *launch)
{
    fprintf(file, "{\"launch\":%" PRIu64 ",\"kernel\":\"", launch->number);
    put_text(file, launch->kernel);
    fputs("\"}\n", file);
}

static void put_values(FILE *file, const trace_values *values, uint32_t lanes)
{
    const char *comma = "";
    char name[16];
    for (uint32_t i = 0; i < values->scalar_count; i++) {
        fprintf(file, "%s\"%s\":\"0x%" PRIx32 "\"", comma,
                trace_register_name(values->scalars[i].code, name, sizeof name), values->scalars[i].value);
        comma = ",";
    }
    if (values->has_scc) {
        fprintf(file, "%s\"scc\":%" PRIu32, comma, values->scc);
        comma = ",";
    }
    for (uint32_t i = 0; i < values->vector_count; i++) {
        fprintf(file, "%s\"v%u\":[", comma, values->vectors[i].number);
        for (uint32_t lane = 0; lane < lanes; lane++)
            fprintf(file, "%s\"0x%" PRIx32 "\"", lane == 0 ? "" : ",", values->vectors[i].lane[lane]);
        fputc(']', file);
        comma = ",";
    }
}

/* A number of up to 64 bytes, its first dword is the lowest. */
static void put_wide(FILE *file, const uint32_t *dwords, uint32_t count)
{
    while (count > 1 && dwords[count - 1] == 0)
        count--;
    fprintf(file, "\"0x%" PRIx32, dwords[count - 1]);
    while (--count > 0)
        fprintf(file, "%08" PRIx32, dwords[count - 1]);
    fputc('"', file);
}

static void put_lanes(FILE *file, const char *name, const trace_access *a, const uint32_t *data, size_t stride,
                      uint32_t pieces, uint32_t dwords)
{
    const char *comma = "";
    fprintf(file, ",\"%s\":[", name);
    for (unsigned lane = 0; lane < 64; lane++)
        for (uint32_t p = 0; (a->lanes >> lane & 1) && p < pieces; p++) {
            fputs(comma, file);
            put_wide(file, data + lane * stride + (size_t)p * dwords, dwords);
            comma = ",";
        }
    fputc(']', file);
}

static void put_access(FILE *file, const trace_access *a)
{
    const char *comma = "";
    fprintf(file,
            ",\"access\":{\"kind\":\"%s\",\"space\":\"%s\",\"bytes\":%u,\"pieces\":%u,\"lanes\":\"0x%" PRIx64
            "\"",
            kinds[a->kind], spaces[a->space], a->piece_bytes, a->pieces, a->lanes);
    if (a->in_lds)
        fprintf(file, ",\"in_lds\":\"0x%" PRIx64 "\"", a->in_lds);
    fputs(",\"address\":[", file);
    for (unsigned lane = 0; lane < 64; lane++)
        for (unsigned p = 0; (a->lanes >> lane & 1) && p < a->pieces; p++) {
            fprintf(file, "%s\"0x%" PRIx64 "\"", comma, a->address[p][lane]);
            comma = ",";
        }
    fputc(']', file);
    uint32_t dwords = trace_piece_dwords(a);
    put_lanes(file, "data", a, a->data[0], AMD_DATA_DWORDS, a->pieces, dwords);
    if (a->kind == AMD_ACCESS_ATOMIC)
        put_lanes(file, "old", a, a->old[0], 2, 1, dwords < 2 ? 1 : 2);
    fputc('}', file);
}

void trace_print_json(FILE *file, const trace_launch *launch, const trace_record *r)
{
    const trace_op *op = &launch->ops[r->op];
    fprintf(file, "{\"group\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "],\"wave\":%u,\"pc\":\"%s\",\"text\":\"",
            r->group[0], r->group[1], r->group[2], r->wave, op->pc);
    put_text(file, op->text);
    fprintf(file, "\",\"exec\":\"0x%" PRIx64 "\"", r->exec);
    if (r->has_reads) {
        fputs(",\"reads\":{", file);
        put_values(file, &r->reads, launch->lanes);
        fputc('}', file);
    }
    fputs(",\"writes\":{", file);
    put_values(file, &r->writes, launch->lanes);
    fputc('}', file);
    if (r->access.kind != AMD_ACCESS_NONE)
        put_access(file, &r->access);
    fputs("}\n", file);
}

/* ------------------------------------------------------------------------------------------------- text */

static unsigned first_lane(uint64_t lanes)
{
    return lanes ? (unsigned)__builtin_ctzll(lanes) : 0;
}

/* Registers with the value of the first active lane; a list of lanes that differ is shortened. */
static void put_short(FILE *file, const trace_values *values, uint64_t exec, uint32_t lanes)
{
    char name[16];
    unsigned first = first_lane(exec);
    for (uint32_t i = 0; i < values->scalar_count; i++)
        fprintf(file, "  %s=0x%" PRIx32, trace_register_name(values->scalars[i].code, name, sizeof name),
                values->scalars[i].value);
    if (values->has_scc)
        fprintf(file, "  scc=%" PRIu32, values->scc);
    for (uint32_t i = 0; i < values->vector_count; i++) {
        bool same = true;
        for (uint32_t lane = 0; lane < lanes; lane++)
            same = same &&
                   (!(exec >> lane & 1) || values->vectors[i].lane[lane] == values->vectors[i].lane[first]);
        fprintf(file, "  v%u=0x%" PRIx32 "%s", values->vectors[i].number, values->vectors[i].lane[first],
                same ? "" : "..");
    }
}

void trace_print_text(FILE *file, const trace_launch *launch, const trace_record *r, uint64_t number)
{
    const trace_op *op = &launch->ops[r->op];
    const trace_access *a = &r->access;
    fprintf(file, "#%-8" PRIu64 " %u,%u,%u.%-3u %-14s %-44s", number, r->group[0], r->group[1], r->group[2],
            r->wave, op->pc, op->text);
    put_short(file, &r->writes, r->exec, launch->lanes);
    if (a->kind != AMD_ACCESS_NONE && a->lanes) {
        unsigned lane = first_lane(a->lanes);
        fprintf(file, "  %s %s %u*%u B at 0x%" PRIx64 "%s", kinds[a->kind], spaces[a->space], a->pieces,
                a->piece_bytes, a->address[0][lane], a->lanes & (a->lanes - 1) ? ".." : "");
    }
    if (r->has_reads) {
        fputs("  reads", file);
        put_short(file, &r->reads, r->exec, launch->lanes);
    }
    fputc('\n', file);
}
