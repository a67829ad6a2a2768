/* param.h: a configuration key, declared once, beside the struct field that it fills.
 *
 * A block lists its parameters in one table; the platform reader, `lockstep config`, the help and the man
 * page all come from that table. Units belong in the names: latency_cycles, size_kib, clock_mhz.
 *
 *     typedef struct { uint64_t entries; bool write_back; ls_ratio clock; } spec;
 *     static const ls_param params[] = {
 *         LS_PARAM_UINT(spec, entries, "entries", 64, 1, 65536, "MSHR entries"),
 *         LS_PARAM_BOOL(spec, write_back, true, "write back instead of through"),
 *         LS_PARAM_FREQ(spec, clock, "clock_mhz", "1365", "the core clock"),
 *     };
 */
#ifndef LOCKSTEP_PARAM_H
#define LOCKSTEP_PARAM_H

#include "lockstep/time.h"

typedef enum ls_param_type {
    LS_PARAM_TYPE_BOOL,   /* bool: true, false */
    LS_PARAM_TYPE_UINT,   /* uint64_t: decimal or 0x hexadecimal, '_' between digits allowed */
    LS_PARAM_TYPE_REAL,   /* double */
    LS_PARAM_TYPE_FREQ,   /* ls_ratio in hertz, from an exact decimal number of MHz */
    LS_PARAM_TYPE_RATIO,  /* ls_ratio from an exact decimal number such as 19.2 */
    LS_PARAM_TYPE_TEXT,   /* const char *, owned by the configuration */
    LS_PARAM_TYPE_CHOICE, /* uint32_t: index into choices */
    LS_PARAM_TYPE_UINTS,  /* ls_uints: list of uint64_t */
    LS_PARAM_TYPE_TEXTS,  /* ls_texts: list of texts, without commas */
} ls_param_type;

/* A list value; owned by the configuration it came from. */
typedef struct ls_uints {
    const uint64_t *at;
    size_t count;
} ls_uints;

typedef struct ls_texts {
    const char *const *at;
    size_t count;
} ls_texts;

typedef struct ls_param {
    const char *name; /* may contain dots: "clock.core_mhz" */
    ls_param_type type;
    uint32_t offset;            /* of the field in the spec struct */
    const char *default_text;   /* as it would stand in a file; NULL: the key is required */
    double min, max;            /* inclusive, for numbers (each element of a list); min > max: no limit */
    const char *const *choices; /* NULL-terminated, for LS_PARAM_TYPE_CHOICE */
    const char *unit;           /* "cycles", "KiB", "entries", ...; "" if none */
    const char *help;           /* one line, no full stop */
    /* LS_PARAM_TYPE_CHOICE: block types of this slot are choices too; their numbers follow those of `choices`, in
     * the order of the registry. NULL: there are none. */
    const char *slot;
} ls_param;

/* Keys that act only while others have certain values. An override (--set) of a key without effect is a
 * warning that names both.
 *
 *     static const ls_need needs[] = {
 *         { "icache.*", "fetch=cycle" },
 *         { "mshr_merge", "/core.memory=cycle model=bank|fixed" },
 *     }; */
typedef struct ls_need {
    const char *keys; /* names of the same table, with '*' and '?' */
    /* KEY=VALUE or KEY!=VALUE, several separated by spaces (all must hold) or by commas (one must), values by
     * '|' (any will do). KEY is of the same section, or, after a '/', any key of the platform. After "//" it is a key
     * of the system that the GPU is part of; of a GPU alone these are `none`. A condition on a key that does not
     * exist holds. */
    const char *condition;
} ls_need;

#define LS_TEXT_OF_(x) #x
#define LS_TEXT_OF(x) LS_TEXT_OF_(x)

/* clang-format off */
/* A key that has the field's own name. */
#define LS_PARAM_UINT(spec, field, unit_, default_, min_, max_, help_)                                        \
    { .name = #field, .type = LS_PARAM_TYPE_UINT, .offset = offsetof(spec, field),                            \
      .default_text = LS_TEXT_OF(default_), .min = (double)(min_), .max = (double)(max_), .unit = (unit_),    \
      .help = (help_) }
#define LS_PARAM_REAL(spec, field, unit_, default_, min_, max_, help_)                                        \
    { .name = #field, .type = LS_PARAM_TYPE_REAL, .offset = offsetof(spec, field),                            \
      .default_text = LS_TEXT_OF(default_), .min = (double)(min_), .max = (double)(max_), .unit = (unit_),    \
      .help = (help_) }
#define LS_PARAM_BOOL(spec, field, default_, help_)                                                           \
    { .name = #field, .type = LS_PARAM_TYPE_BOOL, .offset = offsetof(spec, field),                            \
      .default_text = (default_) ? "true" : "false", .min = 1, .max = 0, .unit = "", .help = (help_) }
/* Keys whose name differs from the field (dots, units); default as text, NULL means required. */
#define LS_PARAM_FREQ(spec, field, name_, default_, help_)                                                    \
    { .name = (name_), .type = LS_PARAM_TYPE_FREQ, .offset = offsetof(spec, field),                           \
      .default_text = (default_), .min = 0.001, .max = 1e6, .unit = "MHz", .help = (help_) }
#define LS_PARAM_RATIO(spec, field, name_, unit_, default_, min_, max_, help_)                                \
    { .name = (name_), .type = LS_PARAM_TYPE_RATIO, .offset = offsetof(spec, field),                          \
      .default_text = (default_), .min = (double)(min_), .max = (double)(max_), .unit = (unit_),              \
      .help = (help_) }
#define LS_PARAM_TEXT(spec, field, name_, default_, help_)                                                    \
    { .name = (name_), .type = LS_PARAM_TYPE_TEXT, .offset = offsetof(spec, field),                           \
      .default_text = (default_), .min = 1, .max = 0, .unit = "", .help = (help_) }
#define LS_PARAM_CHOICE(spec, field, name_, default_, choices_, help_)                                        \
    { .name = (name_), .type = LS_PARAM_TYPE_CHOICE, .offset = offsetof(spec, field),                         \
      .default_text = (default_), .min = 1, .max = 0, .choices = (choices_), .unit = "", .help = (help_) }
#define LS_PARAM_UINTS(spec, field, name_, unit_, default_, min_, max_, help_)                                \
    { .name = (name_), .type = LS_PARAM_TYPE_UINTS, .offset = offsetof(spec, field),                          \
      .default_text = (default_), .min = (double)(min_), .max = (double)(max_), .unit = (unit_),              \
      .help = (help_) }
#define LS_PARAM_TEXTS(spec, field, name_, default_, help_)                                                   \
    { .name = (name_), .type = LS_PARAM_TYPE_TEXTS, .offset = offsetof(spec, field),                          \
      .default_text = (default_), .min = 1, .max = 0, .unit = "", .help = (help_) }
/* clang-format on */

#endif
