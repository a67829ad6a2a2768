/* fuzz_devices.c: any bytes as a device list give a clear error or programs whose numbers are in range. */
#include "workload/devices/devices.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_device(devices_list *list, uint32_t device, uint32_t limit)
{
    const devices_device *d = &list->at[device];
    const ls_owner_range *ranges;
    uint32_t count;
    require(d->commands.count == d->lines.count);
    for (size_t i = 0; i < d->commands.count; i++) {
        const device_command *c = &d->commands.at[i];
        require(c->to < limit);
        require(c->kind != DEVICE_KERNELS || (c->first <= c->end && c->end <= d->trace->command_count));
        require(c->kind != DEVICE_WAIT ||
                (c->number < list->signals.count && c->count > 0 && c->to != device));
        require(c->kind != DEVICE_COPY || (c->bytes > 0 && c->to != device));
        require(c->kind != DEVICE_SIGNAL || c->to != device);
    }
    require(devices_owner_ranges(list, device, &ranges, &count, NULL) == LS_OK);
    for (uint32_t i = 0; i < count; i++)
        require(ranges[i].begin < ranges[i].end && ranges[i].owner != device &&
                (i == 0 || ranges[i - 1].end <= ranges[i].begin));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LIMIT = 4 };
    ls_error err = { 0 };
    devices_list *list;
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    ls_status status = devices_open_memory("fuzz", text, size, LIMIT, NULL, &list, &err);
    free(text);
    if (status != LS_OK) {
        require(err.status == status && err.what[0] != '\0');
        return 0;
    }
    require(list->count >= 1 && list->count <= LIMIT);
    for (uint32_t d = 0; d < list->count && list->owners != DEVICES_FIRST_TOUCH; d++)
        check_device(list, d, LIMIT);
    devices_close(list);
    return 0;
}
