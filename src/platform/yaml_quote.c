/* yaml_quote.c: writes a text as a YAML scalar. Uses base only. */
#include "base/text.h"
#include "platform/yaml.h"

#include <string.h>

/* A code point that YAML takes for a line break or refuses to read; returns its UTF-8 bytes, 0 for others. */
static size_t quote_special(text_buffer *out, const char *s)
{
    static const char *const specials[] = { "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf", "\xef\xbf\xbe",
                                            "\xef\xbf\xbf" };
    static const char *const escapes[] = { "\\u2028", "\\u2029", "\\ufeff", "\\ufffe", "\\uffff" };
    if ((unsigned char)s[0] == 0xc2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] <= 0x9f) {
        text_printf(out, "\\x%02x", (unsigned)(unsigned char)s[1]);
        return 2;
    }
    for (size_t i = 0; i < LS_COUNT_OF(specials); i++) {
        if (strncmp(s, specials[i], 3) == 0) {
            text_add(out, escapes[i]);
            return 3;
        }
    }
    return 0;
}

void yaml_quote(text_buffer *out, const char *text)
{
    text_add(out, "\"");
    for (const char *s = text; *s;) {
        unsigned char c = (unsigned char)*s;
        size_t special = c >= 0x80 ? quote_special(out, s) : 0;
        if (special > 0) {
            s += special;
            continue;
        }
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c == '\n')
            text_add(out, "\\n");
        else if (c == '\t')
            text_add(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            text_printf(out, "\\x%02x", (unsigned)c);
        else
            text_addn(out, s, 1);
        s++;
    }
    text_add(out, "\"");
}
