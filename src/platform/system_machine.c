/* system_machine.c: the machine type `system`: its slots, and what is built beside the GPUs. The models of the slots
 * stand in other layers; `none` is here. */
#include "engine/machine.h"
#include "engine/fabric_ends.h"
#include "lockstep/host.h"
#include "lockstep/migrate.h"
#include "platform/system.h"

/* Every member of a table is a function, so that their number follows from its size. */
#define CHECK(functions_, ops_, optional_)                                                                    \
    _Static_assert(LS_COUNT_OF(functions_) - 1 + (optional_) == sizeof(ops_) / sizeof(void (*)(void)),        \
                   "a name for each function of " #ops_)

static const char *const fabric_functions[] = { "build", NULL };
CHECK(fabric_functions, ls_fabric_ops, 0);
static const char *const host_functions[] = { "build", "describe", "attach", "end", "set_pages", NULL };
CHECK(host_functions, ls_host_ops, 3); /* of pages that migrate */
static const char *const migrate_functions[] = { "build", "keys", "decide", NULL };
CHECK(migrate_functions, ls_migrate_ops, 0);
static const ls_interface fabric_interface = { LS_FABRIC_INTERFACE, "lockstep/fabric.h", fabric_functions };
static const ls_interface host_interface = { LS_HOST_INTERFACE, "lockstep/host.h", host_functions };
static const ls_interface migrate_interface = { LS_MIGRATE_INTERFACE, "lockstep/migrate.h",
                                                migrate_functions };

static const ls_slot_port fabric_ports[] = {
    { .name = LS_FABRIC_PORT, .interface = &fabric_interface, .optional = true }
};
static const ls_slot_port host_ports[] = {
    { .name = LS_HOST_PORT, .interface = &host_interface, .optional = true }
};
static const ls_slot_port migrate_ports[] = {
    { .name = LS_MIGRATE_PORT, .interface = &migrate_interface, .optional = true }
};

static const ls_section sections[] = {
    { .path = LS_FABRIC_SLOT,
      .slot = LS_FABRIC_SLOT,
      .default_model = "none",
      .help = "the network between the GPUs and the host",
      .ports = fabric_ports,
      .port_count = LS_COUNT_OF(fabric_ports) },
    { .path = LS_HOST_SLOT,
      .slot = LS_HOST_SLOT,
      .default_model = "none",
      .help = "the host: its memory and its IOMMU",
      .ports = host_ports,
      .port_count = LS_COUNT_OF(host_ports) },
    { .path = LS_MIGRATE_SLOT,
      .slot = LS_MIGRATE_SLOT,
      .default_model = "none",
      .help = "pages that move between GPUs and the host while programs run",
      .ports = migrate_ports,
      .port_count = LS_COUNT_OF(migrate_ports) },
};

/* The model of a slot; NULL: one that adds nothing. */
static const ls_block_type *model_of(const ls_machine *machine, const char *slot, const char *interface)
{
    const ls_block_type *model = ls_machine_model((ls_machine *)(uintptr_t)machine, slot);
    return model && ls_block_type_port(model, interface, false) ? model : NULL;
}

bool system_has_fabric(const ls_machine *system)
{
    return system->type == &system_machine && model_of(system, LS_FABRIC_SLOT, LS_FABRIC_INTERFACE) != NULL;
}

bool system_migrates(const ls_machine *system)
{
    return system->type == &system_machine && model_of(system, LS_MIGRATE_SLOT, LS_MIGRATE_INTERFACE) != NULL;
}

static const void *ops_of(const ls_block_type *model, const char *interface)
{
    return ls_block_type_port(model, interface, false)->ops;
}

static ls_status build_fabric(ls_machine *machine, const ls_block_type *model, ls_error *err)
{
    ls_engine *engine = ls_machine_engine(machine);
    const ls_fabric_ops *ops = ops_of(model, LS_FABRIC_INTERFACE);
    ls_fabric_plan plan;
    ls_status status = fabric_collect_ends(engine, ls_machine_parts(machine), &plan, err);
    if (status == LS_OK)
        status = ops->build(engine, ls_machine_spec(machine, LS_FABRIC_SLOT), &plan, err);
    return status == LS_OK ? fabric_check_ends(&plan, model->name, err) : status;
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    ls_engine *engine = ls_machine_engine(machine);
    const ls_block_type *host = model_of(machine, LS_HOST_SLOT, LS_HOST_INTERFACE),
                        *fabric = model_of(machine, LS_FABRIC_SLOT, LS_FABRIC_INTERFACE),
                        *migrate = model_of(machine, LS_MIGRATE_SLOT, LS_MIGRATE_INTERFACE);
    uint32_t gpus = ls_machine_parts(machine);
    (void)spec;
    if (host && !fabric)
        return ls_fail(err, LS_ERR_INPUT, "the host is reached over the fabric, but fabric.model is 'none'");
    if (migrate && !host)
        return ls_fail(
            err, LS_ERR_INPUT,
            "migrate.model is '%s', but host.model is 'none': the IOMMU of the host has the directory",
            migrate->name);
    if (!host && ls_engine_part(engine, LS_HOST_WALKS_PART, 0) != NULL)
        return ls_fail(err, LS_ERR_INPUT, "mmu.walks is 'host', but host.model is 'none'");
    ls_status status = LS_OK;
    if (host)
        status = ((const ls_host_ops *)ops_of(host, LS_HOST_INTERFACE))
                     ->build(engine, host, ls_machine_spec(machine, LS_HOST_SLOT), gpus, err);
    if (status == LS_OK && migrate)
        status = ((const ls_migrate_ops *)ops_of(migrate, LS_MIGRATE_INTERFACE))
                     ->build(engine, migrate, ls_machine_spec(machine, LS_MIGRATE_SLOT), gpus, err);
    if (status == LS_OK && fabric)
        status = build_fabric(machine, fabric, err);
    return status;
}

const ls_machine_type system_machine = {
    .abi = LS_ABI_VERSION,
    .name = LS_SYSTEM_MACHINE,
    .help = "several GPUs, each with a platform of its own",
    .sections = sections,
    .section_count = LS_COUNT_OF(sections),
    .build = build,
};
LS_REGISTER_MACHINE(system_machine);

static const ls_block_type no_fabric = {
    .abi = LS_ABI_VERSION,
    .slot = LS_FABRIC_SLOT,
    .name = "none",
    .help = "the GPUs are not connected",
};
LS_REGISTER_BLOCK(no_fabric);

static const ls_block_type no_host = {
    .abi = LS_ABI_VERSION,
    .slot = LS_HOST_SLOT,
    .name = "none",
    .help = "a system without a host",
};
LS_REGISTER_BLOCK(no_host);

static const ls_block_type no_migration = {
    .abi = LS_ABI_VERSION,
    .slot = LS_MIGRATE_SLOT,
    .name = "none",
    .help = "pages stay where the program put them",
};
LS_REGISTER_BLOCK(no_migration);
