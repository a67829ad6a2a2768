/* html.c: see html.h. */
#include "report/html.h"

#include "lockstep/version.h"
#include "report/page/page.h"

#include <stdbool.h>
#include <string.h>

void html_begin(FILE *to, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Lockstep: ", to);
    html_text(to, title);
    fprintf(
        to,
        "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>%s</style></head>\n<body>\n",
        (const char *)page_css);
    fprintf(to, "<h1>Lockstep %s: ", LS_VERSION_STRING);
    html_text(to, title);
    fputs("</h1>\n", to);
}

void html_end(FILE *to)
{
    fputs("</body></html>\n", to);
}

void html_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*text, to);
        }
}

/* Numbers stand at the right of their column, with their unit if they have one: "12.5 %". */
static bool is_number(const char *text)
{
    text += strspn(text, "+-~<>=");
    return *text >= '0' && *text <= '9';
}

static void cell(FILE *to, const char *tag, const char *text, bool left)
{
    fprintf(to, "<%s%s>", tag, left ? " class=\"text\"" : "");
    html_text(to, text);
    fprintf(to, "</%s>", tag);
}

void html_cell(FILE *to, const char *tag, const char *text)
{
    cell(to, tag, text, text[0] && !is_number(text));
}

void html_head_cell(FILE *to, const char *text, const char *below)
{
    cell(to, "th", text, below && below[0] && !is_number(below));
}
