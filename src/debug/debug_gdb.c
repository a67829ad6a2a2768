/* debug_gdb.c: see debug_gdb.h. The socket, and the debugger as the target of gdb_protocol.h. A wave is a thread. Its number
 * is 1 + 32 * (number of its work-group) + wave, so it is the same each time. */
#include "debug/debug_gdb.h"

#include "base/text.h"
#include "debug/debug_impl.h"
#include "debug/gdb_protocol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define POLL_EVERY 1024 /* instructions between two looks at the socket */
#define WAVES_PER_GROUP 32u

struct debug_gdb {
    debugger *d;
    int socket;
    gdb_reader reader;
    gdb_session session;
    gdb_target target;
    char in[4096], out[2 * GDB_PACKET_BYTES + 8];
    size_t in_bytes, in_at, out_bytes;
    uint64_t stopped; /* the thread that stopped; 0: the program does not stand */
    uint32_t countdown;
    bool is_running;   /* the client waits for a stop reply */
    bool has_detached; /* the program runs without a client */
    bool is_over;      /* it has ended with `code` */
    int code;
    const char *lost;
};

/* ------------------------------------------------------------------------------------------------- threads */

static uint64_t thread_of(const debugger *d, const uint32_t id[3], uint32_t wave)
{
    const drv_dispatch *l = d->launch->dispatch;
    uint64_t n[3];
    for (unsigned i = 0; i < 3; i++)
        n[i] = ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i];
    return 1 + wave + WAVES_PER_GROUP * (id[0] + n[0] * (id[1] + n[1] * id[2]));
}

static uint64_t current(void *self)
{
    return ((const debug_gdb *)self)->stopped;
}

typedef struct thread_call {
    const debugger *d;
    uint64_t stopped; /* was told first */
    bool (*each)(void *each_self, uint64_t thread);
    void *self;
} thread_call;

static bool call_thread(void *self, const uint32_t id[3], uint32_t wave, const char *place)
{
    const thread_call *call = self;
    (void)place;
    uint64_t thread = thread_of(call->d, id, wave);
    return thread == call->stopped || call->each(call->self, thread);
}

static void threads(void *self, bool (*each)(void *each_self, uint64_t thread), void *each_self)
{
    debug_gdb *g = self;
    thread_call call = { .d = g->d, .stopped = g->stopped, .each = each, .self = each_self };
    /* The one that stopped may have ended with its last instruction. */
    if (g->stopped != 0 && each(each_self, g->stopped))
        debug_each_wave(g->d, call_thread, &call);
}

static bool select_thread(void *self, uint64_t thread)
{
    debug_gdb *g = self;
    debugger *d = g->d;
    if (g->stopped == 0 || thread == 0)
        return false;
    uint64_t group = (thread - 1) / WAVES_PER_GROUP;
    uint32_t wave = (uint32_t)((thread - 1) % WAVES_PER_GROUP), id[3];
    const drv_dispatch *l = d->launch->dispatch;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t n = ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i];
        id[i] = (uint32_t)(i < 2 ? group % n : group);
        group /= n;
    }
    if (memcmp(id, d->stop->work_group, sizeof id) == 0) {
        if (wave >= d->stop->wave_count)
            return false;
        d->wave = wave;
        return true;
    }
    return d->stop->unit && debug_view_wave(d, id, wave, NULL) == LS_OK;
}

static void describe(void *self, char *out, size_t bytes)
{
    const debugger *d = ((debug_gdb *)self)->d;
    const uint32_t *id = d->stop->work_group;
    cu_look look;
    int n = snprintf(out, bytes, "work-group %u,%u,%u wave %u", id[0], id[1], id[2], d->wave);
    if (n > 0 && (size_t)n < bytes && debug_look(d, d->wave, &look))
        snprintf(out + n, bytes - (size_t)n, ", %s SIMD %u slot %u", look.name, look.simd, look.slot);
}

/* --------------------------------------------------------------------------------------- registers, memory */

static uint32_t lanes(void *self)
{
    const debugger *d = ((debug_gdb *)self)->d;
    return d->launch ? d->launch->program->lanes : 64;
}

static gdb_answer read_register(void *self, uint64_t number, uint8_t *out)
{
    debugger *d = ((debug_gdb *)self)->d;
    const amd_wave *w = debug_wave(d, NULL);
    uint64_t wide = 0;
    if (!w)
        return GDB_HAS_NONE;
    if (number >= GDB_REG_VGPR) {
        uint64_t v = number - GDB_REG_VGPR;
        if (v >= w->vgpr_count)
            return GDB_HAS_NONE;
        memcpy(out, w->vgpr + v * w->lanes, 4u * w->lanes);
        return GDB_YES;
    }
    if (number < GDB_REG_PC || number == GDB_REG_CPSR)
        wide = 0; /* of AArch64 */
    else if (number == GDB_REG_PC)
        wide = debug_wave_pc(d, d->wave);
    else if (number == GDB_REG_EXEC)
        wide = amd_wave_exec(w);
    else if (number == GDB_REG_VCC)
        wide = w->sgpr[AMD_VCC_LO] | (w->lanes == 64 ? (uint64_t)w->sgpr[AMD_VCC_HI] << 32 : 0);
    else if (number == GDB_REG_SCC)
        wide = w->scc;
    else
        wide = number == GDB_REG_M0     ? w->sgpr[AMD_M0]
               : number == GDB_REG_MODE ? w->mode
                                        : w->sgpr[number - GDB_REG_SGPR];
    memcpy(out, &wide, gdb_register_bytes(number, w->lanes));
    return GDB_YES;
}

static gdb_answer write_register(void *self, uint64_t number, const uint8_t *from)
{
    debugger *d = ((debug_gdb *)self)->d;
    amd_wave *w = debug_wave(d, NULL);
    uint64_t wide = 0;
    if (!w || number <= GDB_REG_CPSR || number == GDB_REG_MODE)
        return GDB_NO;
    if (number >= GDB_REG_VGPR) {
        uint64_t v = number - GDB_REG_VGPR;
        if (v >= w->vgpr_count)
            return GDB_NO;
        memcpy(w->vgpr + v * w->lanes, from, 4u * w->lanes);
        return GDB_YES;
    }
    memcpy(&wide, from, gdb_register_bytes(number, w->lanes));
    unsigned code = number == GDB_REG_EXEC  ? AMD_EXEC_LO
                    : number == GDB_REG_VCC ? AMD_VCC_LO
                    : number == GDB_REG_M0  ? AMD_M0
                                            : (unsigned)(number - GDB_REG_SGPR);
    if (number == GDB_REG_SCC) {
        w->scc = wide != 0;
        return GDB_YES;
    }
    w->sgpr[code] = (uint32_t)wide;
    if ((number == GDB_REG_EXEC || number == GDB_REG_VCC) && w->lanes == 64)
        w->sgpr[code + 1] = (uint32_t)(wide >> 32);
    return GDB_YES;
}

/* The LDS of the work-group is at its flat addresses. */
static debug_address address_of(debugger *d, uint64_t address)
{
    const amd_wave *w = debug_wave(d, NULL);
    uint64_t base = w ? w->group->shared_base : 0;
    if (base != 0 && address >= base && address - base <= UINT32_MAX)
        return (debug_address){ .in_lds = true, .at = address - base };
    return (debug_address){ .at = address };
}

static bool read_memory(void *self, uint64_t address, void *out, uint64_t bytes)
{
    debugger *d = ((debug_gdb *)self)->d;
    return debug_memory(d, address_of(d, address), out, bytes, NULL) == LS_OK;
}

/* In simulated time only LDS: bytes of memory may be in several caches. */
static bool write_memory(void *self, uint64_t address, const void *from, uint64_t bytes)
{
    debugger *d = ((debug_gdb *)self)->d;
    debug_address at = address_of(d, address);
    const amd_wave *w = debug_wave(d, NULL);
    if (at.in_lds) {
        if (!w || at.at > w->group->lds_bytes || bytes > w->group->lds_bytes - at.at)
            return false;
        memcpy(w->group->lds + at.at, from, bytes);
        return true;
    }
    return d->launch && d->launch->address_space &&
           address_space_write(d->launch->address_space, at.at, from, bytes, NULL) == LS_OK;
}

static bool stop_at(void *self, unsigned kind, uint64_t address, uint64_t bytes, bool insert)
{
    static const debug_stop_kind kinds[] = { DEBUG_BREAK, DEBUG_BREAK, DEBUG_WATCH, DEBUG_RWATCH,
                                             DEBUG_AWATCH };
    debugger *d = ((debug_gdb *)self)->d;
    debug_address at = { .at = address };
    if (kind >= GDB_STOP_WRITE)
        at = address_of(d, address);
    return debug_stop_change(d, kinds[kind], at, (uint32_t)bytes, insert);
}

/* ------------------------------------------------------------------------------------------------ commands */

/* Commands that would let the program run belong to the client. */
static bool moves(debug_command_id id)
{
    static const debug_command_id list[] = { DEBUG_CMD_RUN,   DEBUG_CMD_CONTINUE, DEBUG_CMD_STEPI,
                                             DEBUG_CMD_NEXTI, DEBUG_CMD_STEP,     DEBUG_CMD_NEXT,
                                             DEBUG_CMD_KILL,  DEBUG_CMD_QUIT,     DEBUG_CMD_SOURCE };
    for (size_t i = 0; i < LS_COUNT_OF(list); i++)
        if (list[i] == id)
            return true;
    return false;
}

/* `barrier`, `finish`, `until` and `group` choose how far the next continue goes. */
static void monitor(void *self, const char *command, char *out, size_t bytes)
{
    debugger *d = ((debug_gdb *)self)->d;
    FILE *usual = d->out, *to = fmemopen(out, bytes, "w");
    debug_line line;
    ls_error err;
    char text[900];
    if (!to)
        return;
    d->out = to;
    ls_status status = debug_line_parse(command, &line, &err);
    if (status == LS_OK && moves(line.id))
        status =
            ls_fail(&err, LS_ERR_USAGE, "the client's own commands run the program: continue, stepi, kill");
    if (status == LS_OK)
        status = debug_execute(d, &line, &err);
    if (status != LS_OK)
        fprintf(to, "%s\n", ls_error_text(&err, text, sizeof text));
    else if (d->is_moving)
        fprintf(to, "The next continue goes that far.\n");
    d->gdb_moves = status == LS_OK && d->is_moving;
    d->is_moving = false;
    fclose(to);
    d->out = usual;
}

static void stop_reply(void *self, char *out, size_t bytes)
{
    static const char *const watches[] = { "", "watch", "rwatch", "awatch", "" };
    const debug_gdb *g = self;
    const debugger *d = g->d;
    if (g->stopped == 0) {
        snprintf(out, bytes, "W%02x", (unsigned)g->code & 0xff);
        return;
    }
    int n = snprintf(out, bytes, "T%02xthread:%" PRIx64 ";", (unsigned)d->stop_signal, g->stopped);
    if (*watches[d->stop_watch] && n > 0 && (size_t)n < bytes)
        snprintf(out + n, bytes - (size_t)n, "%s:%" PRIx64 ";", watches[d->stop_watch], d->stop_address);
}

/* -------------------------------------------------------------------------------------------------- socket */

static bool send_all(debug_gdb *g, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = send(g->socket, data, bytes, MSG_NOSIGNAL);
        if (n <= 0) {
            g->lost = "the client closed the connection";
            return false;
        }
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool send_reply(debug_gdb *g)
{
    g->out_bytes = gdb_frame(g->session.reply, g->session.bytes, g->out, sizeof g->out);
    return send_all(g, g->out, g->out_bytes);
}

static bool send_stop(debug_gdb *g)
{
    g->session.thread = g->session.run_thread = 0;
    stop_reply(g, g->session.reply, sizeof g->session.reply);
    g->session.bytes = strlen(g->session.reply);
    return send_reply(g);
}

/* The next packet, or an interrupt. GDB_MORE: the client has gone. */
static gdb_event next_event(debug_gdb *g)
{
    for (;;) {
        if (g->in_at == g->in_bytes) {
            ssize_t n = recv(g->socket, g->in, sizeof g->in, 0);
            if (n <= 0) {
                g->lost = "the client closed the connection";
                return GDB_MORE;
            }
            g->in_at = 0;
            g->in_bytes = (size_t)n;
        }
        gdb_event event = gdb_read_byte(&g->reader, g->in[g->in_at++]);
        if (event == GDB_AGAIN && !g->session.has_no_acks && !send_all(g, g->out, g->out_bytes))
            return GDB_MORE;
        if (event == GDB_DAMAGED && !g->session.has_no_acks && !send_all(g, "-", 1))
            return GDB_MORE;
        if (event == GDB_PACKET && !g->session.has_no_acks && !send_all(g, "+", 1))
            return GDB_MORE;
        if (event == GDB_PACKET || event == GDB_INTERRUPT)
            return event;
    }
}

/* Serves requests up to one that moves the program. */
static gdb_action serve(debug_gdb *g)
{
    for (;;) {
        gdb_event event = next_event(g);
        if (event == GDB_MORE)
            return GDB_KILL;
        if (event == GDB_INTERRUPT) /* it stands already */
            continue;
        gdb_action action = gdb_handle(&g->session, g->reader.payload, g->reader.bytes);
        if ((action == GDB_ANSWER || action == GDB_DETACH) && !send_reply(g))
            return GDB_KILL;
        if (action != GDB_ANSWER)
            return action;
    }
}

bool debug_gdb_talk(debug_gdb *g)
{
    debugger *d = g->d;
    d->is_moving = d->wants_kill = false;
    if (g->has_detached)
        return true;
    d->gdb_moves = false;
    g->stopped = thread_of(d, d->stop->work_group, d->wave);
    if (g->is_running && !send_stop(g)) {
        d->wants_quit = true;
        return false;
    }
    gdb_action action = serve(g);
    g->is_running = true;
    g->countdown = POLL_EVERY;
    if (action == GDB_DETACH) {
        g->has_detached = true;
        vec_clear(&d->breaks);
        debug_break_resolve(d);
        d->move = (debug_move){ .kind = DEBUG_MOVE_RUN };
    } else if (action == GDB_KILL) {
        d->wants_quit = true;
    } else if (action == GDB_STEP) {
        (void)debug_go(d, d->where == DEBUG_AT_FAULT ? DEBUG_MOVE_RUN : DEBUG_MOVE_STEPI, 1, NULL);
    } else if (!d->gdb_moves) {
        d->move = (debug_move){ .kind = DEBUG_MOVE_RUN };
    }
    g->stopped = 0;
    d->stop_watch = DEBUG_BREAK;
    return !d->wants_quit;
}

bool debug_gdb_interrupts(debug_gdb *g)
{
    if (g->has_detached || --g->countdown > 0)
        return false;
    g->countdown = POLL_EVERY;
    struct pollfd look = { .fd = g->socket, .events = POLLIN };
    if (poll(&look, 1, 0) <= 0)
        return false;
    char byte;
    ssize_t n = recv(g->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0) {
        g->lost = "the client closed the connection";
        g->d->wants_quit = true;
        return false;
    }
    if (n < 0)
        return false;
    (void)!recv(g->socket, &byte, 1, 0); /* nothing else may come while it waits; the rest is read later */
    return byte == 3;
}

void debug_gdb_ended(debug_gdb *g, int code)
{
    g->is_over = true;
    g->code = code;
    g->stopped = 0;
    if (g->has_detached || g->lost)
        return;
    if (g->is_running && !send_stop(g))
        return;
    (void)serve(g);
    g->lost = NULL;
}

const char *debug_gdb_lost(const debug_gdb *g)
{
    return g->lost;
}

/* ---------------------------------------------------------------------------------------------- life and death */

static ls_status no_socket(int fd, uint16_t port, ls_error *err)
{
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (error == EADDRINUSE)
        return ls_fail(err, LS_ERR_USAGE, "port %u is taken: choose another one, or 0 for any that is free",
                       port);
    return ls_fail(err, LS_ERR_IO, "port %u of the loopback interface cannot be opened: %s", port,
                   strerror(error));
}

/* Only the loopback interface: the protocol has no passwords. */
static ls_status listen_on(uint16_t *port, int *out, ls_error *err)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(*port) };
    socklen_t bytes = sizeof at;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        return no_socket(fd, *port, err);
    *port = ntohs(at.sin_port);
    *out = fd;
    return LS_OK;
}

ls_status debug_gdb_open(debugger *d, uint16_t port, FILE *console, debug_gdb **out, ls_error *err)
{
    int listening = -1, one = 1;
    *out = NULL;
    debug_gdb *g = calloc(1, sizeof *g);
    if (!g)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    g->d = d;
    g->socket = -1;
    g->target = (gdb_target){ .self = g,
                              .lanes = lanes,
                              .current = current,
                              .threads = threads,
                              .select = select_thread,
                              .describe = describe,
                              .read_register = read_register,
                              .write_register = write_register,
                              .read_memory = read_memory,
                              .write_memory = write_memory,
                              .stop_at = stop_at,
                              .monitor = monitor,
                              .stop_reply = stop_reply };
    gdb_session_init(&g->session, &g->target);
    ls_status status = listen_on(&port, &listening, err);
    if (status != LS_OK) {
        debug_gdb_close(g);
        return status;
    }
    fprintf(console, "Waiting for gdb: target remote 127.0.0.1:%u\n", port);
    fflush(console);
    g->socket = accept(listening, NULL, NULL);
    close(listening); /* one client: others are refused */
    if (g->socket < 0) {
        debug_gdb_close(g);
        return ls_fail(err, LS_ERR_IO, "no client came: %s", strerror(errno));
    }
    (void)setsockopt(g->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    *out = g;
    return LS_OK;
}

void debug_gdb_close(debug_gdb *g)
{
    if (!g)
        return;
    if (g->socket >= 0)
        close(g->socket);
    gdb_session_fini(&g->session);
    free(g);
}
