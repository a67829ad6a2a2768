/* plugin.c: the smallest plug-ins, good and bad, for test_registry.c. Which one is built is a macro. */
#include "lockstep/block.h"

#define TOY_BLOCK(variable_, name_, abi_)                                                                     \
    static const ls_block_type variable_ = { .abi = (abi_), .slot = "toy", .name = (name_), .help = "a toy" }

#if defined PLUGIN_GOOD || defined PLUGIN_NOT_ONE

/* Calls back into the program, which must export its interface. */
static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    (void)machine;
    (void)spec;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "built by the plug-in");
}

static const ls_machine_type machine = {
    .abi = LS_ABI_VERSION, .name = "plugged-machine", .help = "a toy", .build = build
};
LS_REGISTER_MACHINE(machine);
TOY_BLOCK(late, "zz-plugged", LS_ABI_VERSION);
LS_REGISTER_BLOCK(late);
TOY_BLOCK(early, "aa-plugged", LS_ABI_VERSION);
LS_REGISTER_BLOCK(early);

#elif defined PLUGIN_DUPLICATE

TOY_BLOCK(fresh, "fresh", LS_ABI_VERSION);
LS_REGISTER_BLOCK(fresh);
TOY_BLOCK(again, "beta", LS_ABI_VERSION);
LS_REGISTER_BLOCK(again);

#elif defined PLUGIN_DUPLICATE_MACHINE

static const ls_machine_type machine = { .abi = LS_ABI_VERSION, .name = "toy-machine", .help = "a toy" };
LS_REGISTER_MACHINE(machine);

#elif defined PLUGIN_OLD_BLOCK

TOY_BLOCK(fresh, "fresh", LS_ABI_VERSION);
LS_REGISTER_BLOCK(fresh);
TOY_BLOCK(old, "old", 0);
LS_REGISTER_BLOCK(old);

#elif defined PLUGIN_NO_SLOT

static const ls_block_type fresh = { .abi = LS_ABI_VERSION, .slot = "toi", .name = "fresh", .help = "a toy" };
LS_REGISTER_BLOCK(fresh);

#elif defined PLUGIN_OLD

LS_API ls_plugin_info lockstep_plugin(void); /* as headers of another version would define it */
LS_API ls_plugin_info lockstep_plugin(void)
{
    return (ls_plugin_info){ .abi = 9999 };
}

#else /* PLUGIN_EMPTY */

extern int plugin_is_not_empty_for_the_compiler;

#endif
