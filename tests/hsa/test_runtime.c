/* The HSA runtime as a program sees it: agents, pools, signals, handlers, queues, packets, copies, code objects. The same
 * program runs emulated and in simulated time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hsa/functions.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *library;
/* A function of the runtime, with its own type. */
#define F(name) (__extension__(__typeof__(&name)) dlsym(library, #name))

static hsa_agent_t host, gpu, gpu_1;
static hsa_amd_memory_pool_t host_pool, gpu_pool;
static uint32_t gpus;
static bool is_timed;

#define COUNT 1000u

/* ----------------------------------------------------------------------------------------------------- finding */

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
    uint32_t kind;
    (void)data;
    assert_int_equal(F(hsa_agent_get_info)(agent, 17, &kind), HSA_OK);
    if (kind == 0)
        host = agent;
    else if (gpus++ == 0)
        gpu = agent;
    else
        gpu_1 = agent;
    return HSA_OK;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t segment, flags;
    assert_int_equal(F(hsa_amd_memory_pool_get_info)(pool, 0, &segment), HSA_OK);
    assert_int_equal(F(hsa_amd_memory_pool_get_info)(pool, 1, &flags), HSA_OK);
    if (segment == SEGMENT_GLOBAL && (flags & (POOL_FINE | POOL_COARSE)))
        *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_OK;
}

static int start(void **state)
{
    const char *times = getenv("LOCKSTEP_PLATFORM");
    (void)state;
    is_timed = times != NULL;
    library = dlopen(LS_RUNTIME, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    assert_non_null(library);
    assert_int_equal(F(hsa_init)(), HSA_OK);
    assert_int_equal(F(hsa_iterate_agents)(take_agent, NULL), HSA_OK);
    assert_int_equal(F(hsa_amd_agent_iterate_memory_pools)(host, take_pool, &host_pool), HSA_OK);
    assert_int_equal(F(hsa_amd_agent_iterate_memory_pools)(gpu, take_pool, &gpu_pool), HSA_OK);
    return 0;
}

static void *alloc(hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *pointer = NULL;
    assert_int_equal(F(hsa_amd_memory_pool_allocate)(pool, bytes, 0, &pointer), HSA_OK);
    assert_non_null(pointer);
    return pointer;
}

static hsa_signal_t signal_of(int64_t value)
{
    hsa_signal_t signal;
    assert_int_equal(F(hsa_signal_create)(value, 0, NULL, &signal), HSA_OK);
    return signal;
}

static void wait_below_1(hsa_signal_t signal)
{
    assert_int_equal(F(hsa_signal_wait_scacquire)(signal, CONDITION_LT, 1, UINT64_MAX, 0), 0);
}

static void copy(void *to, const void *from, size_t bytes)
{
    hsa_signal_t done = signal_of(1);
    assert_int_equal(F(hsa_amd_memory_async_copy)(to, gpu, from, gpu, bytes, 0, NULL, done), HSA_OK);
    wait_below_1(done);
    assert_int_equal(F(hsa_signal_destroy)(done), HSA_OK);
}

/* -------------------------------------------------------------------------------------------------------- tests */

static void test_agents(void **state)
{
    char name[64], isa[64];
    uint32_t value, length;
    uint64_t ticks;
    (void)state;
    assert_int_equal(gpus, is_timed ? 1 : 2);
    assert_int_equal(F(hsa_agent_get_info)(gpu, 0, name), HSA_OK);
    assert_string_equal(name, "gfx1030");
    assert_int_equal(F(hsa_agent_get_info)(gpu, 6, &value), HSA_OK);
    assert_int_equal(value, 32);
    assert_int_equal(F(hsa_agent_get_info)(gpu, 0xA002, &value), HSA_OK);
    assert_true(value >= 1);
    assert_int_equal(F(hsa_agent_get_info)(gpu, 0xBEEF, &value), HSA_INVALID_ARGUMENT);
    assert_int_equal(F(hsa_agent_get_info)((hsa_agent_t){ 5 }, 0, name), HSA_INVALID_AGENT);
    assert_int_equal(F(hsa_isa_get_info_alt)((hsa_isa_t){ gpu.handle }, 0, &length), HSA_OK);
    assert_int_equal(F(hsa_isa_get_info_alt)((hsa_isa_t){ gpu.handle }, 1, isa), HSA_OK);
    assert_string_equal(isa, "amdgcn-amd-amdhsa--gfx1030");
    assert_int_equal(length, strlen(isa) + 1);
    assert_int_equal(F(hsa_system_get_info)(3, &ticks), HSA_OK);
    assert_int_equal(ticks, 1000000000);
}

static void test_pools(void **state)
{
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    uint32_t access;
    void *pointer = NULL;
    size_t bytes;
    (void)state;
    assert_int_equal(F(hsa_amd_memory_pool_get_info)(gpu_pool, 2, &bytes), HSA_OK);
    assert_true(bytes > UINT64_C(1) << 30);
    assert_int_equal(F(hsa_amd_memory_pool_allocate)(gpu_pool, bytes + 1, 0, &pointer), HSA_OUT_OF_RESOURCES);
    pointer = alloc(gpu_pool, 5000);
    assert_int_equal(F(hsa_amd_pointer_info)((uint8_t *)pointer + 4000, &info, NULL, NULL, NULL), HSA_OK);
    assert_ptr_equal(info.agent_base, pointer);
    assert_int_equal(info.type, POINTER_HSA);
    assert_int_equal(info.owner.handle, gpu.handle);
    /* The program sees memory of a GPU if bytes are not in simulated caches. */
    assert_int_equal(F(hsa_amd_agent_memory_pool_get_info)(host, gpu_pool, 0, &access), HSA_OK);
    assert_int_equal(access, is_timed ? 0 : 2);
    if (!is_timed)
        assert_int_equal(*(uint8_t *)pointer, 0);
    assert_int_equal(F(hsa_amd_memory_pool_free)(pointer), HSA_OK);
    assert_int_equal(F(hsa_amd_memory_pool_free)(pointer), HSA_INVALID_ALLOCATION);
    assert_int_equal(F(hsa_amd_memory_pool_free)(NULL), HSA_OK);
}

static atomic_int called;
static bool handle(hsa_signal_value_t value, void *arg)
{
    assert_int_equal(value, 0);
    atomic_fetch_add(&called, *(int *)arg);
    return false;
}

static void test_signals(void **state)
{
    hsa_signal_t signal = signal_of(3);
    int seven = 7;
    (void)state;
    F(hsa_signal_subtract_relaxed)(signal, 1);
    assert_int_equal(F(hsa_signal_load_relaxed)(signal), 2);
    /* A short wait ends by itself. */
    assert_int_equal(F(hsa_signal_wait_scacquire)(signal, CONDITION_EQ, 5, 1000000, 0), 2);
    assert_int_equal(F(hsa_amd_signal_async_handler)(signal, CONDITION_EQ, 0, handle, &seven), HSA_OK);
    F(hsa_signal_store_screlease)(signal, 0);
    for (int i = 0; i < 5000 && atomic_load(&called) == 0; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&called), 7);
    assert_int_equal(F(hsa_signal_destroy)(signal), HSA_OK);
}

/* ------------------------------------------------------------------------------------------------------- queues */

static hsa_queue_t *queue;

static void submit(const void *packet)
{
    const uint64_t index = F(hsa_queue_add_write_index_screlease)(queue, 1);
    uint8_t *slot = (uint8_t *)queue->base_address + index % queue->size * 64;
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    assert_int_equal(*slot, PACKET_INVALID);
    memcpy(slot + 2, (const uint8_t *)packet + 2, 62);
    __atomic_store_n((uint16_t *)(void *)slot, header, __ATOMIC_RELEASE);
    F(hsa_signal_store_screlease)(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static hsa_executable_t executable;

static uint64_t load_kernel(const char *name)
{
    static uint8_t object[65536];
    FILE *file = fopen(LS_OBJECTS "/gfx1030/vector_add.co", "rb");
    assert_non_null(file);
    const size_t bytes = fread(object, 1, sizeof object, file);
    fclose(file);
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    uint64_t descriptor;
    uint32_t value;
    assert_int_equal(F(hsa_executable_create_alt)(1, 0, NULL, &executable), HSA_OK);
    assert_int_equal(F(hsa_code_object_reader_create_from_memory)(object, bytes, &reader), HSA_OK);
    assert_int_equal(F(hsa_executable_load_agent_code_object)(executable, gpu, reader, NULL, NULL), HSA_OK);
    assert_int_equal(F(hsa_executable_freeze)(executable, NULL), HSA_OK);
    assert_int_equal(F(hsa_code_object_reader_destroy)(reader), HSA_OK);
    assert_int_equal(F(hsa_executable_get_symbol_by_name)(executable, "nothing.kd", &gpu, &symbol),
                     HSA_INVALID_SYMBOL_NAME);
    assert_int_equal(F(hsa_executable_get_symbol_by_name)(executable, name, &gpu, &symbol), HSA_OK);
    assert_int_equal(F(hsa_executable_symbol_get_info)(symbol, 0, &value), HSA_OK);
    assert_int_equal(value, SYMBOL_KERNEL);
    assert_int_equal(F(hsa_executable_symbol_get_info)(symbol, 22, &descriptor), HSA_OK);
    /* The program can read the descriptor: 16 bytes of sizes, then the offset of the code, which is not 0. */
    assert_int_not_equal(((const int64_t *)(uintptr_t)descriptor)[2], 0);
    return descriptor;
}

/* vector_add's arguments; the hidden offsets follow. */
typedef struct arguments {
    const float *a, *b;
    float *c;
    uint32_t count;
    uint64_t hidden[8];
} arguments;

static aql_dispatch dispatch_of(uint64_t kernel, const arguments *args, hsa_signal_t completion)
{
    return (aql_dispatch){ .header = PACKET_DISPATCH | PACKET_BARRIER_BIT,
                           .setup = 1,
                           .group = { 64, 1, 1 },
                           .grid = { 1024, 1, 1 },
                           .kernel_object = kernel,
                           .kernarg = (uint64_t)(uintptr_t)args,
                           .completion = completion };
}

static void keep_times(const hsa_amd_times *kernel, const hsa_amd_times *copied)
{
    const char *path = getenv("LOCKSTEP_TEST_TIMES");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%llu %llu %llu %llu\n", (unsigned long long)kernel->start, (unsigned long long)kernel->end,
            (unsigned long long)copied->start, (unsigned long long)copied->end);
    fclose(file);
}

/* The first packet ends before time has passed. Its time is not 0, which HIP takes for no time. */
static void test_first_time(void **state)
{
    hsa_signal_t ended = signal_of(1);
    hsa_amd_times times = { 0 };
    const aql_barrier barrier = { .header = PACKET_BARRIER_AND | PACKET_BARRIER_BIT, .completion = ended };
    (void)state;
    assert_int_equal(F(hsa_queue_create)(gpu, 64, 0, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue), HSA_OK);
    submit(&barrier);
    wait_below_1(ended);
    assert_int_equal(F(hsa_amd_profiling_get_dispatch_time)(gpu, ended, &times), HSA_OK);
    assert_true(times.start > 0 && times.end >= times.start && times.end < 1000000);
    assert_int_equal(F(hsa_queue_destroy)(queue), HSA_OK);
    assert_int_equal(F(hsa_signal_destroy)(ended), HSA_OK);
}

/* A kernel waits for a barrier packet, which waits for a signal of the host; a copy waits for the kernel. */
static void test_packets(void **state)
{
    const uint64_t kernel = load_kernel("vector_add.kd");
    float *a = alloc(gpu_pool, COUNT * 4), *b = alloc(gpu_pool, COUNT * 4), *c = alloc(gpu_pool, COUNT * 4);
    float *out = alloc(host_pool, COUNT * 4);
    arguments *args = alloc(host_pool, sizeof *args);
    static float x[COUNT], y[COUNT];
    hsa_signal_t gate = signal_of(1), first = signal_of(1), ended = signal_of(1), copied = signal_of(1);
    hsa_amd_times kernel_times, copy_times;
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = (float)i, y[i] = 0.5f;
    copy(a, x, sizeof x);
    copy(b, y, sizeof y);
    assert_int_equal(F(hsa_queue_create)(gpu, 64, 0, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue), HSA_OK);
    *args = (arguments){ .a = a, .b = b, .c = c, .count = COUNT };
    const aql_barrier barrier = { .header = PACKET_BARRIER_AND | PACKET_BARRIER_BIT,
                                  .dependence = { gate },
                                  .completion = first };
    const aql_dispatch dispatch = dispatch_of(kernel, args, ended);
    submit(&barrier);
    submit(&dispatch);
    assert_int_equal(F(hsa_amd_memory_async_copy)(out, host, c, gpu, COUNT * 4, 1, &ended, copied), HSA_OK);
    /* Nothing runs while the gate is closed, however often the program asks. */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(F(hsa_signal_load_relaxed)(ended), 1);
    assert_int_equal(F(hsa_queue_load_read_index_relaxed)(queue), 0);
    F(hsa_signal_store_relaxed)(gate, 0);
    wait_below_1(copied);
    assert_int_equal(F(hsa_signal_load_relaxed)(first), 0);
    assert_int_equal(F(hsa_queue_load_read_index_relaxed)(queue), 2);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(out[i] == (float)i + 0.5f);
    assert_int_equal(F(hsa_amd_profiling_get_dispatch_time)(gpu, ended, &kernel_times), HSA_OK);
    assert_int_equal(F(hsa_amd_profiling_get_async_copy_time)(copied, &copy_times), HSA_OK);
    assert_true(kernel_times.end > kernel_times.start && copy_times.start >= kernel_times.end);
    assert_true(copy_times.end > copy_times.start);
    keep_times(&kernel_times, &copy_times);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(F(hsa_signal_destroy)((hsa_signal_t[]){ gate, first, ended, copied }[i]), HSA_OK);
}

/* Kernels use memory of a host pool, and memory of the program that was locked. */
static void test_shared_memory(void **state)
{
    hsa_executable_symbol_t symbol;
    uint64_t kernel;
    float *a = alloc(host_pool, COUNT * 4), *alias;
    static float b[COUNT];
    arguments *args = alloc(host_pool, sizeof *args);
    hsa_signal_t done = signal_of(1);
    (void)state;
    assert_int_equal(F(hsa_executable_get_symbol_by_name)(executable, "vector_add.kd", &gpu, &symbol), HSA_OK);
    assert_int_equal(F(hsa_executable_symbol_get_info)(symbol, 22, &kernel), HSA_OK);
    assert_int_equal(F(hsa_amd_memory_lock_to_pool)(b, sizeof b, &gpu, 1, host_pool, 0, (void **)&alias),
                     HSA_OK);
    assert_ptr_not_equal(alias, b);
    for (int turn = 1; turn <= 2; turn++) { /* the second turn sees what the program wrote after the first */
        for (uint32_t i = 0; i < COUNT; i++)
            a[i] = (float)turn, b[i] = (float)i;
        *args = (arguments){ .a = a, .b = alias, .c = alias, .count = COUNT };
        F(hsa_signal_silent_store_relaxed)(done, 1);
        const aql_dispatch dispatch = dispatch_of(kernel, args, done);
        submit(&dispatch);
        wait_below_1(done);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(b[i] == (float)(i + (uint32_t)turn));
    }
    assert_int_equal(F(hsa_amd_memory_unlock)(b), HSA_OK);
    assert_int_equal(F(hsa_amd_memory_unlock)(b), HSA_INVALID_ARGUMENT);
}

static void test_rect(void **state)
{
    uint32_t from[8][8], to[8][8] = { { 0 } };
    uint8_t *memory = alloc(gpu_pool, 4096);
    hsa_signal_t done = signal_of(1);
    const hsa_dim3_t none = { 0, 0, 0 }, range = { 12, 4, 1 }, corner = { 4, 2, 0 };
    const hsa_pitched_ptr_t a = { from, 32, 256 }, g = { memory, 64, 256 }, z = { to, 32, 256 };
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        from[i / 8][i % 8] = i + 1;
    assert_int_equal(F(hsa_amd_memory_async_copy_rect)(&g, &none, &a, &corner, &range, gpu, 2, 0, NULL, done),
                     HSA_OK);
    wait_below_1(done);
    F(hsa_signal_store_relaxed)(done, 1);
    assert_int_equal(F(hsa_amd_memory_async_copy_rect)(&z, &none, &g, &none, &range, gpu, 3, 0, NULL, done),
                     HSA_OK);
    wait_below_1(done);
    for (uint32_t y = 0; y < 8; y++)
        for (uint32_t x = 0; x < 8; x++)
            assert_int_equal(to[y][x], y < 4 && x < 3 ? from[y + 2][x + 1] : 0);
    assert_int_equal(F(hsa_amd_memory_fill)(memory, 0xabcd1234, 1024), HSA_OK);
    assert_int_equal(F(hsa_memory_copy)(to, memory, sizeof to), HSA_OK);
    assert_int_equal(to[7][7], 0xabcd1234);
}

/* Peer copies between two GPUs. */
static void test_peers(void **state)
{
    hsa_amd_memory_pool_t other;
    static uint8_t bytes[5000], back[5000];
    (void)state;
    if (gpus < 2)
        return;
    assert_int_equal(F(hsa_amd_agent_iterate_memory_pools)(gpu_1, take_pool, &other), HSA_OK);
    uint8_t *here = alloc(gpu_pool, sizeof bytes), *there = alloc(other, sizeof bytes);
    assert_int_equal(F(hsa_amd_agents_allow_access)(1, &gpu, NULL, there), HSA_OK);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    copy(here, bytes, sizeof bytes);
    copy(there, here, sizeof bytes);
    copy(back, there, sizeof bytes);
    assert_memory_equal(back, bytes, sizeof bytes);
}

static void test_refusals(void **state)
{
    uint8_t text[] = "no code object";
    hsa_code_object_reader_t reader;
    hsa_executable_t e;
    (void)state;
    assert_int_not_equal(F(hsa_ext_image_create)(), HSA_OK);
    assert_int_equal(F(hsa_executable_create_alt)(1, 0, NULL, &e), HSA_OK);
    assert_int_equal(F(hsa_code_object_reader_create_from_memory)(text, sizeof text, &reader), HSA_OK);
    assert_int_equal(F(hsa_executable_load_agent_code_object)(e, gpu, reader, NULL, NULL),
                     HSA_INVALID_CODE_OBJECT);
    assert_int_equal(F(hsa_executable_load_agent_code_object)(e, host, reader, NULL, NULL), HSA_INVALID_AGENT);
    assert_int_equal(F(hsa_executable_destroy)(e), HSA_OK);
    assert_int_equal(F(hsa_queue_create)(host, 64, 0, NULL, NULL, 0, 0, &queue), HSA_INVALID_QUEUE_CREATION);
    assert_int_equal(F(hsa_queue_create)(gpu, 63, 0, NULL, NULL, 0, 0, &queue), HSA_INVALID_ARGUMENT);
}

static void test_end(void **state)
{
    (void)state;
    assert_int_equal(F(hsa_queue_destroy)(queue), HSA_OK);
    assert_int_equal(F(hsa_queue_destroy)(queue), HSA_INVALID_QUEUE);
    assert_int_equal(F(hsa_executable_destroy)(executable), HSA_OK);
    assert_int_equal(F(hsa_shut_down)(), HSA_OK);
    assert_int_equal(F(hsa_shut_down)(), HSA_NOT_INITIALIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agents),   cmocka_unit_test(test_pools),
        cmocka_unit_test(test_signals),  cmocka_unit_test(test_first_time),
        cmocka_unit_test(test_packets),  cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_rect),     cmocka_unit_test(test_peers),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
