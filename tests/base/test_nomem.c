/* test_nomem.c: every allocation of every function of this folder fails once; each time the function reports
 * it, keeps its data, and loses no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sanitizers bring an allocator of their own that must not be replaced. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *at);

static _Thread_local bool armed;      /* only this thread's calls fail */
static _Thread_local long until_fail; /* calls that still succeed */
static _Thread_local long live;       /* blocks taken and not given back while armed */

static bool fails(void)
{
    return armed && until_fail-- == 0;
}

static void *taken(void *at)
{
    live += armed && at != NULL;
    return at;
}

/* Visible, so that the C library and libxxhash call them too. */
LS_API void *malloc(size_t bytes)
{
    return fails() ? NULL : taken(__libc_malloc(bytes));
}

LS_API void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : taken(__libc_calloc(count, bytes));
}

LS_API void *realloc(void *at, size_t bytes)
{
    if (fails())
        return NULL;
    void *moved = __libc_realloc(at, bytes);
    return at == NULL ? taken(moved) : moved;
}

LS_API void *aligned_alloc(size_t align, size_t bytes)
{
    return fails() ? NULL : taken(__libc_memalign(align, bytes));
}

LS_API void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (fails())
        return MAP_FAILED;
    long mapped = syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
    live += armed && mapped != -1;
    return mapped == -1 ? MAP_FAILED : (void *)mapped;
}

LS_API int munmap(void *at, size_t bytes)
{
    live -= armed;
    return (int)syscall(SYS_munmap, at, bytes);
}

LS_API void free(void *at)
{
    live -= armed && at != NULL;
    __libc_free(at);
}

/* Runs `attempt` with the first, the second, ... allocation failing until none does. It returns the status of
 * its calls and frees everything. An allocation that can be done without may fail unnoticed. */
static void with_every_failure(ls_status (*attempt)(void))
{
    bool refused = false;
    for (long n = 0;; n++) {
        assert_true(n < 1000);
        until_fail = n;
        live = 0;
        armed = true;
        ls_status status = attempt();
        armed = false;
        assert_int_equal(live, 0);
        if (until_fail >= 0) { /* nothing failed */
            assert_int_equal(status, LS_OK);
            assert_true(refused);
            return;
        }
        assert_true(status == LS_ERR_NOMEM || status == LS_OK);
        refused |= status == LS_ERR_NOMEM;
    }
}

static ls_status try_arena(void)
{
    mem_arena arena = { 0 };
    bool good = arena_alloc(&arena, 100) != NULL && arena_alloc(&arena, 100000) != NULL &&
                arena_array(&arena, 1000, 16) != NULL && arena_printf(&arena, "%20000d", 1) != NULL &&
                arena_strdup(&arena, "x") != NULL;
    arena_fini(&arena);
    return good ? LS_OK : LS_ERR_NOMEM;
}

static ls_status try_vec(void)
{
    LS_VEC(uint64_t) v = { 0 };
    bool good = true;
    for (uint64_t i = 0; i < 1000 && good; i++) {
        good = vec_push(&v, i);
        good &= v.count == i + good; /* a failed push adds nothing */
    }
    vec_fini(&v);
    return good ? LS_OK : LS_ERR_NOMEM;
}

static ls_status try_map(void)
{
    string_map map = { 0 };
    bool good = true, intact = true;
    char key[2] = "a";
    for (; key[0] < 'z' && good; key[0]++)
        good = map_put(&map, key, &map);
    for (size_t i = 0; i < map.count; i++)
        intact &= map_get(&map, map.entries[i].key) == &map;
    map_fini(&map);
    return !intact ? LS_ERR_INTERNAL : good ? LS_OK : LS_ERR_NOMEM;
}

static ls_status try_text(void)
{
    text_buffer text = { 0 };
    text_add(&text, "start ");
    text_printf(&text, "%1000d", 7);
    text_addn(&text, text_get(&(text_buffer){ 0 }), 0);
    text_printf(&text, "%d", 8);
    bool good = !text.failed, ended = text_get(&text)[text.count] == '\0';
    text_fini(&text);
    return !ended ? LS_ERR_INTERNAL : good ? LS_OK : LS_ERR_NOMEM;
}

static ls_status try_json(void)
{
    text_buffer text = { 0 };
    json_writer j;
    json_to_text(&j, &text, 2);
    json_array(&j);
    for (uint64_t i = 0; i < 100; i++)
        json_u64(&j, i);
    json_end(&j);
    ls_status status = json_finish(&j, NULL);
    text_fini(&text);
    return status;
}

static ls_status try_hasher(void)
{
    hash_stream *hasher;
    ls_status status = hasher_create(&hasher, NULL);
    if (status == LS_OK)
        hasher_add(hasher, "x", 1);
    hasher_destroy(hasher);
    return status;
}

static ls_status try_pool_of_one(void)
{
    thread_pool *pool;
    ls_status status = pool_create(1, &pool, NULL);
    pool_destroy(pool);
    return status;
}

static char target[64];

static ls_status try_write(void)
{
    file_writer w;
    ls_status status = file_writer_open(&w, target, NULL);
    if (status != LS_OK)
        return status;
    fputs("x", w.stream);
    return file_writer_commit(&w, NULL);
}

static ls_status try_temp(void)
{
    temp_file temp;
    ls_status status = file_temp_open(&temp, target, NULL);
    temp_discard(&temp);
    return status;
}

static ls_status try_read(void)
{
    mem_arena arena = { 0 };
    char *data;
    size_t bytes;
    ls_status status = file_read(&arena, target, 1000, &data, &bytes, NULL);
    if (status == LS_OK)
        status = file_read(&arena, "/proc/version", 1000, &data, &bytes, NULL);
    arena_fini(&arena);
    return status;
}

static ls_status try_paths(void)
{
    mem_arena arena = { 0 };
    char *dir;
    ls_status status = path_of_executable(&arena, &dir, NULL);
    arena_fini(&arena);
    return status;
}

/* The help of a missing file needs memory; without any the error itself stays. */
static void missing_file_without_memory(void **state)
{
    (void)state;
    for (long n = 0; n < 20; n++) {
        mem_arena arena = { 0 };
        ls_error err;
        char *data;
        size_t bytes;
        until_fail = n;
        live = 0;
        armed = true;
        ls_status status = file_read(&arena, "no-such-file", 10, &data, &bytes, &err);
        armed = false;
        assert_int_equal(status, LS_ERR_IO);
        assert_int_equal(live, 0);
        assert_string_equal(err.where, "no-such-file");
        arena_fini(&arena);
    }
}

static void memory(void **state)
{
    (void)state;
    with_every_failure(try_arena);
    with_every_failure(try_vec);
    with_every_failure(try_map);
}

static void texts(void **state)
{
    (void)state;
    with_every_failure(try_text);
    with_every_failure(try_json);
}

static void objects(void **state)
{
    (void)state;
    with_every_failure(try_hasher);
    with_every_failure(try_pool_of_one);
}

static void files(void **state)
{
    (void)state;
    char dir[] = P_tmpdir "/lockstep-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(target, sizeof target, "%s/file", dir);
    with_every_failure(try_write);
    with_every_failure(try_temp);
    with_every_failure(try_read);
    with_every_failure(try_paths);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(rmdir(dir), 0); /* fails if a temporary file is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory),
        cmocka_unit_test(texts),
        cmocka_unit_test(objects),
        cmocka_unit_test(files),
        cmocka_unit_test(missing_file_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; /* the plain build runs it */
}

#endif
