/* plot_axis.c: ranges and round ticks. Pure arithmetic. */
#include "report/plot_axis.h"

#include <math.h>
#include <string.h>

/* Values beyond this are drawn at the edge, so that no difference of two overflows. */
#define PLOT_LIMIT 1e300

static bool positive_only(plot_scale scale)
{
    return scale != LS_PLOT_LINEAR;
}

bool plot_visible(const plot_figure *plot, double x, double y)
{
    return isfinite(x) && isfinite(y) && (x > 0 || !positive_only(plot->x_scale)) &&
           (y > 0 || !positive_only(plot->y_scale));
}

double plot_axis_at(const plot_axis *axis, double value)
{
    double at;
    if (positive_only(axis->scale))
        at = (log2(value) - log2(axis->min)) / (log2(axis->max) - log2(axis->min));
    else
        at = (value - axis->min) / (axis->max - axis->min);
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

/* ------------------------------------------------------------------------------------------------- labels */

/* The shortest text with at most `digits` decimals, and a decimal point in every locale. */
static void format_decimal(double value, int digits, const char *suffix, char *out, size_t bytes)
{
    char text[352];
    snprintf(text, sizeof text, "%.*f", digits < 0 ? 0 : digits > 17 ? 17 : digits, value);
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.';
    bool zero = strspn(text, "-0.") == strlen(text);
    const char *digits_at = zero && text[0] == '-' ? text + 1 : text;
    snprintf(out, bytes, "%.*s%s", (int)(bytes - 4), digits_at, zero ? "" : suffix);
}

/* "1500", "1e-6", "2e12" */
static void format_short(double value, char *out, size_t bytes)
{
    snprintf(out, bytes, "%.4g", value);
    for (char *p = out; *p; p++)
        if (*p == ',')
            *p = '.';
    char *e = strchr(out, 'e');
    if (!e)
        return;
    char *digits = e + 1 + strspn(e + 1, "+-0");
    bool minus = e[1] == '-';
    memmove(e + 1 + minus, digits, strlen(digits) + 1);
}

/* A power of 1000 and its letter that keeps a number of this size short; NULL: there is none for it. Small
 * prefixes make sense with a unit only: a rate is not written as 10m. */
static const char *si_prefix(double size, double smallest, bool has_unit, double *scale)
{
    static const char *const big[] = { "", "k", "M", "G", "T", "P", "E" };
    static const char *const small[] = { "", "m", "u", "n", "p", "f", "a" };
    *scale = 1;
    if (size == 0 || (size >= smallest && size < 1e4))
        return "";
    if (size < 1 && !has_unit)
        return NULL;
    for (size_t i = 1; i < LS_COUNT_OF(big); i++) {
        double unit = pow(1000, (double)i);
        if (size >= 1 && size < unit * 1000) {
            *scale = unit;
            return big[i];
        }
        if (size < 1 && size >= 1 / unit) {
            *scale = 1 / unit;
            return small[i];
        }
    }
    return NULL;
}

/* All labels of a linear axis have the same prefix and the same number of decimals. */
static void label_linear(plot_axis *axis, double step)
{
    double scale;
    const char *prefix = si_prefix(fmax(fabs(axis->min), fabs(axis->max)), 0.01, axis->has_unit, &scale);
    for (size_t i = 0; i < axis->tick_count; i++) {
        plot_tick *tick = &axis->tick[i];
        if (!prefix) {
            format_short(tick->value, tick->label, sizeof tick->label);
            continue;
        }
        int digits = (int)-floor(log10(step / scale) + 1e-9);
        format_decimal(tick->value / scale, digits, prefix, tick->label, sizeof tick->label);
    }
}

static void label_log10(const plot_axis *axis, plot_tick *tick)
{
    double scale;
    double smallest = axis->has_unit && axis->min < 0.001 ? 1 : 0.0001; /* all with prefixes, or none */
    const char *prefix = si_prefix(tick->value, smallest, axis->has_unit, &scale);
    char number[16];
    format_short(tick->value / (prefix ? scale : 1), number, sizeof number);
    snprintf(tick->label, sizeof tick->label, "%s%s", number, prefix ? prefix : "");
}

static void label_log2(plot_tick *tick)
{
    static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    double value = tick->value;
    size_t i = 0;
    while (value >= 1024 && i + 1 < LS_COUNT_OF(binary)) {
        value /= 1024;
        i++;
    }
    if (value >= 1 && value < 1e6)
        format_decimal(value, 0, binary[i], tick->label, sizeof tick->label);
    else if (value < 1 && value >= 0x1p-20)
        snprintf(tick->label, sizeof tick->label, "1/%.0f", 1 / value);
    else
        format_short(tick->value, tick->label, sizeof tick->label);
}

/* -------------------------------------------------------------------------------------------------- ticks */

static void push_tick(plot_axis *axis, double value)
{
    if (axis->tick_count < PLOT_TICKS)
        axis->tick[axis->tick_count++] = (plot_tick){ .value = value, .at = plot_axis_at(axis, value) };
}

/* 1, 2 or 5 times a power of ten, not below `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double times = least / power;
    return power * (times <= 1.0001 ? 1 : times <= 2.0001 ? 2 : times <= 5.0001 ? 5 : 10);
}

static void linear_ticks(plot_axis *axis, unsigned wanted, bool from_zero)
{
    if (from_zero && axis->min > 0)
        axis->min = 0;
    if (from_zero && axis->max < 0)
        axis->max = 0;
    /* A range that rounding would swallow is widened: a single value, or neighbours of a large number. */
    double size = fmax(fabs(axis->min), fabs(axis->max));
    if (axis->max - axis->min <= size * 1e-12) {
        double half = size > 0 ? size * 0.5 : 1;
        half = half < 1e-290 ? 1e-290 : half;
        axis->min -= half;
        axis->max += half;
    }
    double step = round_step((axis->max - axis->min) / (wanted ? wanted : 1));
    /* A finer step often leaves less empty space, and some ticks more do not hurt. */
    double finer = round_step(step * 0.39);
    if (ceil(axis->max / finer) - floor(axis->min / finer) <= wanted + wanted / 2)
        step = finer;
    double first = floor(axis->min / step + 1e-9), last = ceil(axis->max / step - 1e-9);
    axis->min = first * step;
    axis->max = last * step;
    for (double n = first; n <= last + 0.5 && axis->tick_count < PLOT_TICKS; n++)
        push_tick(axis, n * step);
    label_linear(axis, step);
}

/* Whole powers of the base, every k-th if there are many. */
static void power_ticks(plot_axis *axis, double base, unsigned wanted)
{
    double first = floor(log2(axis->min) / log2(base) + 1e-9);
    double last = ceil(log2(axis->max) / log2(base) - 1e-9);
    if (last <= first) {
        first -= 1;
        last += 1;
    }
    axis->min = pow(base, first);
    axis->max = pow(base, last);
    double stride = ceil((last - first) / (wanted ? wanted : 1));
    for (double n = first; n <= last + 0.5; n += stride < 1 ? 1 : stride)
        push_tick(axis, pow(base, n));
}

/* Less than two decades: 1, 2 and 5 of each, and the axis ends at one of them. */
static void short_log10_ticks(plot_axis *axis)
{
    static const double steps[] = { 1, 2, 5 };
    int count = 0, first = 0, last = 0;
    int decade = (int)floor(log10(axis->min)) - 1;
    double low = 0, high = 0;
    for (; count < 18; count++) {
        double value = pow(10, decade + count / 3) * steps[count % 3];
        if (value <= axis->min * (1 + 1e-9)) {
            low = value;
            first = count;
        }
        if (value >= axis->max * (1 - 1e-9)) {
            high = value;
            last = count;
            break;
        }
    }
    if (first == last) { /* one value, and it is round */
        first = first > 0 ? first - 1 : 0;
        last++;
        low = pow(10, decade + first / 3) * steps[first % 3];
        high = pow(10, decade + last / 3) * steps[last % 3];
    }
    axis->min = low;
    axis->max = high;
    for (int i = first; i <= last; i++)
        push_tick(axis, pow(10, decade + i / 3) * steps[i % 3]);
}

static void axis_init(plot_axis *axis, plot_scale scale, double min, double max, unsigned ticks,
                      bool from_zero)
{
    axis->scale = scale;
    axis->min = min;
    axis->max = max;
    if (scale == LS_PLOT_LINEAR) {
        linear_ticks(axis, ticks, from_zero);
        return;
    }
    if (scale == LS_PLOT_LOG2)
        power_ticks(axis, 2, ticks);
    else if (max / min < 100)
        short_log10_ticks(axis);
    else
        power_ticks(axis, 10, ticks);
    for (size_t i = 0; i < axis->tick_count; i++) {
        axis->tick[i].at = plot_axis_at(axis, axis->tick[i].value);
        if (scale == LS_PLOT_LOG2)
            label_log2(&axis->tick[i]);
        else
            label_log10(axis, &axis->tick[i]);
    }
}

/* ---------------------------------------------------------------------------------------------- both axes */

static double limited(double value, plot_scale scale)
{
    if (positive_only(scale))
        return value < 1 / PLOT_LIMIT ? 1 / PLOT_LIMIT : value > PLOT_LIMIT ? PLOT_LIMIT : value;
    return value < -PLOT_LIMIT ? -PLOT_LIMIT : value > PLOT_LIMIT ? PLOT_LIMIT : value;
}

static void widen(double value, double *min, double *max)
{
    *min = value < *min ? value : *min;
    *max = value > *max ? value : *max;
}

void plot_axes_init(plot_axes *axes, const plot_figure *plot, unsigned x_ticks, unsigned y_ticks)
{
    double x_min = INFINITY, x_max = -INFINITY, y_min = INFINITY, y_max = -INFINITY;
    *axes = (plot_axes){ 0 };
    for (size_t s = 0; s < plot->series_count; s++)
        for (size_t i = 0; i < plot->series[s].count; i++) {
            double x = plot->series[s].x[i], y = plot->series[s].y[i];
            if (!plot_visible(plot, x, y)) {
                axes->omitted++;
                continue;
            }
            axes->drawn++;
            widen(limited(x, plot->x_scale), &x_min, &x_max);
            widen(limited(y, plot->y_scale), &y_min, &y_max);
        }
    if (axes->drawn == 0) { /* an empty frame */
        x_min = y_min = 1;
        x_max = y_max = 10;
    }
    axes->x.has_unit = plot->x_unit && plot->x_unit[0];
    axes->y.has_unit = plot->y_unit && plot->y_unit[0];
    axis_init(&axes->x, plot->x_scale, x_min, x_max, x_ticks, plot->x_zero);
    axis_init(&axes->y, plot->y_scale, y_min, y_max, y_ticks, plot->y_zero);
}

plot_scale plot_scale_for(const double *values, size_t count)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < count; i++) {
        int exponent;
        if (!isfinite(values[i]) || values[i] <= 0 || frexp(values[i], &exponent) != 0.5)
            return LS_PLOT_LINEAR;
        widen(values[i], &low, &high);
    }
    return high >= 8 * low ? LS_PLOT_LOG2 : LS_PLOT_LINEAR;
}

const char *plot_name(const char *path, char *out, size_t bytes)
{
    static const char ending[] = ".yaml";
    bool generated = strncmp(path, "synth:", 6) == 0;
    size_t length = strlen(path);
    while (!generated && length > 1 && path[length - 1] == '/')
        length--;
    const char *end = path + length, *begin = end;
    while (begin > path && (generated || begin[-1] != '/'))
        begin--;
    length = (size_t)(end - begin);
    if (length > sizeof ending - 1 && strncmp(end - (sizeof ending - 1), ending, sizeof ending - 1) == 0)
        length -= sizeof ending - 1;
    snprintf(out, bytes, "%.*s", (int)length, begin);
    return out;
}

const char *plot_axis_title(const char *label, const char *unit, char *out, size_t bytes)
{
    bool has_label = label && label[0], has_unit = unit && unit[0];
    snprintf(out, bytes, "%s%s%s%s%s", has_label ? label : "", has_label && has_unit ? " " : "",
             has_unit ? "[" : "", has_unit ? unit : "", has_unit ? "]" : "");
    return out;
}

const char *plot_note(const plot_axes *axes, char *out, size_t bytes)
{
    out[0] = '\0';
    if (axes->drawn + axes->omitted == 0)
        snprintf(out, bytes, "no points");
    else if (axes->omitted > 0)
        snprintf(out, bytes, "%zu of %zu points not drawn: NaN, infinite or log of <= 0", axes->omitted,
                 axes->drawn + axes->omitted);
    return out;
}

bool plot_has_legend(const plot_figure *plot)
{
    for (size_t s = 0; s < plot->series_count; s++)
        if (plot->series[s].name && plot->series[s].name[0])
            return true;
    return false;
}
