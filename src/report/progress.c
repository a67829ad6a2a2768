/* progress.c: rates, the estimate and the drawing of the progress line. Touches only the stream it was given;
 * a failed write is ignored, because the line is not a result. */
#include "report/progress.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NS_PER_S 1000000000.0
#define QUIET_NS UINT64_C(1000000000)   /* no line before this */
#define INTERVAL_NS UINT64_C(100000000) /* between two drawings */
#define SMOOTHING_S 3.0                 /* about so many seconds count for a rate */
#define BAR_CELLS 20

void progress_begin(progress_line *p, FILE *to, bool force, const ls_clock *clock, unsigned columns,
                    uint64_t now_ns)
{
    *p = (progress_line){ .to = to, .columns = columns, .start_ns = now_ns, .seen_ns = now_ns };
    if (clock) {
        p->clock = *clock;
        p->has_clock = true;
    }
    const char *term = getenv("TERM");
    bool dumb = term && strcmp(term, "dumb") == 0; /* cannot wipe a line */
    p->on = to && (force || (isatty(fileno(to)) && !dumb));
    struct winsize size;
    if (p->on && columns == 0 && ioctl(fileno(to), TIOCGWINSZ, &size) == 0)
        p->columns = size.ws_col;
    if (p->columns == 0)
        p->columns = 80;
}

void progress_clear(progress_line *p)
{
    if (!p->visible)
        return;
    fputs("\r\033[K", p->to);
    fflush(p->to);
    p->visible = false;
}

/* Exponential smoothing whose weight follows the real time between two looks. */
static void smooth(double *rate, double change, double seconds, bool rated)
{
    double fresh = change / seconds;
    double weight = rated ? seconds / (seconds + SMOOTHING_S) : 1;
    *rate += weight * (fresh - *rate);
}

static void look(progress_line *p, const progress_state *state, uint64_t now_ns)
{
    if (now_ns <= p->seen_ns)
        return;
    double seconds = (double)(now_ns - p->seen_ns) / NS_PER_S;
    smooth(&p->fs_rate, (double)state->now - (double)p->seen.now, seconds, p->rated);
    smooth(&p->event_rate, (double)state->events - (double)p->seen.events, seconds, p->rated);
    if (state->fraction >= 0)
        smooth(&p->fraction_rate, state->fraction - p->seen.fraction, seconds, p->rated);
    p->rated = true;
    p->seen = *state;
    p->seen.fraction = state->fraction >= 0 ? state->fraction : 0;
    p->seen_ns = now_ns;
}

/* h:mm:ss or m:ss */
static void format_duration(double seconds, char *out, size_t bytes)
{
    uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 0;
    if (seconds >= 1e9)
        snprintf(out, bytes, "years");
    else if (s >= 3600)
        snprintf(out, bytes, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    else
        snprintf(out, bytes, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

/* The parts of the line, from left to right. When it is too long, parts are dropped, highest `keep` first. */
enum { PART_BAR, PART_PERCENT, PART_TIME, PART_CYCLES, PART_EVENTS, PART_ETA, PARTS };
static const int keep[PARTS] = { 5, 0, 1, 3, 4, 2 };

typedef struct line_part {
    char text[48];
} line_part;

static void fill_bar(double fraction, line_part *part)
{
    char bar[BAR_CELLS + 1];
    unsigned done = (unsigned)(fraction * BAR_CELLS);
    for (unsigned i = 0; i < BAR_CELLS; i++)
        bar[i] = i < done ? '#' : '-';
    bar[BAR_CELLS] = '\0';
    snprintf(part[PART_BAR].text, sizeof part->text, "[%s]", bar);
    unsigned tenths = (unsigned)(fraction * 1000);
    snprintf(part[PART_PERCENT].text, sizeof part->text, "%3u.%u%%", tenths / 10, tenths % 10);
}

static void fill_eta(double seconds, line_part *part)
{
    char duration[24];
    format_duration(seconds, duration, sizeof duration);
    snprintf(part[PART_ETA].text, sizeof part->text, "ETA %s", duration);
}

/* Pieces take long and end in bursts: the mean over the whole time is a better estimate than the last
 * seconds. */
static void fill_pieces(const progress_line *p, const progress_state *state, uint64_t now_ns, line_part *part)
{
    double elapsed = (double)(now_ns - p->start_ns) / NS_PER_S;
    fill_bar((double)state->done / (double)state->total, part);
    snprintf(part[PART_TIME].text, sizeof part->text, "%" PRIu64 " of %" PRIu64 " %s", state->done,
             state->total, state->unit);
    if (state->done > 0 && state->done < state->total)
        fill_eta(elapsed * (double)(state->total - state->done) / (double)state->done, part);
}

static void fill_parts(const progress_line *p, const progress_state *state, uint64_t now_ns, line_part *part)
{
    char number[32], duration[24];
    if (state->total > 0) {
        fill_pieces(p, state, now_ns, part);
        return;
    }
    double elapsed = (double)(now_ns - p->start_ns) / NS_PER_S;
    double fraction = state->fraction > 1 ? 1 : state->fraction;
    if (fraction >= 0) {
        fill_bar(fraction, part);
        if (fraction < 1 && p->fraction_rate > 0)
            fill_eta((1 - fraction) / p->fraction_rate, part);
    } else {
        format_duration(elapsed, duration, sizeof duration);
        snprintf(part[PART_PERCENT].text, sizeof part->text, "%s elapsed", duration);
    }
    snprintf(part[PART_TIME].text, sizeof part->text, "%s simulated",
             format_time(state->now, number, sizeof number));
    double rate = p->fs_rate / (double)LS_FS_PER_SECOND;
    if (p->has_clock)
        rate = p->fs_rate * (double)p->clock.period_den / (double)p->clock.period_num;
    snprintf(part[PART_CYCLES].text, sizeof part->text, "%s",
             format_si(rate, p->has_clock ? "cycles/s" : "s/s", number, sizeof number));
    snprintf(part[PART_EVENTS].text, sizeof part->text, "%s",
             format_si(p->event_rate, "events/s", number, sizeof number));
}

static size_t line_length(const line_part *part)
{
    size_t length = 0;
    for (int i = 0; i < PARTS; i++)
        if (part[i].text[0])
            length += strlen(part[i].text) + (length ? 2 : 0);
    return length;
}

void progress_update(progress_line *p, const progress_state *state, uint64_t now_ns)
{
    bool early = now_ns < p->start_ns || now_ns - p->start_ns < QUIET_NS;
    bool soon = p->drawn_ns && now_ns < p->drawn_ns + INTERVAL_NS;
    if (!p->on || early || soon)
        return;
    look(p, state, now_ns);
    p->drawn_ns = now_ns;

    line_part part[PARTS] = { 0 };
    fill_parts(p, state, now_ns, part);
    for (int rank = PARTS - 1; rank > 0 && line_length(part) >= p->columns; rank--)
        for (int i = 0; i < PARTS; i++)
            if (keep[i] == rank)
                part[i].text[0] = '\0';

    char line[sizeof part + 2 * PARTS];
    size_t length = 0;
    for (int i = 0; i < PARTS; i++)
        if (part[i].text[0])
            length += (size_t)snprintf(line + length, sizeof line - length, "%s%s", length ? "  " : "",
                                       part[i].text);
    size_t room = p->columns - 1; /* the last column would wrap on some terminals */
    fprintf(p->to, "\r\033[K%.*s", (int)(length < room ? length : room), line);
    fflush(p->to);
    p->visible = true;
}
