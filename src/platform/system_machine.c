/* system_machine.c: the machine type `system`: its slots, and what is built beside the GPUs. The models of the slots
 * stand in other layers; `none` is here. */
#include "engine/machine.h"
#include "lockstep/fabric.h"
#include "platform/system.h"

static const char *const functions[] = { "build", NULL };
static const ls_interface fabric_interface = { LS_FABRIC_INTERFACE, "lockstep/fabric.h", functions };
static const ls_interface host_interface = { LS_HOST_INTERFACE, "lockstep/fabric.h", functions };
static const ls_interface migrate_interface = { LS_MIGRATE_INTERFACE, "lockstep/fabric.h", functions };

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

static const ls_fabric_ops *ops_of(const ls_machine *machine, const char *slot, const char *interface)
{
    const ls_block_type *model = ls_machine_model((ls_machine *)(uintptr_t)machine, slot);
    const ls_port_decl *port = model ? ls_block_type_port(model, interface, false) : NULL;
    return port ? port->ops : NULL;
}

bool system_has_fabric(const ls_machine *system)
{
    return system->type == &system_machine && ops_of(system, LS_FABRIC_SLOT, LS_FABRIC_INTERFACE) != NULL;
}

bool system_migrates(const ls_machine *system)
{
    return system->type == &system_machine && ops_of(system, LS_MIGRATE_SLOT, LS_MIGRATE_INTERFACE) != NULL;
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    ls_engine *engine = ls_machine_engine(machine);
    const ls_fabric_ops *host = ops_of(machine, LS_HOST_SLOT, LS_HOST_INTERFACE),
                        *fabric = ops_of(machine, LS_FABRIC_SLOT, LS_FABRIC_INTERFACE),
                        *migrate = ops_of(machine, LS_MIGRATE_SLOT, LS_MIGRATE_INTERFACE);
    uint32_t gpus = ls_machine_parts(machine);
    (void)spec;
    if (host && !fabric)
        return ls_fail(err, LS_ERR_INPUT, "the host is reached over the fabric, but fabric.model is 'none'");
    if (migrate && !host)
        return ls_fail(
            err, LS_ERR_INPUT,
            "migrate.model is '%s', but host.model is 'none': the IOMMU of the host has the directory",
            ls_machine_model(machine, LS_MIGRATE_SLOT)->name);
    if (!host && ls_engine_part(engine, LS_HOST_WALKS_PART, 0) != NULL)
        return ls_fail(err, LS_ERR_INPUT, "mmu.walks is 'host', but host.model is 'none'");
    ls_status status = LS_OK;
    if (host)
        status = host->build(engine, ls_machine_spec(machine, LS_HOST_SLOT), gpus, err);
    if (status == LS_OK && migrate)
        status = migrate->build(engine, ls_machine_spec(machine, LS_MIGRATE_SLOT), gpus, err);
    if (status == LS_OK && fabric)
        status = fabric->build(engine, ls_machine_spec(machine, LS_FABRIC_SLOT), gpus, err);
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
