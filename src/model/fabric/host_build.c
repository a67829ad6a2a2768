/* host_build.c: see host.h: builds any model of slot `host`, and calls it through its interface. */
#include "model/fabric/host.h"

#include "model/amd_memory/place_memory.h"

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

static const ls_host_ops *ops_of(const ls_block_type *model)
{
    return ls_block_type_port(model, LS_HOST_INTERFACE, false)->ops;
}

/* Reads bring a line of the GPUs' caches. */
static ls_status set_line(const ls_engine *engine, uint32_t *line_bytes, ls_error *err)
{
    const ls_fabric_end *end;
    for (uint32_t i = 0; (end = ls_engine_part(engine, LS_FABRIC_END_PART, i)) != NULL; i++) {
        if (*line_bytes != 0 && end->line_bytes != 0 && *line_bytes != end->line_bytes)
            return ls_fail(err, LS_ERR_INPUT, "host.line_bytes is %u, but lines of '%s' have %u bytes",
                           *line_bytes, end->name, end->line_bytes);
        *line_bytes = *line_bytes != 0 ? *line_bytes : end->line_bytes;
    }
    *line_bytes = *line_bytes != 0 ? *line_bytes : 64;
    return LS_OK;
}

/* A model's end takes what GPUs send to a host. */
static ls_status check_end(const char *model, ls_fabric_end *end, ls_error *err)
{
    static const ls_fabric_class classes[] = { LS_FABRIC_REQUEST, LS_FABRIC_COPY, LS_FABRIC_WALK };
    if (end == NULL || end->receive == NULL || end->region == NULL)
        return ls_fail(err, LS_ERR_INPUT, "model 'host/%s' has no end of the fabric", model);
    for (size_t i = 0; i < LS_COUNT_OF(classes); i++)
        if (end->receive_credits[classes[i]] == 0)
            return ls_fail(err, LS_ERR_INPUT, "model 'host/%s' takes no messages of class '%s'", model,
                           fabric_class_names[classes[i]]);
    end->number = LS_FABRIC_HOST;
    return LS_OK;
}

ls_status ls_host_build(ls_engine *engine, const ls_block_type *model, const void *spec, uint32_t gpus,
                        ls_error *err)
{
    const ls_host_ops *ops = ops_of(model);
    ls_host_shape shape = { 0 };
    ls_clock clock;
    ls_domain *domain;
    ls_group *group;
    host_part *part = ls_engine_alloc(engine, sizeof *part);
    if (part == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the host");
    if (gpus > LS_HOST_GPUS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "a host serves at most %u GPUs", LS_HOST_GPUS_MAX);
    TRY(ops->describe(spec, &shape, err));
    if (shape.copies == 0)
        return ls_fail(err, LS_ERR_INPUT, "model 'host/%s' lets GPUs have no copies open", model->name);
    part->copies = shape.copies;
    TRY(set_line(engine, &shape.line_bytes, err));
    TRY(ls_clock_init(&clock, shape.clock_hz, err));
    TRY(ls_domain_create(engine, "host", clock, &domain, err));
    TRY(ls_group_create(engine, "host", &group, err));
    TRY(ls_domain_set_group(domain, group, err));
    TRY(ls_block_create(ls_domain_region(domain, 0), "host", model, spec, &part->host, err));
    TRY(line_memory_create(ls_domain_region(domain, 0), "host.memory", &part->memory, err));
    part->line_bytes = shape.line_bytes;
    const ls_host_wiring wiring = { .gpus = gpus,
                                    .line_bytes = shape.line_bytes,
                                    .memory = line_memory_of(part->memory) };
    void *self = ls_block_state(part->host);
    TRY(ops->attach(self, &wiring, err));
    ls_fabric_end *end = ops->end(self);
    TRY(check_end(model->name, end, err));
    part->end = end;
    end->copies = shape.copies;
    TRY(ls_engine_add_part(engine, HOST_PART, part, err));
    return ls_engine_add_part(engine, LS_FABRIC_END_PART, end, err);
}

ls_status host_set_pages(ls_block *host, uint32_t gpu, const ls_pages *pages, ls_error *err)
{
    return ops_of(ls_block_type_of(host))->set_pages(ls_block_state(host), gpu, pages, err);
}

ls_status host_set_directory(ls_block *host, const ls_host_directory *directory, ls_error *err)
{
    const ls_block_type *model = ls_block_type_of(host);
    const ls_host_ops *ops = ops_of(model);
    if (ops->set_directory == NULL || ops->memory_time == NULL || ops->memory_line == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "host.model is '%s', which has no directory for pages that migrate", model->name);
    ops->set_directory(ls_block_state(host), directory);
    return LS_OK;
}

ls_cycle host_memory_time(ls_block *host, uint64_t bytes, ls_cycle now)
{
    return ops_of(ls_block_type_of(host))->memory_time(ls_block_state(host), bytes, now);
}

void host_memory_line(ls_block *host, ls_line_message *line)
{
    ops_of(ls_block_type_of(host))->memory_line(ls_block_state(host), line);
}
