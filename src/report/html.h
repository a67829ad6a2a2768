/* html.h: the frame of our self-contained pages: one style, no scripts, nothing loaded from elsewhere. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

/* Up to the first heading. Write errors show in the stream. */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);
/* Escaped for content and attributes. */
void html_text(FILE *to, const char *text);
/* <td>text</td> or <th>. Numbers stand at the right, texts at the left. */
void html_cell(FILE *to, const char *tag, const char *text);
/* <th>text</th>, at the side of a cell below it. */
void html_head_cell(FILE *to, const char *text, const char *below);

#endif
