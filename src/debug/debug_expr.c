/* debug_expr.c: see debug_expr.h. A parser by precedence that computes while it reads. */
#include "debug/debug_expr.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64 /* of parentheses and unary operators */

static const char *const special_names[] = {
#define X(id, name) name,
    DEBUG_SPECIALS(X)
#undef X
};

const char *debug_special_name(debug_special special)
{
    return special_names[special];
}

/* --------------------------------------------------------------------------------------------- registers */

static const char *const bad_register =
    "registers are $s4, $s[4:5], $v3[LANE], $v[2:3][LANE], $exec, $vcc, $pc ...";

static ls_status no_register(const char *text, ls_error *err)
{
    char quoted[40], name[40];
    size_t n = 1;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    ls_fail(err, LS_ERR_USAGE, "'%s' is no register: %s", quote_text(text, n, quoted, sizeof quoted),
            bad_register);
    snprintf(name, sizeof name, "%.*s", (int)(n < 40 ? n - 1 : 38), text + 1);
    const char *nearest = nearest_of(name, special_names, LS_COUNT_OF(special_names));
    return nearest ? ls_error_nearest(err, nearest) : LS_ERR_USAGE;
}

/* Decimal digits, at most 5. */
static bool small_number(const char **at, uint32_t *out)
{
    const char *p = *at;
    uint32_t value = 0;
    while (isdigit((unsigned char)*p) && p - *at < 5)
        value = value * 10 + (uint32_t)(*p++ - '0');
    if (p == *at || isdigit((unsigned char)*p))
        return false;
    *at = p;
    *out = value;
    return true;
}

/* "4" or "[4:5]" */
static bool register_range(const char **at, debug_register *out)
{
    uint32_t last;
    out->count = 1;
    if (**at != '[')
        return small_number(at, &out->first);
    ++*at;
    if (!small_number(at, &out->first))
        return false;
    last = out->first;
    if (**at == ':') {
        ++*at;
        if (!small_number(at, &last))
            return false;
    }
    if (**at != ']' || last < out->first || last - out->first > 15)
        return false;
    ++*at;
    out->count = last - out->first + 1;
    return true;
}

ls_status debug_register_parse(const char **at, debug_register *out, ls_error *err)
{
    const char *begin = *at, *p = begin + 1;
    *out = (debug_register){ .count = 1 };
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    for (uint32_t i = 0; i < LS_COUNT_OF(special_names); i++)
        if (strlen(special_names[i]) == n && memcmp(special_names[i], p, n) == 0) {
            out->kind = DEBUG_SPECIAL;
            out->first = i;
            *at = p + n;
            return LS_OK;
        }
    if (*p != 's' && *p != 'v')
        return no_register(begin, err);
    out->kind = *p == 's' ? DEBUG_SGPR : DEBUG_VGPR;
    p++;
    if (!register_range(&p, out))
        return no_register(begin, err);
    if (out->first + out->count > (out->kind == DEBUG_SGPR ? 106u : 256u))
        return ls_fail(err, LS_ERR_USAGE, "there is no register %c%u: the last is %s",
                       out->kind == DEBUG_SGPR ? 's' : 'v', out->first + out->count - 1,
                       out->kind == DEBUG_SGPR ? "s105" : "v255");
    if (out->kind == DEBUG_VGPR && *p == '[') {
        p++;
        if (!small_number(&p, &out->lane) || *p != ']')
            return no_register(begin, err);
        p++;
        if (out->lane > 63)
            return ls_fail(err, LS_ERR_USAGE, "there is no lane %u: the last is 63", out->lane);
        out->has_lane = true;
    }
    *at = p;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- expressions */

typedef struct parser {
    const char *at;
    const debug_scope *scope;
    ls_error *err;
    unsigned depth;
} parser;

static ls_status parse_binary(parser *p, unsigned least, uint64_t *out);

static void skip_spaces(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static ls_status expected(parser *p, const char *what)
{
    char quoted[40];
    if (*p->at == '\0')
        return ls_fail(p->err, LS_ERR_USAGE, "%s is missing at the end", what);
    return ls_fail(p->err, LS_ERR_USAGE, "%s is expected at '%s'", what,
                   quote_text(p->at, strlen(p->at), quoted, sizeof quoted));
}

static ls_status parse_primary(parser *p, uint64_t *out)
{
    const char *begin = p->at;
    ls_status status;
    if (*begin == '(') {
        p->at++;
        status = parse_binary(p, 0, out);
        skip_spaces(p);
        if (status == LS_OK && *p->at != ')')
            return expected(p, "')'");
        p->at += status == LS_OK;
        return status;
    }
    if (*begin == '$') {
        debug_register from;
        status = debug_register_parse(&p->at, &from, p->err);
        return status == LS_OK ? p->scope->read(p->scope->self, &from, out, p->err) : status;
    }
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size_t n = (size_t)(p->at - begin);
    if (n == 0)
        return expected(p, "a value");
    if (!isdigit((unsigned char)*begin))
        return p->scope->name(p->scope->self, begin, n, out, p->err);
    status = parse_u64(begin, n, out, p->err);
    if (status != LS_OK && p->err)
        p->err->status = LS_ERR_USAGE;
    return status == LS_OK ? LS_OK : LS_ERR_USAGE;
}

static ls_status parse_unary(parser *p, uint64_t *out)
{
    ls_status status;
    skip_spaces(p);
    char op = *p->at;
    if (!strchr("!~-*", op) || op == '\0')
        return parse_primary(p, out);
    if (++p->depth > DEPTH_MAX)
        return ls_fail(p->err, LS_ERR_USAGE, "the expression is nested too deeply");
    p->at++;
    status = parse_unary(p, out);
    p->depth--;
    if (status != LS_OK)
        return status;
    if (op == '*')
        return p->scope->load(p->scope->self, *out, 4, out, p->err);
    *out = op == '!' ? !*out : op == '~' ? ~*out : 0 - *out;
    return LS_OK;
}

static const struct operator_ {
    const char *text;
    unsigned level; /* larger binds tighter */
} operators[] = {
    { "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 }, { ">=", 7 },
    { "<<", 8 }, { ">>", 8 }, { "<", 7 },  { ">", 7 },  { "|", 3 },  { "^", 4 },
    { "&", 5 },  { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static const struct operator_ *next_operator(parser *p)
{
    skip_spaces(p);
    for (size_t i = 0; i < LS_COUNT_OF(operators); i++)
        if (starts_with(p->at, operators[i].text))
            return &operators[i];
    return NULL;
}

static ls_status apply(parser *p, const struct operator_ *op, uint64_t a, uint64_t b, uint64_t *out)
{
    const char *t = op->text;
    if ((*t == '/' || *t == '%') && b == 0)
        return ls_fail(p->err, LS_ERR_USAGE, "a division by 0");
    switch (*t) {
    case '|':
        *out = t[1] ? (a || b) : (a | b);
        break;
    case '&':
        *out = t[1] ? (a && b) : (a & b);
        break;
    case '=':
        *out = a == b;
        break;
    case '!':
        *out = a != b;
        break;
    case '<':
        *out = t[1] == '=' ? a <= b : t[1] == '<' ? (b < 64 ? a << b : 0) : a < b;
        break;
    case '>':
        *out = t[1] == '=' ? a >= b : t[1] == '>' ? (b < 64 ? a >> b : 0) : a > b;
        break;
    case '^':
        *out = a ^ b;
        break;
    case '+':
        *out = a + b;
        break;
    case '-':
        *out = a - b;
        break;
    case '*':
        *out = a * b;
        break;
    case '/':
        *out = a / b;
        break;
    default:
        *out = a % b;
        break;
    }
    return LS_OK;
}

static ls_status parse_binary(parser *p, unsigned least, uint64_t *out)
{
    ls_status status = LS_OK;
    if (++p->depth > DEPTH_MAX)
        return ls_fail(p->err, LS_ERR_USAGE, "the expression is nested too deeply");
    status = parse_unary(p, out);
    const struct operator_ *op;
    while (status == LS_OK && (op = next_operator(p)) != NULL && op->level > least) {
        uint64_t right = 0;
        p->at += strlen(op->text);
        status = parse_binary(p, op->level, &right);
        if (status == LS_OK)
            status = apply(p, op, *out, right, out);
    }
    p->depth--;
    return status;
}

ls_status debug_eval(const char *text, const debug_scope *scope, uint64_t *out, const char **end,
                     ls_error *err)
{
    parser p = { .at = text, .scope = scope, .err = err };
    ls_status status = parse_binary(&p, 0, out);
    skip_spaces(&p);
    *end = p.at;
    return status;
}
