/* retired.h: keys and values of earlier versions and their replacements. A platform file that has one is
 * refused with the new spelling in the error. */
#ifndef PLATFORM_RETIRED_H
#define PLATFORM_RETIRED_H

#include <stddef.h>

/* The replacement of the key, or of the key's value: "l2.hash: none"; NULL: there is none. The text lies in
 * out. */
const char *retired_key(const char *path, char *out, size_t out_bytes);
const char *retired_value(const char *path, const char *value, char *out, size_t out_bytes);

#endif
