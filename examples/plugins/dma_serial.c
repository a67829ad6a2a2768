/* dma_serial.c: a DMA engine that moves one piece of a line at a time and begins the next when it is answered. No
 * host link: transfers between host and GPU take as long as their lines. */
#include "lockstep/dma.h"

typedef struct state {
    ls_region *region;
    ls_line_port port;
    ls_dma_job *head, *tail;
    ls_line_message message; /* the request on its way, or refused */
    uint64_t at;             /* offset of the piece in the transfer */
    uint32_t bytes, first;   /* of the piece; its place in the line of `message` */
    bool is_writing;
    uint8_t piece[LS_LINE_BYTES_MAX]; /* of a copy: read and to be written */
    ls_event event;
} state;

static uint64_t left_in_line(const state *s, uint64_t address)
{
    return s->port.line_bytes - address % s->port.line_bytes;
}

/* The next piece: inside one line of the source and of the destination. A copy onto itself goes backwards, in
 * bytes, if it would overwrite bytes that it has not read. */
static void choose_piece(state *s)
{
    const ls_dma_job *j = s->head;
    uint64_t left = j->bytes - j->answered, most = left;
    bool reads = j->kind == LS_DMA_OUT || j->kind == LS_DMA_COPY, writes = j->kind != LS_DMA_OUT;
    bool backwards = j->kind == LS_DMA_COPY && j->to > j->from && j->to < j->from + j->bytes;
    s->at = backwards ? left - 1 : j->answered;
    if (backwards)
        most = 1;
    if (reads && left_in_line(s, j->from + s->at) < most)
        most = left_in_line(s, j->from + s->at);
    if (writes && left_in_line(s, j->to + s->at) < most)
        most = left_in_line(s, j->to + s->at);
    s->bytes = (uint32_t)most;
    s->is_writing = !reads;
}

static void fill_message(state *s)
{
    const ls_dma_job *j = s->head;
    uint64_t address = (s->is_writing ? j->to : j->from) + s->at;
    ls_line_message *m = &s->message;
    memset(m, 0, sizeof *m);
    s->first = (uint32_t)(address % s->port.line_bytes);
    m->address = address - s->first;
    m->kind = s->is_writing ? LS_LINE_WRITE : LS_LINE_READ;
    m->flags = LS_LINE_SYSTEM;
    for (uint32_t i = s->first; i < s->first + s->bytes; i++) {
        uint64_t offset = s->at + i - s->first;
        m->mask[i / 64] |= UINT64_C(1) << i % 64;
        if (s->is_writing && j->kind == LS_DMA_COPY)
            m->data[i] = s->piece[i - s->first];
        else if (s->is_writing && j->kind == LS_DMA_FILL && j->pattern != NULL)
            m->data[i] = j->pattern[offset % j->pattern_bytes];
        else if (s->is_writing && j->host_from != NULL)
            m->data[i] = j->host_from[offset];
    }
}

static void go_on(void *self, ls_cycle now)
{
    state *s = self;
    while (s->head != NULL && s->head->answered == s->head->bytes) {
        ls_dma_job *j = s->head;
        s->head = j->next;
        j->done(j->self, j, now);
    }
    if (s->head == NULL)
        return;
    if (s->bytes == 0)
        choose_piece(s);
    fill_message(s);
    (void)ls_line_request(&s->port, &s->message, now); /* refused: retry() follows */
}

static void reply(void *self, const ls_line_message *m, ls_cycle now)
{
    state *s = self;
    ls_dma_job *j = s->head;
    bool again = j->kind == LS_DMA_COPY && !s->is_writing;
    (void)now;
    if (again)
        memcpy(s->piece, m->data + s->first, s->bytes);
    else if (j->kind == LS_DMA_OUT && j->host_to != NULL)
        memcpy(j->host_to + s->at, m->data + s->first, s->bytes);
    s->is_writing = true;
    if (!again) {
        j->answered += s->bytes;
        s->bytes = 0;
    }
    ls_schedule(s->region, &s->event, 1);
}

static void retry(void *self, ls_cycle now)
{
    state *s = self;
    (void)ls_line_request(&s->port, &s->message, now);
}

static ls_status attach(void *self, ls_block *memory, ls_error *err)
{
    static const ls_line_client_ops client = { .reply = reply, .retry = retry };
    return ls_line_join(memory, &client, self, &((state *)self)->port, err);
}

static void start(void *self, ls_dma_job *job, ls_cycle now)
{
    state *s = self;
    bool idle = s->head == NULL;
    (void)now;
    job->next = NULL;
    job->answered = 0;
    if (idle)
        s->head = job;
    else
        s->tail->next = job;
    s->tail = job;
    if (idle && !ls_event_scheduled(&s->event))
        ls_schedule(s->region, &s->event, 1);
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)from_platform, (void)err;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, go_on, s);
    return LS_OK;
}

static const ls_dma_ops dma_ops = { .attach = attach, .start = start };
static const ls_port_decl ports[] = {
    { .name = LS_DMA_PORT, .interface = LS_DMA_INTERFACE, .ops = &dma_ops },
};
static const ls_block_type dma_serial = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DMA_SLOT,
    .name = "serial",
    .help = "one piece of a line at a time",
    .state_size = sizeof(state),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(dma_serial);
