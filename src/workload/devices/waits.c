/* waits.c: whether the devices of a list come to their ends, without a machine: copies, kernels and delays end, signals
 * come, and a wait needs its signals. Devices that remain wait for each other. */
#include "workload/devices/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walker {
    const devices_list *list;
    size_t next[DEVICES_MAX]; /* the first command that has not ended */
    uint32_t *come;           /* [device * signals + signal] */
} walker;

static const device_command *command_of(const walker *w, uint32_t device)
{
    const devices_device *d = &w->list->at[device];
    return w->next[device] < d->commands.count ? &d->commands.at[w->next[device]] : NULL;
}

/* As far as the device comes. */
static bool walk(walker *w, uint32_t device)
{
    size_t signals = w->list->signals.count, before = w->next[device];
    const device_command *c;
    while ((c = command_of(w, device)) != NULL) {
        if (c->kind == DEVICE_WAIT && w->come[device * signals + c->number] < c->count)
            break;
        if (c->kind == DEVICE_SIGNAL)
            w->come[c->to * signals + c->number]++;
        w->next[device]++;
    }
    return w->next[device] > before;
}

/* A device that has the signal still to send. */
static uint32_t sender_for(const walker *w, uint32_t device)
{
    const device_command *wait = command_of(w, device);
    for (uint32_t d = 0; d < w->list->count; d++)
        for (size_t i = w->next[d]; i < w->list->at[d].commands.count; i++) {
            const device_command *c = &w->list->at[d].commands.at[i];
            if (c->kind == DEVICE_SIGNAL && c->number == wait->number && c->to == device)
                return d;
        }
    return DEVICES_MAX;
}

static uint64_t line_of(const walker *w, uint32_t device)
{
    return w->list->at[device].lines.at[w->next[device]];
}

/* Follows the waits from a device until one comes again: from there on they are a cycle. */
static ls_status name_cycle(const walker *w, uint32_t device, ls_error *err)
{
    bool seen[DEVICES_MAX] = { false };
    char quoted[80], part[160];
    while (!seen[device]) {
        seen[device] = true;
        uint32_t sender = sender_for(w, device);
        if (sender == DEVICES_MAX)
            return ls_fail(err, LS_ERR_INTERNAL, "device %u waits for a signal that nobody sends", device);
        device = sender;
    }
    text_buffer text = { 0 };
    uint32_t first = device;
    do {
        const char *name = w->list->signals.at[command_of(w, device)->number];
        uint32_t sender = sender_for(w, device);
        snprintf(part, sizeof part, "%s%u for '%s' of device %u (line %llu)",
                 device == first ? "" : ", device ", device,
                 quote_text(name, strlen(name), quoted, sizeof quoted), sender,
                 (unsigned long long)line_of(w, device));
        text_add(&text, part);
        device = sender;
    } while (device != first);
    ls_fail(err, LS_ERR_INPUT, "devices wait for each other: device %s",
            text.failed ? "..." : text_get(&text));
    text_fini(&text);
    return ls_error_at(err, w->list->path, line_of(w, first), 0);
}

ls_status devices_check_waits(const devices_list *list, ls_error *err)
{
    walker w = { .list = list };
    bool moved = true;
    w.come = calloc((size_t)list->count * list->signals.count + 1, sizeof *w.come);
    if (w.come == NULL)
        return devices_no_memory(err);
    while (moved) {
        moved = false;
        for (uint32_t d = 0; d < list->count; d++)
            moved |= walk(&w, d);
    }
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        if (command_of(&w, d) != NULL)
            status = name_cycle(&w, d, err);
    free(w.come);
    return status;
}
