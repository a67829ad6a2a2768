/* bytes.c: see bytes.h. */
#include "base/bytes.h"

#include <string.h>

void bytes_put(bytes_out *out, const void *data, size_t bytes)
{
    out->failed = out->failed || !vec_reserve(&out->bytes, bytes);
    if (out->failed || bytes == 0)
        return;
    memcpy(out->bytes.at + out->bytes.count, data, bytes);
    out->bytes.count += bytes;
}

void bytes_put64(bytes_out *out, uint64_t value)
{
    bytes_put(out, &value, sizeof value);
}

void bytes_put_double(bytes_out *out, double value)
{
    bytes_put(out, &value, sizeof value);
}

/* The length + 1; 0: NULL. */
void bytes_put_text(bytes_out *out, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    bytes_put64(out, text == NULL ? 0 : (uint64_t)length + 1);
    bytes_put(out, text, length);
}

void bytes_get(bytes_in *in, void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    in->failed = in->failed || (size_t)(in->end - in->at) < bytes;
    if (in->failed) {
        memset(data, 0, bytes);
        return;
    }
    memcpy(data, in->at, bytes);
    in->at += bytes;
}

uint64_t bytes_get64(bytes_in *in)
{
    uint64_t value;
    bytes_get(in, &value, sizeof value);
    return value;
}

double bytes_get_double(bytes_in *in)
{
    double value;
    bytes_get(in, &value, sizeof value);
    return value;
}

const char *bytes_get_text(bytes_in *in, mem_arena *arena)
{
    uint64_t length = bytes_get64(in);
    if (length == 0 || in->failed)
        return NULL;
    if (length - 1 > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return NULL;
    }
    char *text = arena_alloc(arena, (size_t)length);
    if (text == NULL) {
        in->failed = true;
        return NULL;
    }
    bytes_get(in, text, (size_t)length - 1);
    text[length - 1] = '\0';
    return text;
}

uint64_t bytes_get_count(bytes_in *in, size_t each)
{
    uint64_t count = bytes_get64(in);
    in->failed = in->failed || count > (uint64_t)(in->end - in->at) / (each > 0 ? each : 1);
    return in->failed ? 0 : count;
}

bool bytes_at_end(const bytes_in *in)
{
    return !in->failed && in->at == in->end;
}
