/* demangle.h: names of C++ functions as their source spells them (Itanium C++ ABI, "_Z9vectorAddPKfS0_Pfi"). */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The name with template arguments, and with parameters if asked for: "ns::scale<float, 4>(float*, int)". False, with
 * the name as it is, if it is not mangled or uses a part of the ABI that is not known here (expressions, decltype). */
bool demangle(const char *name, bool with_parameters, char *out, size_t out_bytes);

#endif
