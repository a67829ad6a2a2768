/* block.h: hardware blocks, ports and machines, registered by declaration in their own file.
 *
 * A block is three things: an immutable spec (filled from the platform file by its parameter table), plain
 * state, and functions. It knows other blocks only through ports (inside its domain) and links (to other
 * domains). A new block is one new file that ends with LS_REGISTER_BLOCK(type); the same file built with
 * -DLOCKSTEP_PLUGIN as a shared object is a plug-in for `lockstep --plugin file.so`. */
#ifndef LOCKSTEP_BLOCK_H
#define LOCKSTEP_BLOCK_H

#include "lockstep/engine.h"
#include "lockstep/metric.h"
#include "lockstep/param.h"
#include "lockstep/state.h"

#include <stdbool.h>

typedef struct ls_block ls_block;
typedef struct ls_machine ls_machine;

/* ------------------------------------------------------------------------------------------------ ports */

/* A block's reference to a neighbour: the neighbour's function table and state. */
typedef struct ls_port {
    const void *ops; /* points to the interface's struct of functions */
    void *self;      /* first argument of each of them */
} ls_port;

typedef struct ls_port_decl {
    const char *name;      /* "l1" */
    const char *interface; /* "memory/1": both sides must name the same */
    const void *ops;       /* provided port: the function table; NULL for a used port */
    uint32_t offset;       /* used port: of the ls_port in the state */
} ls_port_decl;

/* An interface: the functions of a provided port's table, in order. A model must have all of them. Another
 * version of an interface has another name. */
typedef struct ls_interface {
    const char *name;             /* "core/1" */
    const char *header;           /* "lockstep/core.h" */
    const char *const *functions; /* ends with NULL */
} ls_interface;

/* A port that the blocks of a slot have. */
typedef struct ls_slot_port {
    const char *name;
    const ls_interface *interface;
    bool used;     /* by the block; else the block provides it */
    bool optional; /* a block may lack this port; a block that has it must fill the whole table */
} ls_slot_port;

/* ----------------------------------------------------------------------------------------------- blocks */

typedef struct ls_block_type {
    uint32_t abi;     /* LS_ABI_VERSION */
    const char *slot; /* the place it can stand in: "dram", "core.scheduler" */
    const char *name; /* the model: "bank", "gto" */
    const char *help; /* one line */

    size_t spec_size;
    const ls_param *params;
    size_t param_count;
    const ls_need *needs; /* when parameters act; all others always do */
    size_t need_count;

    size_t state_size; /* zeroed before init */
    const ls_metric *metrics;
    size_t metric_count;
    uint32_t counters_offset; /* of the counter struct in the state */

    const ls_port_decl *ports;
    size_t port_count;

    ls_status (*init)(ls_block *block, void *state, const void *spec, ls_error *err); /* all may be NULL */
    void (*fini)(void *state);
    ls_wait_fn waits;
    /* Before counters are read: all cycles before `end` have run, and the state must show them. For blocks that do work later
     * than it happens, where nothing else of the machine can tell. NULL: the state always shows them. */
    void (*settle)(void *state, ls_cycle end);

    /* Every field of the state (state.h). Without it a machine with this block cannot be saved; a type without
     * state needs none. */
    const ls_state_row *rows;
    size_t row_count;
} ls_block_type;

/* The members of an ls_block_type that say where its tables are: `n_` is the counter struct in the state. */
/* clang-format off */
#define LS_BLOCK_PARAMS(spec_, params_)                                                                       \
    .spec_size = sizeof(spec_), .params = (params_), .param_count = LS_COUNT_OF(params_)
#define LS_BLOCK_STATE(state_, n_, metrics_, ports_)                                                          \
    .state_size = sizeof(state_), .counters_offset = offsetof(state_, n_), .metrics = (metrics_),             \
    .metric_count = LS_COUNT_OF(metrics_), .ports = (ports_), .port_count = LS_COUNT_OF(ports_)
/* clang-format on */

/* A block of the machine. spec is copied (spec_size bytes); it lives in region's domain. */
LS_API ls_status ls_block_create(ls_region *region, const char *name, const ls_block_type *type,
                                 const void *spec, ls_block **out, ls_error *err);
LS_API const char *ls_block_name(const ls_block *block);
LS_API const ls_block_type *ls_block_type_of(const ls_block *block);
LS_API ls_region *ls_block_region(const ls_block *block);
LS_API void *ls_block_state(ls_block *block);
LS_API const void *ls_block_spec(const ls_block *block);

/* Connects user's used port to provider's provided port; both must live in one domain. */
LS_API ls_status ls_block_connect(ls_block *user, const char *used, ls_block *provider, const char *provided,
                                  ls_error *err);
/* The port of this interface that the block provides: for those who wire blocks of any model. */
LS_API ls_status ls_block_port(ls_block *block, const char *interface, ls_port *out, ls_error *err);
/* Whether blocks of the type provide (or use) a port of this interface; its declaration. NULL: no. */
LS_API const ls_port_decl *ls_block_type_port(const ls_block_type *type, const char *interface, bool used);
/* Fails, naming the first used port that is connected to nothing. */
LS_API ls_status ls_engine_check_ports(const ls_engine *engine, ls_error *err);

/* In creation order. */
LS_API uint32_t ls_engine_block_count(const ls_engine *engine);
LS_API ls_block *ls_engine_block(const ls_engine *engine, uint32_t index);
LS_API ls_block *ls_engine_find_block(const ls_engine *engine, const char *name); /* NULL if there is none */

/* --------------------------------------------------------------------------------------------- machines */

/* A section of the platform file, filled by whichever model of `slot` its `model` key names. */
typedef struct ls_section {
    const char *path; /* "core.l1" */
    const char *slot;
    const char *default_model; /* NULL: must be given */
    const char *help;
    const ls_slot_port *ports; /* that every model of the slot has; NULL: none is checked */
    size_t port_count;
} ls_section;

/* A kind of machine, built for `machine: NAME` in a platform file. */
typedef struct ls_machine_type {
    uint32_t abi;
    const char *name;
    const char *help;
    size_t spec_size;
    const ls_param *params; /* keys of the file's top level; names may have dots */
    size_t param_count;
    const ls_need *needs;
    size_t need_count;
    const ls_section *sections;
    size_t section_count;
    ls_status (*build)(ls_machine *machine, const void *spec, ls_error *err);
} ls_machine_type;

/* For build(): the engine to fill, and the platform file's choices for a section. */
LS_API ls_engine *ls_machine_engine(ls_machine *machine);
/* Of several machines in one engine: from 0. Names of domains and blocks begin with it: "gpu0.". */
LS_API uint32_t ls_machine_number(const ls_machine *machine);
/* Of a GPU: whether its system has a fabric (lockstep/fabric.h), to which it connects. */
LS_API bool ls_machine_fabric(const ls_machine *machine);
/* Of a GPU: whether its system has a model of slot `migrate`. Then its page walks go to the host. */
LS_API bool ls_machine_migrates(const ls_machine *machine);
/* Of a system: how many GPUs it has. */
LS_API uint32_t ls_machine_parts(const ls_machine *machine);
LS_API const ls_block_type *ls_machine_model(ls_machine *machine, const char *section);
LS_API const void *ls_machine_spec(ls_machine *machine, const char *section);
/* ls_block_create() with the section's model and spec. */
LS_API ls_status ls_machine_block(ls_machine *machine, ls_region *region, const char *name,
                                  const char *section, ls_block **out, ls_error *err);

/* Whether a model is one of this section: it names the slot and has its first port, unless that is
 * optional. Two machines may have a section of
 * one name for different hardware. */
LS_API bool ls_section_takes(const ls_section *section, const ls_block_type *model);
/* Whether a model has every port of a slot, with every function: the line names the port or function that is
 * missing. */
LS_API ls_status ls_section_check(const ls_section *section, const ls_block_type *model, ls_error *err);

/* --------------------------------------------------------------------------------------------- registry */

/* Sorted by (slot, name). The program's own types join at the first call; ls_registry_check() does it with an
 * error for two types of one name. */
LS_API ls_status ls_registry_check(ls_error *err);
LS_API size_t ls_registry_block_count(void);
LS_API const ls_block_type *ls_registry_block(size_t index);
LS_API const ls_block_type *ls_registry_find_block(const char *slot, const char *name);
LS_API size_t ls_registry_machine_count(void);
LS_API const ls_machine_type *ls_registry_machine(size_t index);
LS_API const ls_machine_type *ls_registry_find_machine(const char *name);

/* Loads a plug-in and adds what it registers. Refuses another ABI version, duplicate names, slots that no
 * machine has, and models that lack a port or a function of their slot. Not thread-safe: call it before
 * anything runs. */
LS_API ls_status ls_plugin_load(const char *path, ls_error *err);

/* The registrations of one module (the program itself, or one plug-in). */
typedef struct ls_registration {
    const ls_block_type *block; /* one of the two is set */
    const ls_machine_type *machine;
} ls_registration;

typedef struct ls_plugin_info {
    uint32_t abi;
    const ls_registration *const *first, *const *last; /* [first, last) */
} ls_plugin_info;

/* Registration is data, not code: a pointer in a linker section that is walked when the registry is first
 * used. Nothing runs before main. */
/* clang-format off */
#define LS_REGISTER_(type_, kind_)                                                                            \
    static const ls_registration ls_registration_##type_ = { .kind_ = &(type_) };                             \
    __attribute__((section("ls_registry"), used)) static const ls_registration *const                         \
        ls_registered_##type_ = &ls_registration_##type_
#define LS_REGISTER_BLOCK(type_) LS_REGISTER_(type_, block)
#define LS_REGISTER_MACHINE(type_) LS_REGISTER_(type_, machine)
/* clang-format on */

#ifdef LOCKSTEP_PLUGIN
extern const ls_registration *const __start_ls_registry[] __attribute__((weak, visibility("hidden")));
extern const ls_registration *const __stop_ls_registry[] __attribute__((weak, visibility("hidden")));

/* ls_plugin_load() looks for this function. Weak, so that several files of one plug-in may each include this
 * header. */
LS_API __attribute__((weak)) ls_plugin_info lockstep_plugin(void);
LS_API __attribute__((weak)) ls_plugin_info lockstep_plugin(void)
{
    return (ls_plugin_info){ .abi = LS_ABI_VERSION, .first = __start_ls_registry, .last = __stop_ls_registry };
}
#endif

#endif
