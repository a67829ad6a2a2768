/* fuzz_hsa.c: code objects and offload bundles, compressed or not: any bytes as a file, and any bytes as metadata.
 * Nothing crashes, a refusal is one line, and all reads stay inside of the image. */
#include "workload/hsa/hsa.h"
#include "workload/hsa/meta.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(ls_status status, const ls_error *err)
{
    char text[1024];
    if (status == LS_OK)
        return;
    if (err->status != status || err->what[0] == '\0' || strchr(ls_error_text(err, text, sizeof text), '\n'))
        abort();
}

static void check_kernel(const hsa_object *o, const hsa_kernel *k)
{
    if (k->entry >= o->image_bytes || k->code_bytes > o->image_bytes - k->entry ||
        k->explicit_count > k->arg_count || (k->wave_size != 32 && k->wave_size != 64) ||
        k->explicit_bytes > k->kernarg_bytes)
        abort();
    for (size_t i = 0; i < k->arg_count; i++)
        if (k->args[i].offset + k->args[i].bytes > k->kernarg_bytes ||
            hsa_arg_is_hidden(k->args[i].kind) != (i >= k->explicit_count) || !k->args[i].name)
            abort();
}

static void check_object(const void *data, size_t size)
{
    hsa_object *o;
    ls_error err;
    ls_status status = hsa_object_read(data, size, &o, &err);
    check_error(status, &err);
    if (status != LS_OK)
        return;
    for (size_t i = 0; i < o->kernel_count; i++)
        check_kernel(o, &o->kernels[i]);
    for (size_t i = 0; i < o->variable_count; i++)
        if (o->variables[i].address + o->variables[i].bytes > o->image_bytes)
            abort();
    hsa_object_relocate(o, 0x7000000000, o->image);
    hsa_object_nearest(o, "kernel");
    hsa_object_destroy(o);
}

static void check_meta(const uint8_t *data, size_t size)
{
    for (int way = 0; way < 2; way++) {
        mem_arena arena = { 0 };
        const meta_node *root;
        ls_error err;
        ls_status status = way ? meta_read_yaml(&arena, data, size, &root, &err)
                               : meta_read_msgpack(&arena, data, size, &root, &err);
        check_error(status, &err);
        if (status == LS_OK) {
            const meta_node *list = meta_kernels(root);
            for (size_t i = 0; list && i < list->count; i++) {
                hsa_kernel kernel = { .name = "" };
                check_error(meta_apply(&arena, &list->children[i], &kernel, &err), &err);
            }
        }
        arena_fini(&arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const void *plain, *object;
    size_t plain_bytes, bytes;
    mem_arena arena = { 0 };
    ls_error err;
    ls_status status = hsa_bundle_unpack(&arena, data, size, &plain, &plain_bytes, &err);
    check_error(status, &err);
    if (status == LS_OK) {
        status = hsa_bundle_pick(plain, plain_bytes, NULL, &object, &bytes, &err);
        check_error(status, &err);
    }
    if (status == LS_OK)
        check_object(object, bytes);
    arena_fini(&arena);
    check_meta(data, size);
    return 0;
}
