/* perfetto.c: timelines as Perfetto's protobuf (.pftrace): a packet per event, strings in place, tracks in a tree.
 * Field numbers are those of perfetto's TracePacket, TrackDescriptor, TrackEvent and DebugAnnotation. */
#include "base/file.h"
#include "report/timeline/writer.h"

#include <string.h>

/* Fields. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS_INFO = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER_INFO = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    COUNTER_UNIT_NAME = 6,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_DOUBLE_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };
#define CLEARED 1u /* of PACKET_FLAGS: nothing before this packet is needed */

/* A message that is being made: names are cut, so that it always has room. */
#define MESSAGE_BYTES 1536
#define TEXT_MOST 512u
typedef struct message {
    uint8_t at[MESSAGE_BYTES];
    size_t count;
} message;

typedef struct perfetto {
    file_writer file;
    uint32_t scale;
    bool has_begun; /* the first packet is written */
} perfetto;

static void put_varint(message *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        m->at[m->count++] = (uint8_t)(value | 0x80);
    m->at[m->count++] = (uint8_t)value;
}

static void put_number(message *m, uint32_t field, uint64_t value)
{
    put_varint(m, field << 3 | WIRE_VARINT);
    put_varint(m, value);
}

static void put_fixed(message *m, uint32_t field, uint64_t value)
{
    put_varint(m, field << 3 | WIRE_FIXED64);
    for (unsigned i = 0; i < 8; i++)
        m->at[m->count++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(message *m, uint32_t field, const void *bytes, size_t count)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, count);
    memcpy(m->at + m->count, bytes, count);
    m->count += count;
}

static void put_text(message *m, uint32_t field, const char *text)
{
    size_t bytes = strlen(text);
    put_bytes(m, field, text, bytes < TEXT_MOST ? bytes : TEXT_MOST);
}

/* A packet with this part of it. */
static void write_packet(perfetto *p, const ls_time *time, uint32_t field, const message *part)
{
    message packet = { .count = 0 }, head = { .count = 0 };
    if (time != NULL)
        put_number(&packet, PACKET_TIMESTAMP, *time / (1000000 / p->scale));
    put_number(&packet, PACKET_SEQUENCE, 1);
    if (!p->has_begun)
        put_number(&packet, PACKET_FLAGS, CLEARED);
    p->has_begun = true;
    put_varint(&packet, field << 3 | WIRE_BYTES);
    put_varint(&packet, part->count);
    put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
    put_varint(&head, packet.count + part->count);
    fwrite(head.at, 1, head.count, p->file.stream);
    fwrite(packet.at, 1, packet.count, p->file.stream);
    fwrite(part->at, 1, part->count, p->file.stream);
}

static ls_status perfetto_open(void *self, const writer_file *file, ls_error *err)
{
    perfetto *p = self;
    p->scale = file->scale;
    return file_writer_open(&p->file, file->path, err);
}

static void perfetto_track(void *self, const timeline_track *track)
{
    message m = { .count = 0 }, part = { .count = 0 };
    put_number(&m, TRACK_UUID, track->id);
    if (track->type == TRACK_PROCESS) {
        put_number(&part, PROCESS_PID, track->id);
        put_text(&part, PROCESS_NAME, track->name);
        put_bytes(&m, TRACK_PROCESS_INFO, part.at, part.count);
    } else {
        put_text(&m, TRACK_NAME, track->name);
        put_number(&m, TRACK_PARENT, track->parent->id);
    }
    if (track->type == TRACK_COUNTER) {
        if (track->unit != NULL && track->unit[0] != 0)
            put_text(&part, COUNTER_UNIT_NAME, track->unit);
        put_bytes(&m, TRACK_COUNTER_INFO, part.at, part.count);
    }
    write_packet(self, NULL, PACKET_TRACK, &m);
}

static const char *category(const timeline_slice *slice)
{
    static const char *const kinds[LS_TAP_KINDS] = {
#define KIND(id_, name_, help_) name_,
#include "lockstep/timeline_kinds.def"
#undef KIND
    };
    return slice->part == SLICE_STATE     ? "stall"
           : slice->part == SLICE_STAGE   ? "stage"
           : slice->part == SLICE_SERVICE ? "service"
                                          : kinds[slice->kind];
}

static void perfetto_begin(void *self, const timeline_slice *slice)
{
    message m = { .count = 0 };
    put_number(&m, EVENT_TYPE, TYPE_BEGIN);
    put_number(&m, EVENT_TRACK, slice->track->id);
    put_text(&m, EVENT_CATEGORY, category(slice));
    put_text(&m, EVENT_NAME, slice->name);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const slice_arg *arg = &slice->args[i];
        message part = { .count = 0 };
        put_text(&part, ANNOTATION_NAME, arg->name);
        if (arg->text != NULL)
            put_text(&part, ANNOTATION_STRING, arg->text);
        else
            put_number(&part, arg->is_address ? ANNOTATION_POINTER : ANNOTATION_UINT, arg->number);
        put_bytes(&m, EVENT_ANNOTATION, part.at, part.count);
    }
    if (slice->flow != 0)
        put_fixed(&m, slice->ends_flow ? EVENT_FLOW_END : EVENT_FLOW, slice->flow);
    write_packet(self, &slice->begin, PACKET_EVENT, &m);
}

static void perfetto_end(void *self, const timeline_slice *slice)
{
    message m = { .count = 0 };
    put_number(&m, EVENT_TYPE, TYPE_END);
    put_number(&m, EVENT_TRACK, slice->track->id);
    write_packet(self, &slice->end, PACKET_EVENT, &m);
}

static void perfetto_count(void *self, const timeline_track *track, ls_time time, double value)
{
    message m = { .count = 0 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(&m, EVENT_TYPE, TYPE_COUNTER);
    put_number(&m, EVENT_TRACK, track->id);
    put_fixed(&m, EVENT_DOUBLE_VALUE, bits);
    write_packet(self, &time, PACKET_EVENT, &m);
}

static ls_status perfetto_close(void *self, ls_time end, ls_error *err)
{
    perfetto *p = self;
    (void)end;
    return file_writer_commit(&p->file, err);
}

static void perfetto_abort(void *self)
{
    file_writer_abort(&((perfetto *)self)->file);
}

const timeline_writer writer_perfetto = {
    .open = perfetto_open,
    .track = perfetto_track,
    .begin = perfetto_begin,
    .end = perfetto_end,
    .count = perfetto_count,
    .close = perfetto_close,
    .abort = perfetto_abort,
    .size = sizeof(perfetto),
    .kinds = ~LS_TAP_BIT(LS_TAP_INSTRUCTION),
};
