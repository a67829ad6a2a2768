/* hook.c: named observation points and who listens to them. */
#include "engine/state.h"

#include <string.h>

ls_status ls_hook_define(ls_engine *engine, const char *name, const char *help, const ls_hook **out,
                         ls_error *err)
{
    for (size_t i = 0; i < engine->hooks.count; i++)
        if (strcmp(engine->hooks.at[i].name, name) == 0) {
            *out = engine->hooks.at[i].hook;
            return LS_OK;
        }
    *out = NULL;
    hook_entry entry = { .hook = arena_alloc(&engine->arena, sizeof(ls_hook)),
                         .name = arena_strdup(&engine->arena, name),
                         .help = arena_strdup(&engine->arena, help) };
    if (entry.hook == NULL || entry.name == NULL || entry.help == NULL || !vec_push(&engine->hooks, entry))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for hook '%s'", name);
    entry.hook->id = (uint32_t)engine->hooks.count - 1;
    *out = entry.hook;
    return LS_OK;
}

static const char *hook_name_at(const void *self, size_t i)
{
    return ((const ls_engine *)self)->hooks.at[i].name;
}

ls_status ls_hook_subscribe(ls_engine *engine, const char *name, ls_hook_fn fn, void *self, ls_error *err)
{
    for (size_t i = 0; i < engine->hooks.count; i++) {
        hook_entry *entry = &engine->hooks.at[i];
        if (strcmp(entry->name, name) != 0)
            continue;
        struct hook_subscriber subscriber = { .fn = fn, .self = self };
        if (!vec_push(&entry->subscribers, subscriber))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a subscriber of hook '%s'", name);
        entry->hook->subscribers++;
        return LS_OK;
    }
    ls_fail(err, LS_ERR_USAGE, "there is no hook '%s'", name);
    return err == NULL ? LS_ERR_USAGE
                       : ls_error_nearest(err, nearest_name(name, engine->hooks.count, hook_name_at, engine));
}

void ls_hook_fire(ls_engine *engine, const ls_hook *hook, const ls_hook_args *args)
{
    const hook_entry *entry = &engine->hooks.at[hook->id];
    for (size_t i = 0; i < entry->subscribers.count; i++)
        entry->subscribers.at[i].fn(entry->subscribers.at[i].self, args);
}

bool ls_hook_at(const ls_engine *engine, uint32_t index, const char **name, const char **help)
{
    if (index >= engine->hooks.count)
        return false;
    *name = engine->hooks.at[index].name;
    *help = engine->hooks.at[index].help;
    return true;
}

ls_status hooks_init(ls_engine *engine, ls_error *err)
{
    const ls_hook *hook;
    ls_status status = ls_hook_define(engine, "link.send",
                                      "a message leaves: link id, sequence number, wire bytes", &hook, err);
    if (status == LS_OK)
        status = ls_hook_define(engine, "link.deliver",
                                "a message arrives: link id, sequence number, wire bytes; data: its payload",
                                &hook, err);
    if (status != LS_OK)
        return status;
    engine->hook_send = engine->hooks.at[0].hook;
    engine->hook_deliver = engine->hooks.at[1].hook;
    return LS_OK;
}

void hooks_fini(ls_engine *engine)
{
    for (size_t i = 0; i < engine->hooks.count; i++)
        vec_fini(&engine->hooks.at[i].subscribers);
    vec_fini(&engine->hooks);
}
