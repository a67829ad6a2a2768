/* list.c: reads device lists. docs/multi-gpu.md says what a line may be. */
#include "workload/devices/devices.h"

#include "base/file.h"
#include "workload/synth/synth.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_BYTES (16u << 20)
#define WORDS 8
#define NO_DEVICE UINT32_MAX
#define NAME_BYTES 80u
#define DELAY_NS_MAX UINT64_C(1000000000)
#define COPY_BYTES_MAX (UINT64_C(1) << 40)
#define COPY_ARRAY UINT64_C(0x7e0000000000) /* where copies read and write that name no address */

typedef struct reader {
    devices_list *list;
    const trace_options *options;
    const char *dir;
    uint32_t limit; /* GPUs */
    uint32_t device;
    uint64_t line;
    char *word[WORDS];
    size_t words;
} reader;

static ls_status at_line(const reader *r, ls_error *err)
{
    return ls_error_at(err, r->list->path, r->line, 0);
}

static bool read_number(const char *text, uint64_t max, uint64_t *out)
{
    return parse_u64(text, strlen(text), out, NULL) == LS_OK && *out <= max;
}

/* A word of the line as a number from min to max. */
static ls_status number(const reader *r, size_t word, const char *what, uint64_t min, uint64_t max,
                        uint64_t *out, ls_error *err)
{
    char quoted[NAME_BYTES];
    if (read_number(r->word[word], max, out) && *out >= min)
        return LS_OK;
    ls_fail(err, LS_ERR_INPUT, "'%s' is no %s: a number from %llu to %llu",
            quote_text(r->word[word], strlen(r->word[word]), quoted, sizeof quoted), what,
            (unsigned long long)min, (unsigned long long)max);
    return at_line(r, err);
}

static ls_status device_number(const reader *r, size_t word, uint64_t *out, ls_error *err)
{
    ls_status status = number(r, word, "device", 0, DEVICES_MAX - 1, out, err);
    if (status != LS_OK || *out < r->limit)
        return status;
    ls_fail(err, LS_ERR_INPUT, "there is no device %llu: the platform has %u GPUs that run traces",
            (unsigned long long)*out, r->limit);
    return at_line(r, err);
}

/* ----------------------------------------------------------------------------------------------------- lines */

static ls_status read_owners(reader *r, ls_error *err)
{
    devices_list *list = r->list;
    if (r->device != NO_DEVICE) {
        ls_fail(err, LS_ERR_INPUT, "'owners' stands before the first device");
        return at_line(r, err);
    }
    if (r->words == 3 && strcmp(r->word[1], "first-touch") == 0) {
        list->owners = DEVICES_FIRST_TOUCH;
        ls_status status = number(r, 2, "size of a page", 128, UINT64_C(1) << 32, &list->page_bytes, err);
        if (status == LS_OK && (list->page_bytes & (list->page_bytes - 1)) != 0) {
            ls_fail(err, LS_ERR_INPUT, "a page has %llu bytes, it must be a power of two",
                    (unsigned long long)list->page_bytes);
            return at_line(r, err);
        }
        return status;
    }
    if (r->words != 2) {
        ls_fail(err, LS_ERR_INPUT, "'owners' has a file of ranges, or 'first-touch' and the bytes of a page");
        return at_line(r, err);
    }
    list->owners = DEVICES_RANGES;
    const char *path = path_join(&list->arena, r->dir, r->word[1]);
    ls_status status = path != NULL ? devices_read_ranges(list, path, err) : devices_no_memory(err);
    for (size_t i = 0; i < list->ranges.count && status == LS_OK; i++)
        if (list->ranges.at[i].device >= r->limit) {
            ls_fail(err, LS_ERR_INPUT, "a range of device %u: the platform has %u GPUs that run traces",
                    list->ranges.at[i].device, r->limit);
            return ls_error_at(err, path, 0, 0);
        }
    return status;
}

static ls_status read_device(reader *r, ls_error *err)
{
    uint64_t device;
    ls_status status = device_number(r, 1, &device, err);
    if (status != LS_OK)
        return status;
    if (r->list->at[device].is_given) {
        ls_fail(err, LS_ERR_INPUT, "device %llu has a section already", (unsigned long long)device);
        return at_line(r, err);
    }
    r->device = (uint32_t)device;
    r->list->at[device].is_given = true;
    if (r->list->count <= device)
        r->list->count = (uint32_t)device + 1;
    return LS_OK;
}

static ls_status read_run(reader *r, ls_error *err)
{
    const char *path =
        starts_with(r->word[1], LS_SYNTH_PREFIX) ? r->word[1] : path_join(&r->list->arena, r->dir, r->word[1]);
    if (path == NULL)
        return devices_no_memory(err);
    if (devices_is(path)) {
        ls_fail(err, LS_ERR_INPUT, "'%s' is for several devices itself", r->word[1]);
        return at_line(r, err);
    }
    ls_status status = devices_add_trace(r->list, r->device, path, false, r->line, r->options, err);
    return status == LS_OK ? status
                           : ls_error_prefix(err, "%s:%llu", r->list->path, (unsigned long long)r->line);
}

static ls_status read_copy(reader *r, ls_error *err)
{
    uint64_t bytes, from, to, address[2] = { COPY_ARRAY, COPY_ARRAY };
    ls_status status = number(r, 1, "number of bytes", 1, COPY_BYTES_MAX, &bytes, err);
    if (status == LS_OK)
        status = device_number(r, 2, &from, err);
    if (status == LS_OK)
        status = device_number(r, 3, &to, err);
    for (size_t i = 0; i + 4 < r->words && status == LS_OK; i++)
        status = number(r, 4 + i, "address", 0, UINT64_MAX >> 1, &address[i], err);
    if (status != LS_OK)
        return status;
    if (from != r->device) {
        ls_fail(err, LS_ERR_INPUT,
                "a copy from device %llu stands in the section of device %u: it is made by its source",
                (unsigned long long)from, r->device);
        return at_line(r, err);
    }
    if (to == from) {
        ls_fail(err, LS_ERR_INPUT, "a copy from device %llu to itself: copies go to another device",
                (unsigned long long)from);
        return at_line(r, err);
    }
    return devices_add(r->list, r->device,
                       &(device_command){ .kind = DEVICE_COPY,
                                          .to = (uint16_t)to,
                                          .bytes = bytes,
                                          .from_address = address[0],
                                          .to_address = address[1] },
                       r->line, err);
}

static ls_status read_signal(reader *r, device_command_kind kind, ls_error *err)
{
    device_command command = { .kind = (uint8_t)kind };
    ls_status status = devices_signal(r->list, r->word[1], &command.number, err);
    return status == LS_OK ? devices_add(r->list, r->device, &command, r->line, err) : status;
}

static ls_status read_send(reader *r, ls_error *err)
{
    return read_signal(r, DEVICE_SIGNAL, err);
}

static ls_status read_wait(reader *r, ls_error *err)
{
    return read_signal(r, DEVICE_WAIT, err);
}

static ls_status read_delay(reader *r, ls_error *err)
{
    device_command command = { .kind = DEVICE_DELAY };
    ls_status status = number(r, 1, "time in nanoseconds", 0, DELAY_NS_MAX, &command.cycles, err);
    return status == LS_OK ? devices_add(r->list, r->device, &command, r->line, err) : status;
}

static const struct {
    const char *name, *form;
    size_t least, most; /* words */
    bool needs_device;
    ls_status (*read)(reader *r, ls_error *err);
} lines[] = {
    { "owners", "owners FILE, or owners first-touch BYTES", 2, 3, false, read_owners },
    { "device", "device NUMBER", 2, 2, false, read_device },
    { "run", "run TRACE", 2, 2, true, read_run },
    { "copy", "copy BYTES FROM TO [ADDRESS [ADDRESS]]", 4, 6, true, read_copy },
    { "signal", "signal NAME", 2, 2, true, read_send },
    { "wait", "wait NAME", 2, 2, true, read_wait },
    { "delay", "delay NANOSECONDS", 2, 2, true, read_delay },
};

static const char *line_name(const void *self, size_t i)
{
    (void)self;
    return lines[i].name;
}

static ls_status read_words(reader *r, ls_error *err)
{
    char quoted[NAME_BYTES];
    size_t i = 0;
    while (i < LS_COUNT_OF(lines) && strcmp(lines[i].name, r->word[0]) != 0)
        i++;
    if (i == LS_COUNT_OF(lines)) {
        ls_fail(err, LS_ERR_INPUT, "'%s' is no line of a device list",
                quote_text(r->word[0], strlen(r->word[0]), quoted, sizeof quoted));
        (void)at_line(r, err);
        return ls_error_nearest(err, nearest_name(r->word[0], LS_COUNT_OF(lines), line_name, NULL));
    }
    if (r->words < lines[i].least || r->words > lines[i].most) {
        ls_fail(err, LS_ERR_INPUT, "the line has %zu words, it must be: %s", r->words, lines[i].form);
        return at_line(r, err);
    }
    if (lines[i].needs_device && r->device == NO_DEVICE) {
        ls_fail(err, LS_ERR_INPUT, "'%s' stands before the first device", lines[i].name);
        return at_line(r, err);
    }
    return lines[i].read(r, err);
}

/* Cuts a line into words, in place; '#' begins a comment. */
static ls_status read_line(reader *r, char *line, ls_error *err)
{
    r->words = 0;
    for (char *at = line; *at != '\0' && *at != '#';) {
        if (isspace((unsigned char)*at)) {
            at++;
            continue;
        }
        if (r->words == WORDS) {
            ls_fail(err, LS_ERR_INPUT, "the line has more than %d words", WORDS);
            return at_line(r, err);
        }
        r->word[r->words++] = at;
        while (*at != '\0' && !isspace((unsigned char)*at))
            at++;
        if (*at != '\0')
            *at++ = '\0';
    }
    return r->words == 0 ? LS_OK : read_words(r, err);
}

static ls_status read_text(reader *r, char *text, ls_error *err)
{
    ls_status status = LS_OK;
    for (char *line = text, *next; line != NULL && status == LS_OK; line = next) {
        char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : NULL;
        if (end != NULL)
            *end = '\0';
        r->line++;
        if (r->line > 1) /* the head was looked at */
            status = read_line(r, line, err);
    }
    if (status == LS_OK && r->device == NO_DEVICE) {
        ls_fail(err, LS_ERR_INPUT, "the list has no device");
        return at_line(r, err);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- opening */

static bool has_head(const char *path)
{
    char head[sizeof DEVICES_HEAD - 1];
    int fd;
    if (file_open(path, &fd, NULL, NULL) != LS_OK)
        return false;
    ssize_t got = read(fd, head, sizeof head);
    close(fd);
    return got == (ssize_t)sizeof head && memcmp(head, DEVICES_HEAD, sizeof head) == 0;
}

bool devices_is(const char *path)
{
    if (starts_with(path, LS_SYNTH_PREFIX))
        return collective_is(path + strlen(LS_SYNTH_PREFIX));
    return !file_is_dir(path) && has_head(path);
}

static ls_status read_list(devices_list *list, char *text, size_t bytes, uint32_t devices,
                           const trace_options *options, ls_error *err)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    reader r = { .list = list,
                 .options = options,
                 .dir = path_dir(&list->arena, list->path),
                 .limit = devices,
                 .device = NO_DEVICE };
    return r.dir != NULL ? read_text(&r, text, err) : devices_no_memory(err);
}

/* text: NULL for a file or a collective. */
static ls_status open_list(const char *path, char *text, size_t bytes, uint32_t devices,
                           const trace_options *options, devices_list **out, ls_error *err)
{
    devices_list *list = calloc(1, sizeof *list);
    *out = NULL;
    if (list == NULL)
        return devices_no_memory(err);
    list->path = arena_strdup(&list->arena, path);
    bool is_file = text == NULL && !starts_with(path, LS_SYNTH_PREFIX);
    ls_status status = list->path != NULL ? LS_OK : devices_no_memory(err);
    if (status == LS_OK && is_file)
        status = file_read(&list->arena, path, LIST_BYTES, &text, &bytes, err);
    if (status == LS_OK && text != NULL) {
        status = read_list(list, text, bytes, devices, options, err);
    } else if (status == LS_OK) {
        list->count = devices;
        status = collective_make(list, path + strlen(LS_SYNTH_PREFIX), options, err);
    }
    if (status == LS_OK)
        status = devices_finish(list, err);
    if (status == LS_OK)
        *out = list;
    else
        devices_close(list);
    return status;
}

ls_status devices_open(const char *path, uint32_t devices, const trace_options *options, devices_list **out,
                       ls_error *err)
{
    return open_list(path, NULL, 0, devices, options, out, err);
}

ls_status devices_open_memory(const char *path, char *text, size_t bytes, uint32_t devices,
                              const trace_options *options, devices_list **out, ls_error *err)
{
    return open_list(path, text, bytes, devices, options, out, err);
}
