/* sampler_prelude.c: the words of all samplers that OpenCL C can name, as OpenCL C. */
#include "opencl/sampler_prelude.h"

#include "isa/amd/exec/image.h"

#include <inttypes.h>
#include <string.h>

/* The compiler's values of CLK_*: bit 0 normalized, from bit 1 on the addressing, from bit 4 the filter. */
enum { FIRST = 16, LAST = 41, LINEAR = 32 };

static void words_of(unsigned value, uint32_t words[4])
{
    static const uint8_t wraps[8] = { AMD_WRAP_EDGE, AMD_WRAP_EDGE, AMD_WRAP_BORDER, AMD_WRAP_REPEAT,
                                      AMD_WRAP_MIRROR };
    amd_sampler sampler = { .unnormalized = (value & 1) == 0,
                            .linear = (value & LINEAR) != 0,
                            .linear_z = (value & LINEAR) != 0 };
    memset(sampler.wrap, wraps[value >> 1 & 7], sizeof sampler.wrap);
    amd_sampler_pack(&sampler, words);
}

bool ocl_sampler_prelude_wanted(const char *source)
{
    return strstr(source, "CLK_ADDRESS_CLAMP") != NULL || strstr(source, "#include") != NULL ||
           strstr(source, "# include") != NULL;
}

void ocl_sampler_prelude(text_buffer *out)
{
    text_add(out, "# 1 \"sampler\" 3\n"
                  "__attribute__((internal_linkage)) constant uint __lockstep_samplers[] = {\n");
    for (unsigned value = FIRST; value <= LAST; value++) {
        uint32_t w[4];
        words_of(value, w);
        text_printf(out, "0x%" PRIx32 ", 0x%" PRIx32 ", 0x%" PRIx32 ", 0x%" PRIx32 ",\n", w[0], w[1], w[2],
                    w[3]);
    }
    text_printf(out,
                "};\n"
                "__attribute__((always_inline, internal_linkage)) constant void *"
                "__translate_sampler_initializer(int i) { return __lockstep_samplers + (i - %d) * 4; }\n"
                "# 1 \"<stdin>\"\n",
                FIRST);
}
