/* plot_text.c: plots of characters. Lines are drawn in Braille dots (2 x 4 per character) or, in ASCII, with
 * one letter per series. Touches only the stream it was given. */
#include "report/plot_axis.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct canvas {
    unsigned width, height;  /* in characters */
    unsigned dots_x, dots_y; /* per character */
    uint8_t *dots;           /* per character: a Braille mask; in ASCII: set or not */
    uint8_t *owner;          /* per character: series + 1 of the last that drew there */
    bool *marker;            /* per character: a data point stands here */
    bool ascii, color;
} canvas;

static const char *const utf8_markers[] = { "●", "○", "▲", "△", "■", "□", "◆", "◇" };
static const char *const ascii_markers[] = { "*", "o", "+", "x", "#", "@", "%", "&" };
static const int ansi_colors[] = { 34, 31, 32, 35, 36, 33, 94, 91 };
enum { STYLES = 8 };
_Static_assert(LS_COUNT_OF(utf8_markers) == STYLES && LS_COUNT_OF(ascii_markers) == STYLES &&
                   LS_COUNT_OF(ansi_colors) == STYLES,
               "every series has a marker and a colour");

/* --------------------------------------------------------------------------------------------------- text */

/* The length of the character at s; 0 if it cannot be shown (a stray byte or a control character). */
static size_t character_bytes(const char *s)
{
    uint32_t code;
    size_t bytes = utf8_next(s, strnlen(s, 4), &code);
    return bytes && code >= 0x20 && (code < 0x7f || code >= 0xa0) ? bytes : 0;
}

static unsigned text_cells(const char *s)
{
    unsigned cells = 0;
    while (*s) {
        size_t bytes = character_bytes(s);
        s += bytes ? bytes : 1;
        cells++;
    }
    return cells;
}

/* Writes at most `limit` characters, '?' for characters that cannot be shown. */
static void put_text(FILE *to, const char *s, unsigned limit, bool ascii)
{
    for (; *s && limit > 0; limit--) {
        size_t bytes = character_bytes(s);
        if (bytes == 0 || (ascii && bytes > 1))
            fputc('?', to);
        else
            fwrite(s, 1, bytes, to);
        s += bytes ? bytes : 1;
    }
}

static void put_spaces(FILE *to, unsigned count)
{
    fprintf(to, "%*s", (int)count, "");
}

static void put_centred(FILE *to, const char *s, unsigned left, unsigned width, bool ascii)
{
    unsigned cells = text_cells(s);
    put_spaces(to, left + (cells < width ? (width - cells) / 2 : 0));
    put_text(to, s, width, ascii);
    fputc('\n', to);
}

static void put_marker(const canvas *c, FILE *to, size_t series)
{
    const char *marker = c->ascii ? ascii_markers[series % STYLES] : utf8_markers[series % STYLES];
    if (c->color)
        fprintf(to, "\033[%dm%s\033[0m", ansi_colors[series % STYLES], marker);
    else
        fputs(marker, to);
}

/* ------------------------------------------------------------------------------------------------ drawing */

static void set_dot(canvas *c, long x, long y, size_t series)
{
    static const uint8_t braille[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
    size_t column = (size_t)x / c->dots_x, row = (size_t)y / c->dots_y;
    size_t cell = row * c->width + column;
    c->dots[cell] |= braille[(size_t)y % c->dots_y][(size_t)x % c->dots_x];
    c->owner[cell] = (uint8_t)(series % STYLES + 1);
}

static void draw_line(canvas *c, long x0, long y0, long x1, long y1, size_t series)
{
    long dx = labs(x1 - x0), dy = labs(y1 - y0), steps = dx > dy ? dx : dy;
    for (long i = 0; i <= steps; i++) {
        double t = steps ? (double)i / (double)steps : 0;
        long x = x0 + (long)((double)(x1 - x0) * t + (x1 > x0 ? 0.5 : -0.5));
        long y = y0 + (long)((double)(y1 - y0) * t + (y1 > y0 ? 0.5 : -0.5));
        set_dot(c, x, y, series);
    }
}

static void draw_series(canvas *c, const plot_figure *plot, const plot_axes *axes, size_t index)
{
    const plot_series *s = &plot->series[index];
    /* Without colours, lines of Braille dots look alike: markers distinguish them. */
    bool marked = s->style == LS_PLOT_LINE && !c->color && !c->ascii && plot->series_count > 1;
    bool line = s->style != LS_PLOT_POINTS;
    long last_x = 0, last_y = 0, marked_column = -1000;
    bool connected = false;
    for (size_t i = 0; i < s->count; i++) {
        if (!plot_visible(plot, s->x[i], s->y[i])) {
            connected = false;
            continue;
        }
        long x = (long)(plot_axis_at(&axes->x, s->x[i]) * (c->width * c->dots_x - 1) + 0.5);
        long y = (long)((1 - plot_axis_at(&axes->y, s->y[i])) * (c->height * c->dots_y - 1) + 0.5);
        if (line && connected)
            draw_line(c, last_x, last_y, x, y, index);
        else
            set_dot(c, x, y, index);
        long column = x / (long)c->dots_x;
        bool far = labs(column - marked_column) >= 10;
        bool alone = !connected && (i + 1 == s->count || !plot_visible(plot, s->x[i + 1], s->y[i + 1]));
        if (s->style != LS_PLOT_LINE || alone || (marked && far)) {
            c->marker[(size_t)(y / (long)c->dots_y) * c->width + (size_t)column] = true;
            marked_column = column;
        }
        last_x = x;
        last_y = y;
        connected = true;
    }
}

static void put_cell(const canvas *c, FILE *to, size_t cell)
{
    uint8_t mask = c->dots[cell];
    if (!mask) {
        fputc(' ', to);
        return;
    }
    size_t series = c->owner[cell] - 1u;
    if (c->marker[cell] || c->ascii) {
        put_marker(c, to, series);
        return;
    }
    char braille[4] = { (char)0xe2, (char)(0xa0 | mask >> 6), (char)(0x80 | (mask & 0x3f)), '\0' };
    if (c->color)
        fprintf(to, "\033[%dm%s\033[0m", ansi_colors[series], braille);
    else
        fputs(braille, to);
}

/* ------------------------------------------------------------------------------------------------- frame */

/* The row of characters in which a tick of the y axis stands. */
static unsigned tick_row(const canvas *c, const plot_tick *tick)
{
    return (unsigned)((1 - tick->at) * (c->height * c->dots_y - 1) + 0.5) / c->dots_y;
}

static unsigned tick_column(const canvas *c, const plot_tick *tick)
{
    return (unsigned)(tick->at * (c->width * c->dots_x - 1) + 0.5) / c->dots_x;
}

static void put_rows(const canvas *c, FILE *to, const plot_axis *y, unsigned left)
{
    for (unsigned row = 0; row < c->height; row++) {
        const plot_tick *here = NULL;
        for (size_t i = 0; i < y->tick_count; i++)
            if (tick_row(c, &y->tick[i]) == row)
                here = &y->tick[i];
        fprintf(to, "%*s ", (int)left, here ? here->label : "");
        fputs(here ? (c->ascii ? "+" : "┤") : (c->ascii ? "|" : "│"), to);
        unsigned end = c->width;
        while (end > 0 && !c->dots[row * c->width + end - 1])
            end--;
        for (unsigned column = 0; column < end; column++)
            put_cell(c, to, row * c->width + column);
        fputc('\n', to);
    }
}

static void put_x_axis(const canvas *c, FILE *to, const plot_axis *x, unsigned left)
{
    put_spaces(to, left + 1);
    fputs(c->ascii ? "+" : "└", to);
    for (unsigned column = 0; column < c->width; column++) {
        bool tick = false;
        for (size_t i = 0; i < x->tick_count; i++)
            tick |= tick_column(c, &x->tick[i]) == column;
        fputs(tick ? (c->ascii ? "+" : "┬") : (c->ascii ? "-" : "─"), to);
    }
    fputc('\n', to);
    unsigned at = 0, total = left + 2 + c->width; /* columns written, and there are */
    for (size_t i = 0; i < x->tick_count; i++) {
        const char *label = x->tick[i].label;
        unsigned length = (unsigned)strlen(label), middle = left + 2 + tick_column(c, &x->tick[i]);
        unsigned start = middle > length / 2 ? middle - length / 2 : 0;
        if (start + length > total)
            start = total > length ? total - length : 0;
        if (at > 0 && start < at + 1)
            continue; /* no room: the tick stays without a label */
        put_spaces(to, start - at);
        fputs(label, to);
        at = start + length;
    }
    fputc('\n', to);
}

/* Writes the legend, or only counts its rows if to is NULL. */
static unsigned legend(const canvas *c, const plot_figure *plot, FILE *to, unsigned columns)
{
    if (!plot_has_legend(plot))
        return 0;
    unsigned rows = 1, at = 2;
    if (to)
        put_spaces(to, 2);
    for (size_t s = 0; s < plot->series_count; s++) {
        const char *name = plot->series[s].name ? plot->series[s].name : "";
        unsigned cells = text_cells(name), most = columns > 8 ? columns - 6 : 2;
        cells = cells > most ? most : cells;
        if (at > 2 && at + 3 + 2 + cells > columns) {
            rows++;
            at = 2;
            if (to)
                fputs("\n  ", to);
        } else if (at > 2) {
            at += 3;
            if (to)
                put_spaces(to, 3);
        }
        if (to) {
            put_marker(c, to, s);
            fputc(' ', to);
            put_text(to, name, cells, c->ascii);
        }
        at += 2 + cells;
    }
    if (to)
        fputc('\n', to);
    return rows;
}

static unsigned clamp(unsigned value, unsigned low, unsigned high)
{
    return value < low ? low : value > high ? high : value;
}

ls_status plot_write_text(const plot_figure *plot, const plot_text_options *options, FILE *to, ls_error *err)
{
    static const plot_text_options defaults = { 0 };
    options = options ? options : &defaults;
    unsigned columns = clamp(options->columns ? options->columns : 72, 24, 1000);
    unsigned rows = clamp(options->rows ? options->rows : 20, 8, 500);
    char x_title[160], y_title[160], note[120];
    plot_axis_title(plot->x_label, plot->x_unit, x_title, sizeof x_title);
    plot_axis_title(plot->y_label, plot->y_unit, y_title, sizeof y_title);
    bool title = plot->title && plot->title[0];

    canvas c = { .ascii = options->ascii, .color = options->color };
    c.dots_x = c.ascii ? 1 : 2;
    c.dots_y = c.ascii ? 1 : 4;
    plot_axes axes;
    plot_axes_init(&axes, plot, 4, 4); /* for the note; ticks follow when the size is known */
    plot_note(&axes, note, sizeof note);
    unsigned around =
        2u + title + (y_title[0] != 0) + (x_title[0] != 0) + (note[0] != 0) + legend(&c, plot, NULL, columns);
    c.height = rows > around + 4 ? rows - around : 4;
    plot_axes_init(&axes, plot, clamp(columns / 10, 2, 10), clamp(c.height / 3, 2, 8));
    unsigned left = 0;
    for (size_t i = 0; i < axes.y.tick_count; i++) {
        unsigned length = (unsigned)strlen(axes.y.tick[i].label);
        left = length > left ? length : left;
    }
    c.width = columns > left + 2 + 8 ? columns - left - 2 : 8;

    size_t cells = (size_t)c.width * c.height;
    c.dots = calloc(cells, sizeof *c.dots);
    c.owner = calloc(cells, sizeof *c.owner);
    c.marker = calloc(cells, sizeof *c.marker);
    bool room = c.dots && c.owner && c.marker;
    if (room) {
        for (size_t s = 0; s < plot->series_count; s++)
            draw_series(&c, plot, &axes, s);
        if (title)
            put_centred(to, plot->title, left + 2, c.width, c.ascii);
        if (y_title[0]) {
            put_text(to, y_title, columns, c.ascii);
            fputc('\n', to);
        }
        put_rows(&c, to, &axes.y, left);
        put_x_axis(&c, to, &axes.x, left);
        if (x_title[0])
            put_centred(to, x_title, left + 2, c.width, c.ascii);
        legend(&c, plot, to, columns);
        if (note[0]) {
            put_spaces(to, 2);
            put_text(to, note, columns - 2, c.ascii);
            fputc('\n', to);
        }
    }
    free(c.dots);
    free(c.owner);
    free(c.marker);
    return room ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for a plot");
}
