/* diff.h: the parts of the differential test: values (what goes in), references (what must come out).
 *
 * The kernels under kernels/ say by the names of their arguments what the test does with them:
 *
 *     a, b, c ...      inputs: corner values of their type (pairs of corners in a and b), then random bits
 *     unit...          floats in [-1, 1)
 *     small...         whole numbers from 0 to 15
 *     half_...         ushorts with the bits of 16-bit floats
 *     out...           results, 32 elements per work-item, zero before; equal to the bit, a NaN equals a NaN
 *     out_half...      results, the bits of 16-bit floats
 *     out..._zero      as out, but zeros of either sign are equal
 *     out_ulpN         results that may be N units in the last place away from the CPU's
 *     args_N           as a type: a structure of N bytes, given by value
 *
 * Results of kernels named f32_X and f64_X are compared with the reference X instead of the CPU's. */
#ifndef POCL_DIFF_H
#define POCL_DIFF_H

#include "lockstep/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------ values */

typedef struct value_type {
    char kind;     /* i, u: integers; f: floats of 2, 4 or 8 bytes; s: structure */
    uint8_t bytes; /* of an element */
    uint8_t width; /* elements as stored: 1, 2, 4, 8 or 16 */
} value_type;

/* From OpenCL's name of a type, "uint4*" or "uint4"; false if it is none. */
bool value_type_parse(const char *name, value_type *out);

/* Fills count elements as the argument's name says. `which` counts the inputs of the kernel: 0 runs through
 * the corners fast, 1 slowly, so that all pairs occur. */
void value_fill(const char *arg_name, value_type type, unsigned which, void *data, size_t count,
                ls_random *random);

double value_get(value_type type, const void *data, size_t index); /* of floats, exact */
bool value_is_subnormal(value_type type, const void *data, size_t index);
/* The element as text, for messages. Returns out. */
const char *value_text(value_type type, const void *data, size_t index, char *out, size_t out_bytes);

/* -------------------------------------------------------------------------------------------- references */

typedef struct reference {
    const char *name;
    long double (*one)(long double);
    long double (*two)(long double, long double);
    double ulps32, ulps64; /* OpenCL 1.2, section 7.4 and OpenCL 2.0's for double */
    bool may_flush;        /* one instruction that takes 32-bit subnormals for 0 on every target */
} reference;

/* For the kernel "f32_sin" or "f64_sin"; NULL if it is no such kernel. *found is false for an unknown X. */
const reference *reference_find(const char *kernel, bool *found);

/* Distance of `got` from `expected`, in units in the last place of a float of this many bytes. It is 0 for
 * equal classes (NaN, infinity of one sign), infinite for different ones. An infinity in place of a value that
 * rounds beyond the largest is 0 too. */
double reference_ulps(double got, long double expected, unsigned bytes);

#endif
