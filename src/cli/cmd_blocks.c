/* cmd_blocks.c: `lockstep blocks`: lists block types from the registry's declarations. */
#include "cli/cli.h"
#include "lockstep/block.h"
#include "model/policy/policy.h"
#include "platform/value.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------- columns */

#define COLUMNS 5

/* A table whose columns are as wide as their widest cell; the last one is not padded. */
typedef struct table {
    mem_arena *arena;
    LS_VEC(const char *) cells; /* COLUMNS per row */
    bool failed;
} table;

static void row(table *t, const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *cells[COLUMNS] = { a, b, c, d, e };
    for (size_t i = 0; i < COLUMNS; i++)
        if (!cells[i] || !vec_push(&t->cells, cells[i]))
            t->failed = true;
}

static ls_status print_table(table *t, FILE *out, const cli_style *style, ls_error *err)
{
    int width[COLUMNS] = { 0 };
    for (size_t i = 0; i < t->cells.count && !t->failed; i++) {
        int cell = (int)strlen(t->cells.at[i]);
        if (cell > width[i % COLUMNS])
            width[i % COLUMNS] = cell;
    }
    for (size_t i = 0; i < t->cells.count && !t->failed; i++) {
        size_t column = i % COLUMNS;
        if (column == 0)
            fprintf(out, "    %s%-*s%s", style->name, width[0], t->cells.at[i], style->off);
        else if (column + 1 < COLUMNS && width[column])
            fprintf(out, "  %-*s", width[column], t->cells.at[i]);
        else if (column + 1 == COLUMNS)
            fprintf(out, "  %s\n", t->cells.at[i]);
    }
    vec_fini(&t->cells);
    return t->failed ? ls_fail(err, LS_ERR_NOMEM, "out of memory") : LS_OK;
}

/* -------------------------------------------------------------------------------------- params, metrics */

static const char *param_type(const ls_param *param, mem_arena *arena)
{
    static const char *const names[] = {
        [LS_PARAM_TYPE_BOOL] = "true|false", [LS_PARAM_TYPE_UINT] = "integer",
        [LS_PARAM_TYPE_REAL] = "number",     [LS_PARAM_TYPE_FREQ] = "number",
        [LS_PARAM_TYPE_RATIO] = "number",    [LS_PARAM_TYPE_TEXT] = "text",
        [LS_PARAM_TYPE_CHOICE] = "choice",   [LS_PARAM_TYPE_UINTS] = "integers",
        [LS_PARAM_TYPE_TEXTS] = "texts",
    };
    const char *text = names[param->type];
    if (param->type != LS_PARAM_TYPE_CHOICE)
        return text;
    text = "";
    for (size_t i = 0; value_choice(param, i) != NULL && text; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? "|" : "", value_choice(param, i));
    return text;
}

static const char *param_range(const ls_param *param, mem_arena *arena)
{
    char low[32], high[32];
    if (param->min > param->max)
        return param->unit;
    return arena_printf(arena, "%s..%s%s%s", format_real(param->min, low, sizeof low),
                        format_real(param->max, high, sizeof high), *param->unit ? " " : "", param->unit);
}

static ls_status print_params(const cli_context *ctx, const cli_style *style, const ls_param *params,
                              size_t count, ls_error *err)
{
    table t = { .arena = ctx->arena };
    if (!count)
        return LS_OK;
    fprintf(ctx->out, "  %sParameters%s\n", style->title, style->off);
    for (size_t i = 0; i < count; i++) {
        const char *value =
            params[i].default_text ? arena_printf(ctx->arena, "= %s", params[i].default_text) : "(required)";
        row(&t, params[i].name, value, param_type(&params[i], ctx->arena), param_range(&params[i], ctx->arena),
            params[i].help);
    }
    return print_table(&t, ctx->out, style, err);
}

static ls_status print_metrics(const cli_context *ctx, const cli_style *style, const ls_block_type *type,
                               ls_error *err)
{
    static const char *const kinds[] = {
        [LS_METRIC_KIND_COUNTER] = "counter", [LS_METRIC_KIND_PEAK] = "peak",
        [LS_METRIC_KIND_LEVEL] = "level",     [LS_METRIC_KIND_HISTOGRAM] = "histogram",
        [LS_METRIC_KIND_RATIO] = "ratio",
    };
    table t = { .arena = ctx->arena };
    if (!type->metric_count)
        return LS_OK;
    fprintf(ctx->out, "  %sMetrics%s\n", style->title, style->off);
    for (size_t i = 0; i < type->metric_count; i++)
        row(&t, type->metrics[i].name, kinds[type->metrics[i].kind], type->metrics[i].unit, "",
            type->metrics[i].help);
    return print_table(&t, ctx->out, style, err);
}

/* ---------------------------------------------------------------------------------------- block, machine */

static ls_status print_block(const cli_context *ctx, const cli_style *style, const ls_block_type *type,
                             ls_error *err)
{
    fprintf(ctx->out, "%s%s/%s%s: %s\n", style->title, type->slot, type->name, style->off, type->help);
    ls_status status = print_params(ctx, style, type->params, type->param_count, err);
    if (status == LS_OK)
        status = print_metrics(ctx, style, type, err);
    if (status != LS_OK || !type->port_count)
        return status;
    table t = { .arena = ctx->arena };
    fprintf(ctx->out, "  %sPorts%s\n", style->title, style->off);
    for (size_t i = 0; i < type->port_count; i++)
        row(&t, type->ports[i].name, type->ports[i].interface, "", "",
            type->ports[i].ops ? "provided" : "used");
    return print_table(&t, ctx->out, style, err);
}

/* The interfaces that a model of the slot provides, "core/1"; "" if none is declared. */
static const char *interfaces_of(const cli_context *ctx, const ls_section *section)
{
    const char *text = "";
    for (size_t i = 0; i < section->port_count && text; i++)
        if (!section->ports[i].used && !section->ports[i].optional)
            text =
                arena_printf(ctx->arena, "%s%s%s", text, *text ? " " : "", section->ports[i].interface->name);
    return text;
}

/* Slots with interfaces, of all machines: each pair once. */
static ls_status print_interfaces(const cli_context *ctx, const cli_style *style, ls_error *err)
{
    table t = { .arena = ctx->arena };
    for (size_t m = 0; m < ls_registry_machine_count(); m++)
        for (size_t i = 0; i < ls_registry_machine(m)->section_count; i++) {
            const ls_section *section = &ls_registry_machine(m)->sections[i];
            bool listed = !section->port_count;
            for (size_t k = 0; k < t.cells.count; k += COLUMNS)
                listed = listed || (strcmp(t.cells.at[k], section->slot) == 0 &&
                                    strcmp(t.cells.at[k + 1], interfaces_of(ctx, section)) == 0);
            if (!listed)
                row(&t, section->slot, interfaces_of(ctx, section), "", "",
                    section->ports[0].interface->header);
        }
    if (t.cells.count)
        fprintf(ctx->out, "%sSlots and the interfaces of their models%s\n", style->title, style->off);
    return print_table(&t, ctx->out, style, err);
}

/* Policies are keys of blocks; plug-ins add values to them. */
static ls_status print_policies(const cli_context *ctx, const cli_style *style, ls_error *err)
{
    table t = { .arena = ctx->arena };
    for (size_t i = 0; i < POLICY_SLOTS; i++)
        row(&t, policy_kinds[i].slot, policy_kinds[i].interface.name, "", "",
            policy_kinds[i].interface.header);
    fprintf(ctx->out, "%sPolicies, which are values of keys, and their interfaces%s\n", style->title,
            style->off);
    return print_table(&t, ctx->out, style, err);
}

static ls_status print_machine(const cli_context *ctx, const cli_style *style, const ls_machine_type *type,
                               ls_error *err)
{
    fprintf(ctx->out, "%smachine %s%s: %s\n", style->title, type->name, style->off, type->help);
    ls_status status = print_params(ctx, style, type->params, type->param_count, err);
    if (status != LS_OK || !type->section_count)
        return status;
    table t = { .arena = ctx->arena };
    fprintf(ctx->out, "  %sSections%s\n", style->title, style->off);
    for (size_t i = 0; i < type->section_count; i++) {
        const ls_section *section = &type->sections[i];
        row(&t, section->path, arena_printf(ctx->arena, "slot %s", section->slot),
            section->default_model ? arena_printf(ctx->arena, "= %s", section->default_model) : "(required)",
            interfaces_of(ctx, section), section->help);
    }
    return print_table(&t, ctx->out, style, err);
}

/* ------------------------------------------------------------------------------------------------ lists */

static ls_status print_overview(const cli_context *ctx, const cli_style *style, ls_error *err)
{
    size_t machines = ls_registry_machine_count(), blocks = ls_registry_block_count();
    table t = { .arena = ctx->arena };
    fprintf(ctx->out, "%sMachines%s\n", style->title, style->off);
    if (!machines)
        fprintf(ctx->out, "    none: load some with --plugin FILE\n");
    for (size_t i = 0; i < machines; i++)
        row(&t, ls_registry_machine(i)->name, "", "", "", ls_registry_machine(i)->help);
    ls_status status = print_table(&t, ctx->out, style, err);
    if (status != LS_OK)
        return status;
    fprintf(ctx->out, "%sSlots and their models%s\n", style->title, style->off);
    if (!blocks)
        fprintf(ctx->out, "    none: load some with --plugin FILE\n");
    t = (table){ .arena = ctx->arena };
    for (size_t i = 0; i < blocks; i++) {
        const ls_block_type *type = ls_registry_block(i);
        row(&t, arena_printf(ctx->arena, "%s/%s", type->slot, type->name), "", "", "", type->help);
    }
    status = print_table(&t, ctx->out, style, err);
    if (status == LS_OK)
        status = print_interfaces(ctx, style, err);
    return status == LS_OK ? print_policies(ctx, style, err) : status;
}

/* Slots, then SLOT/MODEL, then machines: everything the argument may name. */
static const char *name_at(const void *self, size_t i)
{
    const cli_context *ctx = self;
    size_t blocks = ls_registry_block_count();
    const char *name;
    if (i < blocks)
        return ls_registry_block(i)->slot;
    if (i >= 2 * blocks)
        return ls_registry_machine(i - 2 * blocks)->name;
    const ls_block_type *type = ls_registry_block(i - blocks);
    name = arena_printf(ctx->arena, "%s/%s", type->slot, type->name);
    return name ? name : type->slot;
}

static ls_status print_named(const cli_context *ctx, const cli_style *style, const char *name, ls_error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        const char *full = arena_printf(ctx->arena, "%s/%s", type->slot, type->name);
        if (!full)
            return ls_fail(err, LS_ERR_NOMEM, "out of memory");
        if (strcmp(type->slot, name) != 0 && strcmp(full, name) != 0)
            continue;
        if (found++)
            fputc('\n', ctx->out);
        ls_status status = print_block(ctx, style, type, err);
        if (status != LS_OK)
            return status;
    }
    const ls_machine_type *machine = ls_registry_find_machine(name);
    if (machine) {
        if (found++)
            fputc('\n', ctx->out);
        return print_machine(ctx, style, machine, err);
    }
    if (found)
        return LS_OK;
    char quoted[120];
    ls_fail(err, LS_ERR_USAGE, "blocks: no slot, model or machine is called '%s'",
            quote_text(name, strlen(name), quoted, sizeof quoted));
    return ls_error_nearest(err,
                            nearest_name(name, 2 * ls_registry_block_count() + ls_registry_machine_count(),
                                         name_at, ctx));
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    cli_style style = cli_style_of(ctx->color_out);
    if (ctx->positional_count == 0)
        return print_overview(ctx, &style, err);
    return print_named(ctx, &style, ctx->positionals[0], err);
}

/* clang-format off */
static const cli_positional positionals[] = {
    { .name = "SLOT[/MODEL]", .optional = true, .complete = CLI_COMPLETE_BLOCK,
      .help = "a slot (all its models), one model of it, or a machine" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep blocks", "every machine, and every model of every slot" },
    { "lockstep blocks dram", "parameters and metrics of each model that can stand in the slot `dram`" },
    { "lockstep --plugin ./my-blocks.so blocks queueing.server/fixed", "one model of a plug-in" },
};

static const cli_command blocks = {
    .name = "blocks",
    .summary = "list machines, slots and models with their parameters and metrics",
    .about =
        "A machine is what `machine: NAME` in a platform file builds. It has sections, and each section is "
        "filled by a model of a slot: `model: NAME` in the file chooses it. All of this is declared by the "
        "blocks themselves, also by those of a plug-in.",
    .order = 30,
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(blocks);
