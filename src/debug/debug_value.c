/* debug_value.c: registers and memory as values: print, x and set. */
#include "debug/debug_impl.h"

#include "base/address_space.h"
#include "base/text.h"
#include "sim/emulate_args.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define LDS_PREFIX "lds:"
#define LANES_PER_LINE 8
#define VALUES_MAX 4096 /* of one x */

/* --------------------------------------------------------------------------------------------- reading */

amd_wave *debug_wave(debugger *d, ls_error *err)
{
    if (d->stop &&
        (d->where == DEBUG_STOPPED || d->where == DEBUG_AT_FAULT || d->is_moving || d->where == DEBUG_BETWEEN))
        return d->stop->waves[d->wave < d->stop->wave_count ? d->wave : d->stop->wave];
    ls_fail(err, LS_ERR_USAGE, "the program is not running: 'run' starts it");
    return NULL;
}

uint64_t debug_wave_pc(const debugger *d, uint32_t wave)
{
    if (d->where == DEBUG_AT_FAULT && wave == d->stop->wave)
        return d->stop->pc;
    cu_look look;
    return debug_look(d, wave, &look) ? look.pc : d->stop->waves[wave]->pc;
}

static uint64_t pair(const amd_wave *wave, unsigned code)
{
    return wave->sgpr[code] | (uint64_t)wave->sgpr[code + 1] << 32;
}

static uint64_t special(const debugger *d, const amd_wave *wave, debug_special which)
{
    switch (which) {
    case DEBUG_PC:
        return debug_wave_pc(d, wave->index);
    case DEBUG_EXEC:
        return amd_wave_exec(wave);
    case DEBUG_EXEC_LO:
        return wave->sgpr[AMD_EXEC_LO];
    case DEBUG_EXEC_HI:
        return wave->sgpr[AMD_EXEC_HI];
    case DEBUG_VCC:
        return wave->lanes == 32 ? wave->sgpr[AMD_VCC_LO] : pair(wave, AMD_VCC_LO);
    case DEBUG_VCC_LO:
        return wave->sgpr[AMD_VCC_LO];
    case DEBUG_VCC_HI:
        return wave->sgpr[AMD_VCC_HI];
    case DEBUG_SCC:
        return wave->scc;
    case DEBUG_M0:
        return wave->sgpr[AMD_M0];
    case DEBUG_MODE:
        return wave->mode;
    case DEBUG_WAVE:
        return wave->index;
    case DEBUG_LANES:
        return wave->lanes;
    case DEBUG_GROUP_X:
    case DEBUG_GROUP_Y:
    case DEBUG_GROUP_Z:
        return d->stop->work_group[which - DEBUG_GROUP_X];
    case DEBUG_LAUNCH:
        return d->launch->number;
    default:
        return debug_wave_count(d, wave->index);
    }
}

/* A dword of a register. */
static uint32_t dword(const amd_wave *wave, const debug_register *r, uint32_t i, uint32_t lane)
{
    return r->kind == DEBUG_SGPR ? wave->sgpr[r->first + i]
                                 : wave->vgpr[(size_t)(r->first + i) * wave->lanes + lane];
}

static ls_status check_register(const amd_wave *wave, const debug_register *r, ls_error *err)
{
    if (r->kind == DEBUG_VGPR && r->first + r->count > wave->vgpr_count)
        return ls_fail(err, LS_ERR_USAGE, "the kernel has no v%u: the last is v%u", r->first + r->count - 1,
                       wave->vgpr_count - 1u);
    if (r->has_lane && r->lane >= wave->lanes)
        return ls_fail(err, LS_ERR_USAGE, "there is no lane %u: a wave has %u", r->lane, wave->lanes);
    return LS_OK;
}

static ls_status read_register(void *self, const debug_register *r, uint64_t *out, ls_error *err)
{
    debugger *d = self;
    const amd_wave *wave = debug_wave(d, err);
    if (!wave)
        return LS_ERR_USAGE;
    ls_status status = check_register(wave, r, err);
    if (status != LS_OK)
        return status;
    if (r->kind == DEBUG_SPECIAL) {
        *out = special(d, wave, (debug_special)r->first);
        return LS_OK;
    }
    if (r->kind == DEBUG_VGPR && !r->has_lane)
        return ls_fail(err, LS_ERR_USAGE, "a vector register needs a lane here: $v%u[0]", r->first);
    if (r->count > 2)
        return ls_fail(err, LS_ERR_USAGE, "a value has at most 64 bits: two registers");
    *out = dword(wave, r, 0, r->lane);
    if (r->count == 2)
        *out |= (uint64_t)dword(wave, r, 1, r->lane) << 32;
    return LS_OK;
}

/* Arguments of the kernel, then variables of the program. */
static ls_status read_name(void *self, const char *name, size_t bytes, uint64_t *out, ls_error *err)
{
    debugger *d = self;
    const ls_gpu_kernel_info *info = debug_kernel(d);
    if (!info)
        return ls_fail(err, LS_ERR_USAGE,
                       "'%.*s' is no number, and no kernel runs that could have such an argument",
                       (int)(bytes < 40 ? bytes : 40), name);
    for (size_t i = 0; i < info->arg_count; i++)
        if (strlen(info->args[i].name) == bytes && memcmp(info->args[i].name, name, bytes) == 0) {
            *out = debug_arg_value(d, &info->args[i]);
            return LS_OK;
        }
    const ls_gpu_module *module = d->launch->dispatch->origin->module;
    for (size_t i = 0; i < module->object->variable_count; i++) {
        const hsa_variable *v = &module->object->variables[i];
        if (strlen(v->name) == bytes && memcmp(v->name, name, bytes) == 0) {
            *out = module->base + v->address;
            return LS_OK;
        }
    }
    return ls_fail(err, LS_ERR_USAGE, "'%.*s' is neither an argument of kernel %s nor a variable",
                   (int)(bytes < 40 ? bytes : 40), name, info->name);
}

ls_status debug_memory(debugger *d, debug_address from, void *out, uint64_t bytes, ls_error *err)
{
    if (from.in_lds) {
        const amd_wave *wave = debug_wave(d, err);
        if (!wave)
            return LS_ERR_USAGE;
        const amd_group *group = wave->group;
        if (from.at > group->lds_bytes || bytes > group->lds_bytes - from.at)
            return ls_fail(err, LS_ERR_USAGE, "the work-group has %u bytes of LDS", group->lds_bytes);
        memcpy(out, group->lds + from.at, bytes);
        return LS_OK;
    }
    if (!d->launch)
        return ls_fail(err, LS_ERR_USAGE, "the program is not running: 'run' starts it");
    if (d->launch->view)
        return d->launch->view->read(d->launch->view->self, from.at, out, bytes, err);
    return address_space_read(d->launch->address_space, from.at, out, bytes, err);
}

static ls_status load(void *self, uint64_t address, uint32_t bytes, uint64_t *out, ls_error *err)
{
    *out = 0;
    return debug_memory(self, (debug_address){ .at = address }, out, bytes, err);
}

debug_scope debug_scope_of(debugger *d)
{
    return (debug_scope){ .self = d, .read = read_register, .name = read_name, .load = load };
}

ls_status debug_address_parse(debugger *d, const char *text, debug_address *out, const char **end,
                              ls_error *err)
{
    debug_scope scope = debug_scope_of(d);
    out->in_lds = starts_with(text, LDS_PREFIX);
    return debug_eval(text + (out->in_lds ? strlen(LDS_PREFIX) : 0), &scope, &out->at, end, err);
}

/* --------------------------------------------------------------------------------------------- formats */

/* How values are shown: a type's name, or a letter of gdb's. */
typedef struct shown {
    char letter; /* 0: the type */
    char type[8];
    uint32_t bytes;
} shown;

static void put_binary(FILE *out, uint64_t value)
{
    unsigned bit = 63;
    while (bit > 0 && !(value >> bit & 1))
        bit--;
    for (;; bit--) {
        fputc('0' + (int)(value >> bit & 1), out);
        if (bit == 0)
            return;
    }
}

static void put_value(FILE *out, const shown *how, uint64_t bits)
{
    unsigned shift = 64 - 8 * how->bytes;
    char text[LS_FORMAT_BYTES];
    bits = how->bytes < 8 ? bits << shift >> shift : bits;
    switch (how->letter) {
    case 0:
        fputs(emulate_format(how->type, strlen(how->type), &bits, text, sizeof text), out);
        break;
    case 'd':
        fprintf(out, "%" PRId64, (int64_t)(bits << shift) >> shift);
        break;
    case 'u':
        fprintf(out, "%" PRIu64, bits);
        break;
    case 'o':
        fprintf(out, "0%" PRIo64, bits);
        break;
    case 't':
        put_binary(out, bits);
        break;
    case 'c':
        fprintf(out, "%" PRId64 " '%c'", (int64_t)(bits << shift) >> shift,
                bits < 128 && isprint((int)bits) ? (int)bits : '.');
        break;
    case 'f':
        fputs(emulate_format(how->bytes == 8 ? "f64" : "f32", 3, &bits, text, sizeof text), out);
        break;
    default:
        fprintf(out, "0x%0*" PRIx64, (int)(2 * how->bytes), bits);
        break;
    }
}

/* Takes ":f32" off the end of a text. */
static ls_status take_type(char *text, shown *how, ls_error *err)
{
    char *colon = strrchr(text, ':');
    size_t bytes = 0;
    if (!colon || (colon[1] != 'u' && colon[1] != 'i' && colon[1] != 'f') || strchr(colon, ']'))
        return LS_OK;
    ls_status status = emulate_type_bytes(colon + 1, strlen(colon + 1), &bytes, err);
    if (status != LS_OK)
        return status;
    snprintf(how->type, sizeof how->type, "%s", colon + 1);
    how->bytes = (uint32_t)bytes;
    *colon = '\0';
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- print */

static uint64_t lane_value(const amd_wave *wave, const debug_register *r, uint32_t lane, uint32_t from)
{
    uint64_t value = dword(wave, r, from, lane);
    return from + 1 < r->count ? value | (uint64_t)dword(wave, r, from + 1, lane) << 32 : value;
}

static void print_lanes(debugger *d, const amd_wave *wave, const debug_register *r, const shown *how)
{
    for (uint32_t lane = 0; lane < wave->lanes; lane++) {
        if (lane % LANES_PER_LINE == 0)
            fprintf(d->out, "%s  [%2u]", lane ? "\n" : "", lane);
        fputc(' ', d->out);
        put_value(d->out, how, lane_value(wave, r, lane, 0));
    }
    fputc('\n', d->out);
}

static void print_wide(debugger *d, const amd_wave *wave, const debug_register *r, const shown *how)
{
    uint32_t each = how->bytes == 8 ? 2 : 1;
    fputc('{', d->out);
    for (uint32_t i = 0; i < r->count; i += each) {
        fputs(i ? ", " : "", d->out);
        put_value(d->out, how, each == 2 ? lane_value(wave, r, r->lane, i) : dword(wave, r, i, r->lane));
    }
    fputs("}\n", d->out);
}

static ls_status print_register(debugger *d, const char *name, const debug_register *r, shown *how,
                                ls_error *err)
{
    const amd_wave *wave = debug_wave(d, err);
    uint64_t value;
    if (!wave)
        return LS_ERR_USAGE;
    ls_status status = check_register(wave, r, err);
    if (status != LS_OK)
        return status;
    if (r->kind == DEBUG_SPECIAL && !how->bytes)
        how->bytes = r->first == DEBUG_PC || r->first == DEBUG_COUNT ||
                             (wave->lanes == 64 && (r->first == DEBUG_EXEC || r->first == DEBUG_VCC))
                         ? 8
                         : 4;
    if (!how->bytes)
        how->bytes = r->count == 2 ? 8 : 4;
    fprintf(d->out, "%s =", name);
    if (r->kind == DEBUG_VGPR && !r->has_lane) {
        fputc('\n', d->out);
        print_lanes(d, wave, r, how);
        return LS_OK;
    }
    fputc(' ', d->out);
    if (r->count > 2 || (r->count == 2 && how->bytes < 8)) {
        print_wide(d, wave, r, how);
        return LS_OK;
    }
    status = read_register(d, r, &value, err);
    if (status == LS_OK && r->kind == DEBUG_SPECIAL && r->first == DEBUG_PC && how->letter == 'x') {
        char pc[320];
        fputs(debug_pc_text(d, value, pc, sizeof pc), d->out);
    } else if (status == LS_OK) {
        put_value(d->out, how, value);
    }
    fputc('\n', d->out);
    return status;
}

ls_status debug_print(debugger *d, const debug_line *line, ls_error *err)
{
    char text[400];
    shown how = { .letter = 0 };
    if (line->args_bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "print what? A register ($v3[0]:f32) or an expression");
    if (line->args_bytes >= sizeof text)
        return ls_fail(err, LS_ERR_USAGE, "the expression is too long");
    snprintf(text, sizeof text, "%.*s", (int)line->args_bytes, line->args);
    ls_status status = take_type(text, &how, err);
    if (status != LS_OK)
        return status;
    if (line->letter)
        how.letter = line->letter;
    else if (!how.bytes)
        how.letter = 'x';
    const char *at = text;
    if (text[0] == '$') {
        debug_register r;
        status = debug_register_parse(&at, &r, err);
        if (status != LS_OK)
            return status;
        if (*at == '\0')
            return print_register(d, text, &r, &how, err);
    }
    debug_scope scope = debug_scope_of(d);
    const char *end;
    uint64_t value = 0;
    bool loads = text[0] == '*' && how.bytes;
    status = debug_eval(text + loads, &scope, &value, &end, err);
    if (status == LS_OK && *end)
        status = ls_fail(err, LS_ERR_USAGE, "'%s' is too much", end);
    if (status == LS_OK && loads)
        status = load(d, value, how.bytes, &value, err);
    if (status != LS_OK)
        return status;
    if (!how.bytes) {
        how.bytes = value >> 32 ? 8 : 4;
        how.letter = line->letter ? line->letter : 'u';
    }
    fprintf(d->out, "%s = ", text);
    put_value(d->out, &how, value);
    if (!line->letter && !loads && how.letter == 'u')
        fprintf(d->out, " (0x%" PRIx64 ")", value);
    fputc('\n', d->out);
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------------- x */

static uint32_t unit_bytes(char unit)
{
    return unit == 'b' ? 1 : unit == 'h' ? 2 : unit == 'g' ? 8 : 4;
}

static ls_status examine_values(debugger *d, debug_address at, const shown *how, uint32_t count, ls_error *err)
{
    uint32_t per_line = how->bytes == 1 ? 8 : how->bytes == 2 ? 8 : how->bytes == 8 ? 2 : 4;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < count; i++, at.at += how->bytes) {
        uint64_t bits = 0;
        status = debug_memory(d, at, &bits, how->bytes, err);
        if (status != LS_OK)
            break;
        char where[320];
        if (i % per_line == 0)
            fprintf(d->out, "%s%s:", i ? "\n" : "", debug_address_text(d, at, where, sizeof where));
        fputc('\t', d->out);
        put_value(d->out, how, bits);
    }
    if (count > 0 && (status == LS_OK || at.at != d->next_address.at))
        fputc('\n', d->out);
    d->next_address = at;
    return status;
}

static ls_status examine_strings(debugger *d, debug_address at, uint32_t count, ls_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        char where[320], c = 1;
        fprintf(d->out, "%s:\t\"", debug_address_text(d, at, where, sizeof where));
        for (unsigned n = 0; n < 200 && c; n++, at.at++) {
            ls_status status = debug_memory(d, at, &c, 1, err);
            if (status != LS_OK) {
                fputs("\"\n", d->out);
                return status;
            }
            if (c)
                fputc(isprint((unsigned char)c) ? c : '.', d->out);
        }
        fputs("\"\n", d->out);
    }
    d->next_address = at;
    return LS_OK;
}

ls_status debug_examine(debugger *d, const debug_line *line, ls_error *err)
{
    debug_address at = d->next_address;
    char letter = line->letter ? line->letter : d->last_letter ? d->last_letter : 'x';
    char unit = line->unit ? line->unit : d->last_unit ? d->last_unit : 'w';
    uint32_t count = line->count ? line->count : 1;
    char text[400];
    ls_status status = LS_OK;
    if (line->args_bytes >= sizeof text)
        return ls_fail(err, LS_ERR_USAGE, "the address is too long");
    snprintf(text, sizeof text, "%.*s", (int)line->args_bytes, line->args);
    if (count > VALUES_MAX)
        return ls_fail(err, LS_ERR_USAGE, "at most %d values at once", VALUES_MAX);
    if (*text) {
        const char *end;
        status = debug_address_parse(d, text, &at, &end, err);
        if (status == LS_OK && *end)
            status = ls_fail(err, LS_ERR_USAGE, "'%s' is too much", end);
    }
    if (status == LS_OK && !debug_wave(d, err))
        return LS_ERR_USAGE;
    if (status != LS_OK)
        return status;
    d->last_letter = letter;
    d->last_unit = letter == 'i' || letter == 's' ? 'w' : unit;
    if (letter == 'i') {
        at.at = debug_instructions(d, at.at, count);
        d->next_address = at;
        return LS_OK;
    }
    if (letter == 's')
        return examine_strings(d, at, count, err);
    const shown how = { .letter = letter, .bytes = unit_bytes(unit) };
    return examine_values(d, at, &how, count, err);
}

/* --------------------------------------------------------------------------------------------------- set */

static ls_status write_special(amd_wave *wave, debug_special which, uint64_t value, ls_error *err)
{
    unsigned code = which == DEBUG_EXEC || which == DEBUG_EXEC_LO ? AMD_EXEC_LO
                    : which == DEBUG_EXEC_HI                      ? AMD_EXEC_HI
                    : which == DEBUG_VCC || which == DEBUG_VCC_LO ? AMD_VCC_LO
                    : which == DEBUG_VCC_HI                       ? AMD_VCC_HI
                                                                  : AMD_M0;
    if (which == DEBUG_SCC) {
        wave->scc = value != 0;
        return LS_OK;
    }
    if (which != DEBUG_M0 && code == AMD_M0)
        return ls_fail(err, LS_ERR_USAGE, "$%s cannot be changed", debug_special_name(which));
    wave->sgpr[code] = (uint32_t)value;
    if ((which == DEBUG_EXEC || which == DEBUG_VCC) && wave->lanes == 64)
        wave->sgpr[code + 1] = (uint32_t)(value >> 32);
    return LS_OK;
}

ls_status debug_set(debugger *d, const debug_line *line, ls_error *err)
{
    char text[400];
    const char *at = text, *end;
    debug_register r;
    uint64_t value = 0;
    if (line->args_bytes == 0 || line->args[0] != '$' || line->args_bytes >= sizeof text)
        return ls_fail(err, LS_ERR_USAGE, "set $REGISTER = EXPRESSION");
    snprintf(text, sizeof text, "%.*s", (int)line->args_bytes, line->args);
    ls_status status = debug_register_parse(&at, &r, err);
    while (status == LS_OK && *at == ' ')
        at++;
    if (status == LS_OK && *at != '=')
        return ls_fail(err, LS_ERR_USAGE, "set $REGISTER = EXPRESSION");
    debug_scope scope = debug_scope_of(d);
    if (status == LS_OK)
        status = debug_eval(at + 1, &scope, &value, &end, err);
    if (status == LS_OK && *end)
        status = ls_fail(err, LS_ERR_USAGE, "'%s' is too much", end);
    amd_wave *wave = status == LS_OK ? debug_wave(d, err) : NULL;
    if (!wave)
        return status == LS_OK ? LS_ERR_USAGE : status;
    status = check_register(wave, &r, err);
    if (status != LS_OK)
        return status;
    if (r.kind == DEBUG_SPECIAL)
        return write_special(wave, (debug_special)r.first, value, err);
    for (uint32_t i = 0; i < r.count && i < 2; i++)
        for (uint32_t lane = r.has_lane ? r.lane : 0;
             lane < (r.has_lane || r.kind == DEBUG_SGPR ? r.lane + 1 : wave->lanes); lane++) {
            uint32_t *to = r.kind == DEBUG_SGPR ? &wave->sgpr[r.first + i]
                                                : &wave->vgpr[(size_t)(r.first + i) * wave->lanes + lane];
            *to = (uint32_t)(value >> (32 * i));
        }
    return LS_OK;
}
