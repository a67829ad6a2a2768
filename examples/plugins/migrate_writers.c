/* migrate_writers.c: a page moves to the GPU that writes it. GPUs that only read it access it where it is, over the fabric.
 * Programs whose GPUs read each other's data but write their own move nothing. */
#include "lockstep/migrate.h"

typedef struct spec {
    ls_migrate_keys directory; /* numbers that every model has */
    uint64_t moves_most;
} spec;

static void keys(const void *given, ls_migrate_keys *out)
{
    *out = ((const spec *)given)->directory;
}

/* A page always has one owner here: it is exclusive, so grants may be for writing. A GPU that was granted a page for
 * reading would write it without asking again, so readers' grants of other places are for reading only. */
static void decide(const void *given, const ls_migrate_page *page, const ls_migrate_question *question,
                   ls_migrate_plan *out)
{
    const spec *s = given;
    uint32_t owner = ls_migrate_first_holder(page);
    bool is_own = owner == question->gpu, stays = question->stays || page->moves >= s->moves_most;
    if (question->counted)
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_NOTHING };
    else if (question->writes && !is_own && !stays)
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_TAKE, .to = question->gpu };
    else
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_GRANT,
                                  .to = owner,
                                  .is_writable = is_own || question->writes };
}

static const ls_migrate_ops ops = { .build = ls_migrate_build, .keys = keys, .decide = decide };
static const ls_port_decl ports[] = {
    { .name = LS_MIGRATE_PORT, .interface = LS_MIGRATE_INTERFACE, .ops = &ops },
};

static const ls_param params[] = {
    LS_MIGRATE_KEYS(spec, directory),
    LS_MIGRATE_PAGE_KEY(spec, directory),
    LS_PARAM_UINT(spec, moves_most, "moves", 1000000, 0, 1000000, "after which a page stays where it is"),
};

static const ls_block_type migrate_writers = {
    .abi = LS_ABI_VERSION,
    .slot = LS_MIGRATE_SLOT,
    .name = "writers",
    .help = "a page moves to the GPU that writes it; others read it there",
    LS_BLOCK_PARAMS(spec, params),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(migrate_writers);
