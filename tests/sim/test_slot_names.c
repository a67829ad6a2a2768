/* A slot is named by its path in the platform file, in every machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/block.h"

#include <string.h>

static void slots_have_the_names_of_their_sections(void **state)
{
    (void)state;
    size_t sections = 0;
    static const char *const machines[] = { "gpu", "amd" };
    for (size_t m = 0; m < LS_COUNT_OF(machines); m++) {
        const ls_machine_type *machine = ls_registry_find_machine(machines[m]);
        assert_non_null(machine);
        for (size_t i = 0; i < machine->section_count; i++, sections++)
            assert_string_equal(machine->sections[i].slot, machine->sections[i].path);
    }
    assert_true(sections >= 22);
}

/* Reports name block types by slot and model: where machines share a slot's name, a model belongs to one of them, or to
 * all with the same ports. */
static void a_model_has_one_meaning(void **state)
{
    (void)state;
    const ls_machine_type *gpu = ls_registry_find_machine("gpu"), *amd = ls_registry_find_machine("amd");
    for (size_t b = 0; b < ls_registry_block_count(); b++)
        for (size_t i = 0; i < gpu->section_count; i++)
            for (size_t k = 0; k < amd->section_count; k++) {
                const ls_block_type *model = ls_registry_block(b);
                if (!ls_section_takes(&gpu->sections[i], model) || !ls_section_takes(&amd->sections[k], model))
                    continue;
                assert_int_equal(ls_section_check(&gpu->sections[i], model, NULL), LS_OK);
                assert_int_equal(ls_section_check(&amd->sections[k], model, NULL), LS_OK);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_have_the_names_of_their_sections),
        cmocka_unit_test(a_model_has_one_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
