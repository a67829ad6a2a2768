/* svg.c: see svg.h. */
#include "report/svg.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const colors[] = { "#1f5fa8", "#c8451b", "#13795b", "#8a4fa3",
                                      "#a87500", "#2f8fb5", "#5b5b5b", "#a3304f" };

const char *svg_color(size_t series)
{
    return colors[series % LS_COUNT_OF(colors)];
}

/* Two decimals, trailing zeros cut, a point in every locale. */
void svg_number(FILE *to, double value)
{
    long hundredths = lround(value * 100);
    unsigned long size = (unsigned long)labs(hundredths);
    fprintf(to, "%s%lu", hundredths < 0 ? "-" : "", size / 100);
    if (size % 100)
        fprintf(to, size % 10 ? ".%02lu" : ".%01lu", size % 10 ? size % 100 : size % 100 / 10);
}

void svg_attribute(FILE *to, const char *name, double value)
{
    fprintf(to, " %s=\"", name);
    svg_number(to, value);
    fputc('"', to);
}

/* Text between tags: markup escaped, what XML or UTF-8 forbids shown as '?'. */
void svg_escaped(FILE *to, const char *s)
{
    size_t bytes = strlen(s);
    while (bytes > 0) {
        size_t valid = utf8_check(s, bytes);
        for (size_t i = 0; i < valid; i++) {
            unsigned char c = (unsigned char)s[i];
            if (c == '&')
                fputs("&amp;", to);
            else if (c == '<')
                fputs("&lt;", to);
            else if (c == '>')
                fputs("&gt;", to);
            else
                fputc(c < 0x20 || c == 0x7f ? '?' : c, to);
        }
        s += valid;
        bytes -= valid;
        if (bytes > 0) {
            fputc('?', to);
            s++;
            bytes--;
        }
    }
}

static size_t text_characters(const char *s)
{
    size_t count = 0;
    for (; *s; s++)
        count += ((unsigned char)*s & 0xc0) != 0x80;
    return count;
}

/* About as wide as a common sans-serif font sets it. */
double svg_text_width(const char *s, double size)
{
    return (double)text_characters(s) * size * 0.56;
}

void svg_text(FILE *to, double x, double y, const char *class, const char *text)
{
    fprintf(to, "<text class=\"%s\"", class);
    svg_attribute(to, "x", x);
    svg_attribute(to, "y", y);
    fputc('>', to);
    svg_escaped(to, text);
    fputs("</text>\n", to);
}

void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *class)
{
    fprintf(to, "<line class=\"%s\"", class);
    svg_attribute(to, "x1", x1);
    svg_attribute(to, "y1", y1);
    svg_attribute(to, "x2", x2);
    svg_attribute(to, "y2", y2);
    fputs("/>\n", to);
}

void svg_begin(FILE *to, const char *title, double height)
{
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", to);
    svg_attribute(to, "width", SVG_WIDTH);
    svg_attribute(to, "height", height);
    fputs(" viewBox=\"0 0 ", to);
    svg_number(to, SVG_WIDTH);
    fputc(' ', to);
    svg_number(to, height);
    fputs("\">\n<title>", to);
    svg_escaped(to, title && title[0] ? title : "plot");
    fputs("</title>\n<style>\n"
          "text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; "
          "font-size: 13px; fill: #333 }\n"
          ".title { font-size: 17px; font-weight: 600; fill: #111 }\n"
          ".end { text-anchor: end } .middle { text-anchor: middle }\n"
          ".tick { fill: #555 } .note { font-size: 12px; fill: #a33 } .value { font-size: 10px; fill: #555 }\n"
          ".grid { stroke: #e4e4e4; stroke-width: 1 } .axis { stroke: #444; stroke-width: 1.2 }\n"
          ".line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
          to);
}
