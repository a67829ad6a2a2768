/* grid.c: see grid.h. */
#include "sim/sweep/grid.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the grid");
}

/* `before`: how many earlier values it must differ from; those of one range differ anyway. */
static ls_status add_value(sweep_grid *grid, sweep_axis *axis, size_t before, const char *text, size_t bytes,
                           ls_error *err)
{
    char *value = arena_strndup(grid->arena, text, bytes);
    if (!value)
        return no_memory(err);
    for (size_t i = 0; i < before; i++)
        if (strcmp(axis->values.at[i], value) == 0)
            return ls_fail(err, LS_ERR_USAGE, "%s has the value %s twice", axis->key, value);
    if (axis->values.count >= SWEEP_POINTS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "%s has more than %d values", axis->key, SWEEP_POINTS_MAX);
    return vec_push(&axis->values, value) ? LS_OK : no_memory(err);
}

static bool whole(const char *text, size_t bytes, uint64_t *out)
{
    return bytes && parse_u64(text, bytes, out, NULL) == LS_OK;
}

/* "A..B", "A..B+S", "A..B*F": false if the text is none of these (then it is a value). */
static bool read_range(const char *text, size_t bytes, uint64_t *first, uint64_t *last, char *step,
                       uint64_t *by)
{
    const char *dots = memmem(text, bytes, "..", 2);
    if (!dots || !whole(text, (size_t)(dots - text), first))
        return false;
    const char *end = text + bytes, *to = dots + 2, *mark = to;
    while (mark < end && *mark != '+' && *mark != '*')
        mark++;
    *step = '+';
    if (mark < end)
        *step = *mark;
    *by = 1;
    return whole(to, (size_t)(mark - to), last) &&
           (mark == end || whole(mark + 1, (size_t)(end - mark - 1), by));
}

static ls_status add_item(sweep_grid *grid, sweep_axis *axis, const char *text, size_t bytes, ls_error *err)
{
    uint64_t first, last, by;
    char step;
    if (bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "%s has an empty value", axis->key);
    if (!read_range(text, bytes, &first, &last, &step, &by))
        return add_value(grid, axis, axis->values.count, text, bytes, err);
    if (last < first || by < (step == '*' ? 2 : 1) || (step == '*' && first == 0))
        return ls_fail(err, LS_ERR_USAGE,
                       "the range %.*s of %s does not rise from its first to its last value", (int)bytes, text,
                       axis->key);
    size_t before = axis->values.count;
    ls_status status = LS_OK;
    for (uint64_t value = first; status == LS_OK;) {
        char digits[24];
        int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
        status = add_value(grid, axis, before, digits, (size_t)length, err);
        if (step == '*' ? value > last / by : value > last - by || last < by)
            break;
        value = step == '*' ? value * by : value + by;
        if (value > last)
            break;
    }
    return status;
}

ls_status sweep_grid_add(sweep_grid *grid, const char *text, ls_error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is not KEY=VALUE,VALUE,...", text);
    sweep_axis axis = { .key = arena_strndup(grid->arena, text, (size_t)(equals - text)) };
    if (!axis.key)
        return no_memory(err);
    for (size_t i = 0; i < grid->axes.count; i++)
        if (strcmp(grid->axes.at[i].key, axis.key) == 0)
            return ls_fail(err, LS_ERR_USAGE, "%s is varied twice", axis.key);
    ls_status status = LS_OK;
    const char *from = equals + 1;
    int depth = 0;
    for (const char *at = from; status == LS_OK; at++) {
        depth += *at == '[';
        depth -= *at == ']';
        if (*at && (*at != ',' || depth > 0))
            continue;
        status = add_item(grid, &axis, from, (size_t)(at - from), err);
        from = at + 1;
        if (!*at)
            break;
    }
    if (status == LS_OK && axis.values.count > SWEEP_POINTS_MAX / (grid->points ? grid->points : 1))
        status = ls_fail(err, LS_ERR_USAGE, "the grid has more than %d points", SWEEP_POINTS_MAX);
    if (status == LS_OK && !vec_push(&grid->axes, axis))
        status = no_memory(err);
    if (status != LS_OK) {
        vec_fini(&axis.values);
        return status;
    }
    grid->points = (grid->points ? grid->points : 1) * axis.values.count;
    return LS_OK;
}

void sweep_grid_fini(sweep_grid *grid)
{
    for (size_t i = 0; i < grid->axes.count; i++)
        vec_fini(&grid->axes.at[i].values);
    vec_fini(&grid->axes);
}

const char *sweep_grid_value(const sweep_grid *grid, size_t point, size_t axis)
{
    for (size_t i = grid->axes.count; i-- > axis + 1;)
        point /= grid->axes.at[i].values.count;
    return grid->axes.at[axis].values.at[point % grid->axes.at[axis].values.count];
}

const char *const *sweep_grid_sets(const sweep_grid *grid, size_t point)
{
    const char **sets = arena_array(grid->arena, grid->axes.count + 1, sizeof *sets);
    for (size_t i = 0; sets && i < grid->axes.count; i++) {
        sets[i] = arena_printf(grid->arena, "%s=%s", grid->axes.at[i].key, sweep_grid_value(grid, point, i));
        if (!sets[i])
            return NULL;
    }
    return sets;
}

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

double sweep_kendall_tau(const double *a, const double *b, size_t count)
{
    double agree = 0, in_a = 0, in_b = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            int x = sign(a[i] - a[k]), y = sign(b[i] - b[k]);
            agree += x * y;
            in_a += x != 0;
            in_b += y != 0;
        }
    return in_a > 0 && in_b > 0 ? agree / sqrt(in_a * in_b) : NAN;
}
