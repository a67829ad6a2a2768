/* mpi.c: see mpi.h. Every wait is a loop of tests, so that a lost rank ends the run with one line.
 *
 * An exchange sends one message of at most INLINE_BYTES to each peer, which says how many bytes there are and has the
 * first of them; the rest follows if there is one. Most meetings need the first message only. */
#include "sim/mpi.h"

#ifdef LOCKSTEP_MPI

#include "base/library.h"
#include "base/pool.h"
#include "base/vec.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libmpi.so.40"      /* the interface of Open MPI 4 */
#define INLINE_BYTES 8192u          /* with the head */
#define CHUNK_BYTES (1u << 30)      /* MPI counts with ints */
#define SPINS 256u                  /* tests before the CPU is offered to others */
#define STOP_NS UINT64_C(200000000) /* mpirun kills a second after it has asked */
enum { TAG_FIRST = 1, TAG_REST = 2 };

#define MPI_CALLS(X)                                                                                          \
    X(MPI_Init_thread)                                                                                        \
    X(MPI_Finalize)                                                                                           \
    X(MPI_Comm_rank)                                                                                          \
    X(MPI_Comm_size)                                                                                          \
    X(MPI_Comm_set_errhandler)                                                                                \
    X(MPI_Isend)                                                                                              \
    X(MPI_Irecv)                                                                                              \
    X(MPI_Iallreduce)                                                                                         \
    X(MPI_Test)                                                                                               \
    X(MPI_Error_string)

/* Open MPI's constants are addresses of its variables. */
#define MPI_VARIABLES(X)                                                                                      \
    X(ompi_mpi_comm_world)                                                                                    \
    X(ompi_mpi_byte)                                                                                          \
    X(ompi_mpi_uint64_t)                                                                                      \
    X(ompi_mpi_op_min)                                                                                        \
    X(ompi_mpi_op_sum)                                                                                        \
    X(ompi_mpi_errors_return)

static struct {
#define X(name) __typeof__(&(name)) name;
    MPI_CALLS(X)
#undef X
#define X(name) void *name;
    MPI_VARIABLES(X)
#undef X
} mpi;

typedef struct peer {
    uint8_t out[INLINE_BYTES], in[INLINE_BYTES];
    uint8_t *bytes; /* of a longer answer */
    size_t capacity, count;
} peer;

/* A request, and the rank that it waits for. */
typedef struct pending {
    MPI_Request request;
    uint32_t peer; /* UINT32_MAX: all of them */
} pending;

static struct {
    bool is_begun;
    uint32_t rank, ranks;
    uint64_t timeout_ns;
    const ls_run_control *_Atomic control;
    peer *peers;
    LS_VEC(pending) pending;
} job;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static volatile sig_atomic_t asked; /* to stop, before the run has handlers of its own */

static void on_stop(int number)
{
    (void)number;
    asked = 1;
}

static void load(void)
{
#define X(name) { #name, &mpi.name },
    static const library_call calls[] = { MPI_CALLS(X) MPI_VARIABLES(X) };
#undef X
    loaded = library_load(LIBRARY, calls, LS_COUNT_OF(calls));
}

/* -------------------------------------------------------------------------------------------------- waiting */

static ls_status mpi_error(int code, ls_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)mpi.MPI_Error_string(code, text, &length);
    return ls_fail(err, LS_ERR_IO, "rank %u of %u: MPI failed: %s", job.rank, job.ranks, text);
}

static ls_status lost(const pending *p, uint64_t waited_ns, ls_error *err)
{
    char who[48] = "another rank";
    if (p->peer != UINT32_MAX)
        snprintf(who, sizeof who, "rank %u", p->peer);
    return ls_fail(
        err, LS_ERR_IO,
        "rank %u of %u: %s has not answered for %.1f s: it has ended, or its host is gone; the run is "
        "over",
        job.rank, job.ranks, who, (double)waited_ns * 1e-9);
}

/* Whether it is time to give up. A stop that all ranks have seen ends the wait at the next meeting. */
static bool is_over(uint64_t now, uint64_t began, uint64_t *stopped)
{
    const ls_run_control *control = atomic_load(&job.control);
    bool stops = control != NULL && atomic_load_explicit(&control->stop, memory_order_relaxed) != 0;
    if ((stops || asked) && *stopped == 0)
        *stopped = now;
    return now - began > job.timeout_ns || (*stopped != 0 && now - *stopped > STOP_NS);
}

/* Until all pending requests have ended. */
static ls_status wait_all(ls_error *err)
{
    uint64_t began = host_clock_ns(), stopped = 0;
    size_t first = 0;
    for (uint32_t turns = 0; first < job.pending.count; turns++) {
        int done = 0;
        int code = mpi.MPI_Test(&job.pending.at[first].request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return mpi_error(code, err);
        first += done != 0;
        if (done || turns < SPINS)
            continue;
        (void)sched_yield();
        uint64_t now = host_clock_ns();
        if (is_over(now, began, &stopped))
            return lost(&job.pending.at[first], now - began, err);
    }
    vec_clear(&job.pending);
    return LS_OK;
}

static ls_status add(MPI_Request request, uint32_t rank, int code, ls_error *err)
{
    const pending p = { request, rank };
    if (code != MPI_SUCCESS)
        return mpi_error(code, err);
    return vec_push(&job.pending, p) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for messages of MPI");
}

/* ------------------------------------------------------------------------------------------------- exchange */

static ls_status send_bytes(const uint8_t *bytes, size_t count, uint32_t to, int tag, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t at = 0; at < count && status == LS_OK; at += CHUNK_BYTES) {
        MPI_Request request;
        size_t part = count - at < CHUNK_BYTES ? count - at : CHUNK_BYTES;
        int code = mpi.MPI_Isend(bytes + at, (int)part, mpi.ompi_mpi_byte, (int)to, tag,
                                 mpi.ompi_mpi_comm_world, &request);
        status = add(request, to, code, err);
    }
    return status;
}

static ls_status receive_bytes(uint8_t *bytes, size_t count, uint32_t from, int tag, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t at = 0; at < count && status == LS_OK; at += CHUNK_BYTES) {
        MPI_Request request;
        size_t part = count - at < CHUNK_BYTES ? count - at : CHUNK_BYTES;
        int code = mpi.MPI_Irecv(bytes + at, (int)part, mpi.ompi_mpi_byte, (int)from, tag,
                                 mpi.ompi_mpi_comm_world, &request);
        status = add(request, from, code, err);
    }
    return status;
}

static bool takes_part(const uint8_t *with, uint32_t rank)
{
    return rank != job.rank && (with == NULL || with[rank] != 0);
}

/* The head and the first bytes to one rank, and those from it. */
static ls_status start_first(uint32_t rank, const rank_bytes *out, ls_error *err)
{
    peer *p = &job.peers[rank];
    uint64_t count = out->count;
    size_t first = count < INLINE_BYTES - sizeof count ? count : INLINE_BYTES - sizeof count;
    memcpy(p->out, &count, sizeof count);
    if (first > 0)
        memcpy(p->out + sizeof count, out->at, first);
    ls_status status = receive_bytes(p->in, INLINE_BYTES, rank, TAG_FIRST, err);
    return status == LS_OK ? send_bytes(p->out, sizeof count + first, rank, TAG_FIRST, err) : status;
}

/* Both have the first bytes: the rest of long ones. */
static ls_status start_rest(uint32_t rank, const rank_bytes *out, ls_error *err)
{
    peer *p = &job.peers[rank];
    const size_t first = INLINE_BYTES - sizeof(uint64_t);
    uint64_t count;
    memcpy(&count, p->in, sizeof count);
    p->count = count;
    ls_status status = LS_OK;
    if (count > first) {
        if (count > p->capacity) {
            free(p->bytes);
            p->bytes = malloc(count);
            p->capacity = p->bytes != NULL ? count : 0;
        }
        if (p->bytes == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for %zu bytes of rank %u", p->count, rank);
        memcpy(p->bytes, p->in + sizeof count, first);
        status = receive_bytes(p->bytes + first, count - first, rank, TAG_REST, err);
    }
    if (status == LS_OK && out->count > first)
        status = send_bytes(out->at + first, out->count - first, rank, TAG_REST, err);
    return status;
}

static ls_status exchange(void *self, const rank_bytes *out, rank_bytes *in, const uint8_t *with,
                          ls_error *err)
{
    ls_status status = LS_OK;
    (void)self;
    for (uint32_t r = 0; r < job.ranks && status == LS_OK; r++)
        if (takes_part(with, r))
            status = start_first(r, &out[r], err);
    if (status == LS_OK)
        status = wait_all(err);
    for (uint32_t r = 0; r < job.ranks && status == LS_OK; r++)
        if (takes_part(with, r))
            status = start_rest(r, &out[r], err);
    if (status == LS_OK)
        status = wait_all(err);
    for (uint32_t r = 0; r < job.ranks && status == LS_OK; r++) {
        const peer *p = &job.peers[r];
        if (takes_part(with, r))
            in[r] =
                (rank_bytes){ p->count > INLINE_BYTES - sizeof(uint64_t) ? p->bytes : p->in + sizeof(uint64_t),
                              p->count };
    }
    return status;
}

static ls_status reduce(uint64_t *values, size_t count, void *operation, ls_error *err)
{
    MPI_Request request;
    int code = mpi.MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, mpi.ompi_mpi_uint64_t, operation,
                                  mpi.ompi_mpi_comm_world, &request);
    ls_status status = add(request, UINT32_MAX, code, err);
    return status == LS_OK ? wait_all(err) : status;
}

static ls_status least(void *self, uint64_t *values, size_t count, ls_error *err)
{
    (void)self;
    return reduce(values, count, mpi.ompi_mpi_op_min, err);
}

static ls_status sum(void *self, uint64_t *values, size_t count, ls_error *err)
{
    (void)self;
    return reduce(values, count, mpi.ompi_mpi_op_sum, err);
}

/* ---------------------------------------------------------------------------------------------- begin, end */

ls_status mpi_begin(uint64_t timeout_ns, rank_transport *out, ls_error *err)
{
    int provided, rank = 0, ranks = 1;
    pthread_once(&once, load);
    if (!loaded)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "Open MPI (%s) cannot be loaded: install libopenmpi3, or leave --mpi out", LIBRARY);
    if (job.is_begun)
        return ls_fail(err, LS_ERR_USAGE, "MPI runs once in a process");
    /* The planner is one thread at a time, but not always the same. */
    int code = mpi.MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (code == MPI_SUCCESS)
        code = mpi.MPI_Comm_set_errhandler(mpi.ompi_mpi_comm_world, mpi.ompi_mpi_errors_return);
    if (code == MPI_SUCCESS)
        code = mpi.MPI_Comm_rank(mpi.ompi_mpi_comm_world, &rank);
    if (code == MPI_SUCCESS)
        code = mpi.MPI_Comm_size(mpi.ompi_mpi_comm_world, &ranks);
    if (code != MPI_SUCCESS)
        return mpi_error(code, err);
    struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    job.is_begun = true;
    job.rank = (uint32_t)rank;
    job.ranks = (uint32_t)ranks;
    job.timeout_ns = timeout_ns;
    job.peers = calloc(job.ranks, sizeof *job.peers);
    if (provided < MPI_THREAD_SERIALIZED)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "this Open MPI does not allow calls from several threads");
    if (job.peers == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %u ranks", job.ranks);
    *out = (rank_transport){
        .rank = job.rank, .ranks = job.ranks, .exchange = exchange, .least = least, .sum = sum
    };
    return LS_OK;
}

void mpi_watch(const ls_run_control *control)
{
    atomic_store(&job.control, control);
}

void mpi_end(bool all_are_here)
{
    if (!job.is_begun)
        return;
    atomic_store(&job.control, NULL);
    if (all_are_here) {
        (void)mpi.MPI_Finalize();
        for (uint32_t i = 0; i < job.ranks && job.peers != NULL; i++)
            free(job.peers[i].bytes);
        free(job.peers);
        vec_fini(&job.pending);
    }
    job.is_begun = false;
}

#else

ls_status mpi_begin(uint64_t timeout_ns, rank_transport *out, ls_error *err)
{
    (void)timeout_ns;
    (void)out;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "this Lockstep was built without Open MPI (libopenmpi-dev): leave --mpi out");
}

void mpi_watch(const ls_run_control *control)
{
    (void)control;
}

void mpi_end(bool all_are_here)
{
    (void)all_are_here;
}

#endif
