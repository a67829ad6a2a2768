/* svg.h: the parts of an SVG picture that plots share: numbers, texts, lines, colours and the head. A picture needs nothing
 * from outside: no fonts, scripts or style sheets. Only plot_*.c include this. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stddef.h>
#include <stdio.h>

#define SVG_WIDTH 760.0
#define SVG_FONT 13.0 /* pixels; of all texts but titles and notes */

/* Dark enough for white paper, and different in lightness. */
const char *svg_color(size_t series);

/* Two decimals, trailing zeros cut, a point in every locale. */
void svg_number(FILE *to, double value);
/* NAME="VALUE", after a blank. */
void svg_attribute(FILE *to, const char *name, double value);
/* Text between tags: markup escaped, bytes that XML or UTF-8 forbids shown as '?'. */
void svg_escaped(FILE *to, const char *text);
/* About as wide as a common sans-serif font sets it. */
double svg_text_width(const char *text, double size);
void svg_text(FILE *to, double x, double y, const char *class, const char *text);
void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *class);

/* The opening tag, the title (may be NULL) and the classes: title, tick, note, value, name, end, middle, grid, axis, line. */
void svg_begin(FILE *to, const char *title, double height);

#endif
