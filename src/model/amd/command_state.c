/* command_state.c: the saved state of the command processor. Packets are memory of its client, to which HOST rows point;
 * the client saves what they hold. */
#include "model/amd/command_impl.h"

static uint64_t cu_length(const void *self)
{
    return ((const command *)self)->cu_count;
}

static uint64_t dispatcher_length(const void *self)
{
    return ((const command *)self)->spec->dispatchers;
}

static uint64_t place_length(const void *self)
{
    return ((const dispatcher *)self)->place_words;
}

static const ls_state_row packets_rows[] = {
    LS_STATE_FIXED(ls_packets, region),     LS_STATE_HOST(ls_packets, head),
    LS_STATE_HOST(ls_packets, tail),        LS_STATE_HOST(ls_packets, done_head),
    LS_STATE_HOST(ls_packets, done_tail),   LS_STATE_EVENT(ls_packets, rest),
    LS_STATE_DATA(ls_packets, rest_cycles),
};

static const ls_state_row dispatcher_rows[] = {
    LS_STATE_DATA_SPAN(dispatcher, phase, is_cancelled),
    LS_STATE_HOST(dispatcher, packet),
    LS_STATE_DATA_SPAN(dispatcher, begin, order),
    LS_STATE_ARRAY(dispatcher, places, place_length),
    LS_STATE_FIXED(dispatcher, place_words),
    LS_STATE_DATA_SPAN(dispatcher, first_place, die_sent),
};

const ls_state_row command_rows[COMMAND_ROW_COUNT] = {
    LS_STATE_PART(command, packets, packets_rows),
    LS_STATE_FIXED_SPAN(command, spec, flush),
    LS_STATE_ARRAY(command, cus, cu_length),
    LS_STATE_ARRAY(command, owner, cu_length),
    LS_STATE_ARRAY(command, scratch, cu_length),
    LS_STATE_ARRAY_OF(command, dispatchers, dispatcher_length, dispatcher_rows),
    LS_STATE_DATA_SPAN(command, active, following),
    LS_STATE_FIXED(command, central),
    LS_STATE_DATA_SPAN(command, next_dispatcher, busy_since),
    LS_STATE_FIXED(command, place_words),
    LS_STATE_EVENT(command, pump),
    LS_STATE_DATA(command, n),
};

/* Messages on links name rows of the table of kernels, which is the machine's. */
static ls_status loaded(void *self, ls_error *err)
{
    command *c = self;
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        const dispatcher *d = &c->dispatchers[i];
        if (d->phase == DISPATCHER_FREE)
            continue;
        if (d->packet == NULL)
            return ls_fail(err, LS_ERR_INPUT, "%s was saved with a launch that is not there", c->name);
        c->kernels->at[i] = &d->packet->kernel;
    }
    return LS_OK;
}

const ls_state_ops command_state_ops = { .loaded = loaded };
