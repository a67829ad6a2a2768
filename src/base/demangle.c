/* demangle.c: see demangle.h. A recursive parser of mangled names that writes into a fixed buffer. Substitutions are
 * kept as texts. Anything that does not fit or is not known fails the whole name, so that no name is half right. */
#include "base/demangle.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 4096
#define POOL_BYTES (64 * 1024)
#define SUBSTITUTIONS 256
#define ARGUMENTS 64
#define DEPTH 64

/* A type in two parts: "int (*" and ")(float)" of a pointer to a function; others have an empty second part. */
typedef struct piece {
    const char *left, *right;
    bool is_function; /* or array: a pointer to it needs parentheses */
} piece;

typedef struct reader {
    const char *at;
    char pool[POOL_BYTES]; /* of all texts */
    size_t used;
    piece subs[SUBSTITUTIONS];
    size_t sub_count;
    piece args[ARGUMENTS]; /* template arguments of the function's name */
    size_t arg_count;
    unsigned depth;
    bool failed, is_template, has_no_return; /* of the last name */
    const char *suffix;                      /* qualifiers of a member function */
} reader;

static const piece nothing = { "", "", false };

static const char *fail(reader *r)
{
    r->failed = true;
    return "";
}

/* Joins three texts. */
static const char *join(reader *r, const char *a, const char *b, const char *c)
{
    size_t bytes[3] = { strlen(a), strlen(b), strlen(c) };
    size_t all = bytes[0] + bytes[1] + bytes[2] + 1;
    if (all > TEXT_BYTES || all > sizeof r->pool - r->used)
        return fail(r);
    char *out = r->pool + r->used;
    r->used += all;
    memcpy(out, a, bytes[0]);
    memcpy(out + bytes[0], b, bytes[1]);
    memcpy(out + bytes[0] + bytes[1], c, bytes[2] + 1);
    return out;
}

static const char *part(reader *r, const char *from, size_t bytes)
{
    if (bytes + 1 > sizeof r->pool - r->used || bytes > TEXT_BYTES)
        return fail(r);
    char *out = r->pool + r->used;
    r->used += bytes + 1;
    memcpy(out, from, bytes);
    out[bytes] = 0;
    return out;
}

static const char *whole(reader *r, piece p)
{
    return p.right[0] ? join(r, p.left, p.right, "") : p.left;
}

static bool take(reader *r, const char *text)
{
    size_t bytes = strlen(text);
    if (strncmp(r->at, text, bytes) != 0)
        return false;
    r->at += bytes;
    return true;
}

static size_t number(reader *r)
{
    size_t value = 0;
    const char *begin = r->at;
    while (*r->at >= '0' && *r->at <= '9' && value < TEXT_BYTES)
        value = value * 10 + (size_t)(*r->at++ - '0');
    if (r->at == begin)
        fail(r);
    return value;
}

static piece remember(reader *r, piece p)
{
    if (r->sub_count == SUBSTITUTIONS)
        fail(r);
    else
        r->subs[r->sub_count++] = p;
    return p;
}

static piece text_piece(const char *text)
{
    return (piece){ text, "", false };
}

static piece type(reader *r);
static piece name(reader *r);
static const char *encoding(reader *r, bool with_parameters);

/* --------------------------------------------------------------------------------------------------- names */

static const char *source_name(reader *r)
{
    size_t bytes = number(r);
    if (r->failed || strnlen(r->at, bytes) < bytes)
        return fail(r);
    const char *text = part(r, r->at, bytes);
    r->at += bytes;
    if (strncmp(text, "_GLOBAL__N", 10) == 0)
        text = "(anonymous namespace)";
    while (take(r, "B")) { /* ABI tags */
        size_t tag = number(r);
        if (r->failed || strnlen(r->at, tag) < tag)
            return fail(r);
        text = join(r, join(r, text, "[abi:", part(r, r->at, tag)), "]", "");
        r->at += tag;
    }
    return text;
}

static const char *operator_name(reader *r)
{
    static const char *const names[][2] = {
        { "nw", "operator new" }, { "dl", "operator delete" }, { "pl", "operator+" },  { "mi", "operator-" },
        { "ml", "operator*" },    { "dv", "operator/" },       { "rm", "operator%" },  { "an", "operator&" },
        { "or", "operator|" },    { "eo", "operator^" },       { "aS", "operator=" },  { "pL", "operator+=" },
        { "mI", "operator-=" },   { "mL", "operator*=" },      { "dV", "operator/=" }, { "ls", "operator<<" },
        { "rs", "operator>>" },   { "eq", "operator==" },      { "ne", "operator!=" }, { "lt", "operator<" },
        { "gt", "operator>" },    { "le", "operator<=" },      { "ge", "operator>=" }, { "nt", "operator!" },
        { "aa", "operator&&" },   { "oo", "operator||" },      { "pp", "operator++" }, { "mm", "operator--" },
        { "cl", "operator()" },   { "ix", "operator[]" },      { "pt", "operator->" }, { "co", "operator~" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take(r, names[i][0]))
            return names[i][1];
    return NULL;
}

/* A lambda or an unnamed type: "{lambda(int)#1}". */
static const char *unnamed(reader *r, bool lambda)
{
    const char *parameters = "";
    while (lambda && !r->failed && !take(r, "E")) {
        const char *one = whole(r, type(r));
        if (strcmp(one, "void") != 0)
            parameters = parameters[0] ? join(r, parameters, ", ", one) : one;
    }
    size_t index = *r->at == '_' ? 1 : number(r) + 2;
    char digits[24];
    if (!take(r, "_"))
        return fail(r);
    snprintf(digits, sizeof digits, "%zu", index);
    const char *head = lambda ? join(r, "{lambda(", parameters, ")#") : "{unnamed type#";
    return join(r, head, part(r, digits, strlen(digits)), "}");
}

/* The last component of a scope, for constructors: "A<int>" of "ns::A<int>", without arguments. */
static const char *last_component(reader *r, const char *scope)
{
    const char *begin = scope, *at = scope;
    unsigned depth = 0;
    for (; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= (*at == '>' || *at == ')') && depth > 0;
        if (depth == 0 && at[0] == ':' && at[1] == ':')
            begin = at + 2;
    }
    return part(r, begin, strcspn(begin, "<"));
}

static const char *unqualified(reader *r, const char *scope)
{
    r->has_no_return = false;
    (void)take(r, "L"); /* internal linkage */
    if (*r->at >= '0' && *r->at <= '9')
        return source_name(r);
    if (take(r, "Ul"))
        return unnamed(r, true);
    if (take(r, "Ut"))
        return unnamed(r, false);
    if (r->at[0] == 'C' && r->at[1] >= '1' && r->at[1] <= '5') {
        r->at += 2;
        r->has_no_return = true;
        return last_component(r, scope);
    }
    if (r->at[0] == 'D' && r->at[1] >= '0' && r->at[1] <= '5') {
        r->at += 2;
        r->has_no_return = true;
        return join(r, "~", last_component(r, scope), "");
    }
    if (take(r, "cv")) {
        r->has_no_return = true;
        return join(r, "operator ", whole(r, type(r)), "");
    }
    const char *op = operator_name(r);
    return op ? op : fail(r);
}

/* "L" type value "E": bool and numbers; others as casts. */
static const char *literal(reader *r)
{
    if (take(r, "_Z")) {
        const char *text = encoding(r, false);
        return take(r, "E") ? text : fail(r);
    }
    char kind = *r->at;
    const char *of = whole(r, type(r));
    const char *begin = r->at;
    size_t bytes = strcspn(begin, "E");
    if (begin[bytes] == 0)
        return fail(r);
    r->at += bytes + 1;
    const char *minus = begin[0] == 'n' ? "-" : "";
    const char *digits = part(r, begin + (minus[0] != 0), bytes - (minus[0] != 0));
    if (strspn(digits, "0123456789") != strlen(digits))
        return fail(r);
    const char *value = join(r, minus, digits, "");
    if (kind == 'b' && (strcmp(digits, "0") == 0 || strcmp(digits, "1") == 0))
        return digits[0] == '1' ? "true" : "false";
    static const char *const suffixes[][2] = { { "i", "" },   { "j", "u" },  { "l", "l" },
                                               { "m", "ul" }, { "x", "ll" }, { "y", "ull" } };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (kind == suffixes[i][0][0])
            return join(r, value, suffixes[i][1], "");
    return join(r, join(r, "(", of, ")"), value, "");
}

/* Appends a template argument to a list; packs are several. */
static const char *argument(reader *r, const char *list, bool keep);

static const char *add_argument(reader *r, const char *list, piece one, bool keep)
{
    if (keep && r->arg_count < ARGUMENTS)
        r->args[r->arg_count++] = one;
    const char *text = whole(r, one);
    if (!text[0])
        return list;
    return list[0] ? join(r, list, ", ", text) : text;
}

static const char *pack(reader *r)
{
    const char *list = "";
    while (!r->failed && !take(r, "E"))
        list = argument(r, list, false);
    return list;
}

static const char *argument(reader *r, const char *list, bool keep)
{
    if (take(r, "J"))
        return add_argument(r, list, text_piece(pack(r)), keep);
    if (take(r, "L"))
        return add_argument(r, list, text_piece(literal(r)), keep);
    if (*r->at == 'X') /* expressions */
        return fail(r);
    return add_argument(r, list, type(r), keep);
}

/* After "I". */
static const char *template_args(reader *r, bool keep)
{
    const char *list = "";
    size_t first = r->arg_count; /* the list may use arguments of an outer one until it is complete */
    if (++r->depth > DEPTH)
        return fail(r);
    while (!r->failed && !take(r, "E"))
        list = argument(r, list, keep);
    if (keep && !r->failed) { /* the innermost list counts */
        memmove(r->args, r->args + first, (r->arg_count - first) * sizeof *r->args);
        r->arg_count -= first;
    }
    r->depth--;
    size_t bytes = strlen(list);
    return join(r, "<", list, bytes > 0 && list[bytes - 1] == '>' ? " >" : ">");
}

static const char *standard(reader *r)
{
    static const char *const names[][2] = { { "Sa", "std::allocator" }, { "Sb", "std::basic_string" },
                                            { "Ss", "std::string" },    { "Si", "std::istream" },
                                            { "So", "std::ostream" },   { "Sd", "std::iostream" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take(r, names[i][0]))
            return names[i][1];
    return NULL;
}

/* "S_", "S0_": a number in base 36, one more than it says. */
static piece substitution(reader *r)
{
    const char *known = standard(r);
    size_t index = 0;
    if (known)
        return text_piece(known);
    if (!take(r, "S")) {
        fail(r);
        return nothing;
    }
    if (*r->at != '_') {
        for (; (*r->at >= '0' && *r->at <= '9') || (*r->at >= 'A' && *r->at <= 'Z'); r->at++) {
            index = index * 36 + (size_t)(*r->at <= '9' ? *r->at - '0' : *r->at - 'A' + 10);
            if (index > SUBSTITUTIONS)
                break;
        }
        index++;
    }
    if (!take(r, "_") || index >= r->sub_count) {
        fail(r);
        return nothing;
    }
    return r->subs[index];
}

static piece template_param(reader *r)
{
    r->at++;
    size_t index = *r->at == '_' ? 0 : number(r) + 1;
    if (!take(r, "_") || index >= r->arg_count) {
        fail(r);
        return nothing;
    }
    return r->args[index];
}

/* After "N". */
static piece nested(reader *r)
{
    const char *scope = "";
    const char *qualifiers = "";
    for (; *r->at == 'K' || *r->at == 'V' || *r->at == 'r'; r->at++)
        qualifiers = join(r, qualifiers,
                          *r->at == 'K'   ? " const"
                          : *r->at == 'V' ? " volatile"
                                          : " restrict",
                          "");
    if (*r->at == 'R' || *r->at == 'O')
        qualifiers = join(r, qualifiers, *r->at++ == 'R' ? " &" : " &&", "");
    r->is_template = false;
    while (!r->failed && !take(r, "E")) {
        if (*r->at == 0) {
            fail(r);
            break;
        }
        if (take(r, "I")) {
            scope = join(r, scope, template_args(r, true), "");
            r->is_template = true;
        } else if (r->at[0] == 'S' && r->at[1] == 't') {
            r->at += 2;
            scope = join(r, "std::", unqualified(r, ""), "");
            r->is_template = false;
        } else if (*r->at == 'S') {
            scope = whole(r, substitution(r));
            r->is_template = false;
            continue; /* it is known already */
        } else if (*r->at == 'T') {
            scope = whole(r, template_param(r));
        } else {
            const char *one = unqualified(r, scope);
            scope = scope[0] ? join(r, scope, "::", one) : one;
            r->is_template = false;
        }
        if (*r->at != 'E')
            remember(r, text_piece(scope));
    }
    r->suffix = qualifiers;
    return text_piece(scope);
}

/* After "Z": a function, and a name inside of it. */
static piece local(reader *r)
{
    const char *function = encoding(r, true);
    if (!take(r, "E")) {
        fail(r);
        return nothing;
    }
    if (take(r, "s")) {
        if (take(r, "_"))
            (void)number(r);
        return text_piece(join(r, function, "::", "string literal"));
    }
    const char *inner = whole(r, name(r));
    if (take(r, "_"))
        (void)number(r);
    return text_piece(join(r, function, "::", inner));
}

static piece name(reader *r)
{
    piece found;
    r->suffix = "";
    if (++r->depth > DEPTH) {
        fail(r);
        return nothing;
    }
    if (take(r, "N")) {
        found = nested(r);
        r->depth--;
        return found;
    }
    if (take(r, "Z")) {
        found = local(r);
        r->depth--;
        return found;
    }
    bool is_known = false;
    if (r->at[0] == 'S' && r->at[1] == 't') {
        r->at += 2;
        found = text_piece(join(r, "std::", unqualified(r, ""), ""));
    } else if (*r->at == 'S') {
        found = substitution(r);
        is_known = true;
    } else {
        found = text_piece(unqualified(r, ""));
    }
    r->is_template = false;
    if (take(r, "I")) {
        if (!is_known)
            remember(r, found);
        found = text_piece(join(r, whole(r, found), template_args(r, true), ""));
        r->is_template = true;
    }
    r->depth--;
    return found;
}

/* --------------------------------------------------------------------------------------------------- types */

static const char *builtin(reader *r)
{
    static const char *const names[][2] = {
        { "v", "void" },
        { "w", "wchar_t" },
        { "b", "bool" },
        { "c", "char" },
        { "a", "signed char" },
        { "h", "unsigned char" },
        { "s", "short" },
        { "t", "unsigned short" },
        { "i", "int" },
        { "j", "unsigned int" },
        { "l", "long" },
        { "m", "unsigned long" },
        { "x", "long long" },
        { "y", "unsigned long long" },
        { "n", "__int128" },
        { "o", "unsigned __int128" },
        { "f", "float" },
        { "d", "double" },
        { "e", "long double" },
        { "g", "__float128" },
        { "z", "..." },
        { "Dh", "half" },
        { "Di", "char32_t" },
        { "Ds", "char16_t" },
        { "Du", "char8_t" },
        { "Da", "auto" },
        { "Dc", "decltype(auto)" },
        { "Dn", "decltype(nullptr)" },
        { "DF16_", "_Float16" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take(r, names[i][0]))
            return names[i][1];
    return NULL;
}

/* Parameters up to "E" or the end, without "void". */
static const char *parameters(reader *r, bool to_end)
{
    const char *list = "";
    while (!r->failed && *r->at &&
           (to_end ? *r->at != 'E' && *r->at != '.' && *r->at != '@' : !take(r, "E"))) {
        const char *one = whole(r, type(r));
        list = list[0] ? join(r, list, ", ", one) : one;
    }
    return strcmp(list, "void") == 0 ? "" : list;
}

static piece function_type(reader *r)
{
    (void)take(r, "Y");
    const char *result = whole(r, type(r));
    const char *list = parameters(r, false);
    return remember(r, (piece){ join(r, result, " ", ""), join(r, "(", list, ")"), true });
}

static piece array_type(reader *r)
{
    char digits[24] = "";
    if (*r->at >= '0' && *r->at <= '9')
        snprintf(digits, sizeof digits, "%zu", number(r));
    if (!take(r, "_"))
        fail(r);
    const char *of = whole(r, type(r));
    return remember(r,
                    (piece){ join(r, of, " ", ""), join(r, "[", part(r, digits, strlen(digits)), "]"), true });
}

static piece with_mark(reader *r, piece p, const char *mark)
{
    if (!p.is_function)
        return (piece){ join(r, p.left, mark, ""), p.right, false };
    return (piece){ join(r, p.left, "(", mark), join(r, ")", p.right, ""), false };
}

/* "U3AS1": an address space of OpenCL, or another qualifier of a vendor. */
static piece vendor(reader *r)
{
    const char *qualifier = source_name(r);
    piece of = type(r);
    return remember(r, (piece){ join(r, join(r, of.left, " ", qualifier), "", ""), of.right, of.is_function });
}

static piece type_inside(reader *r)
{
    static const char *const marks[][2] = { { "P", "*" },      { "R", "&" },         { "O", "&&" },
                                            { "K", " const" }, { "V", " volatile" }, { "r", " restrict" } };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (take(r, marks[i][0]))
            return remember(r, with_mark(r, type(r), marks[i][1]));
    const char *simple = builtin(r);
    if (simple)
        return text_piece(simple);
    if (take(r, "F"))
        return function_type(r);
    if (take(r, "A"))
        return array_type(r);
    if (take(r, "U"))
        return vendor(r);
    if (take(r, "u"))
        return text_piece(source_name(r));
    if (take(r, "Dp"))
        return type(r);
    if (take(r, "Dv")) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", number(r));
        if (!take(r, "_"))
            fail(r);
        const char *of = whole(r, type(r));
        return remember(r, text_piece(join(r, of, " __vector(",
                                           join(r, part(r, digits, strlen(digits)), ")", ""))));
    }
    if (*r->at == 'T' && r->at[1] != 's' && r->at[1] != 'u' && r->at[1] != 'e') {
        piece found = remember(r, template_param(r));
        if (!take(r, "I"))
            return found;
        return remember(r, text_piece(join(r, whole(r, found), template_args(r, false), "")));
    }
    if (*r->at == 'S' && r->at[1] != 't') {
        piece found = substitution(r);
        if (!take(r, "I"))
            return found;
        return remember(r, text_piece(join(r, whole(r, found), template_args(r, false), "")));
    }
    if (*r->at == 'N' || *r->at == 'Z' || *r->at == 'S' || (*r->at >= '0' && *r->at <= '9')) {
        /* Template arguments of a type are not those of the function. */
        piece kept[ARGUMENTS];
        size_t count = r->arg_count;
        memcpy(kept, r->args, count * sizeof *kept);
        bool is_template = r->is_template, no_return = r->has_no_return;
        const char *suffix = r->suffix;
        piece found = remember(r, name(r));
        memcpy(r->args, kept, count * sizeof *kept);
        r->arg_count = count;
        r->is_template = is_template;
        r->has_no_return = no_return;
        r->suffix = suffix;
        return found;
    }
    fail(r);
    return nothing;
}

static piece type(reader *r)
{
    if (r->failed || ++r->depth > DEPTH) {
        fail(r);
        return nothing;
    }
    piece found = type_inside(r);
    r->depth--;
    return found;
}

/* ----------------------------------------------------------------------------------------------- functions */

/* A name and, of a function, its parameters; template functions also have a result type, which is left out. */
static const char *encoding(reader *r, bool with_parameters)
{
    const char *full = whole(r, name(r));
    bool has_result = r->is_template && !r->has_no_return;
    const char *suffix = r->suffix;
    if (r->failed || *r->at == 0 || *r->at == 'E' || *r->at == '.')
        return full;
    if (has_result)
        (void)type(r);
    const char *list = parameters(r, true);
    return with_parameters ? join(r, full, join(r, "(", list, ")"), suffix) : full;
}

bool demangle(const char *mangled, bool with_parameters, char *out, size_t out_bytes)
{
    reader r = { .at = mangled + 2, .suffix = "" };
    const char *text = mangled;
    bool is_done = false;
    if (strncmp(mangled, "_Z", 2) == 0) {
        const char *found = encoding(&r, with_parameters);
        /* ".kd" of a kernel's descriptor and ".part.0" of a clone follow. */
        is_done = !r.failed && (*r.at == 0 || *r.at == '.');
        text = is_done ? found : mangled;
    }
    snprintf(out, out_bytes, "%s", text);
    return is_done;
}
