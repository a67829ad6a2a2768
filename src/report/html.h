/* html.h: the frame of our self-contained pages: one style, no scripts, nothing loaded from elsewhere. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

/* Up to the first heading. Write errors show in the stream. */
void ls_html_begin(FILE *to, const char *title);
void ls_html_end(FILE *to);
/* Escaped for content and attributes. */
void ls_html_text(FILE *to, const char *text);
/* <td>text</td> or <th>. */
void ls_html_cell(FILE *to, const char *tag, const char *text);

#endif
