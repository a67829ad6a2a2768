/* ranks_text.c: see ranks_text.h. */
#include "report/ranks_text.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define FIELD(field_, unit_)                                                                                  \
    {                                                                                                         \
#field_, unit_, offsetof(rank_counts, field_)                                                         \
    }
const ranks_field ranks_fields[] = {
    FIELD(groups, "groups"),     FIELD(domains, "domains"), FIELD(meetings, "meetings"),
    FIELD(windows, "windows"),   FIELD(run_ns, "ns"),       FIELD(wait_ns, "ns"),
    FIELD(messages, "messages"), FIELD(credits, "credits"), FIELD(link_bytes, "bytes"),
    FIELD(other_bytes, "bytes"),
};
const size_t ranks_field_count = LS_COUNT_OF(ranks_fields);

uint64_t ranks_field_of(const ranks_field *field, const rank_counts *counts)
{
    uint64_t value;
    memcpy(&value, (const char *)counts + field->offset, sizeof value);
    return value;
}

void ranks_print(const rank_counts *ranks, uint32_t count, FILE *to)
{
    char windows[32], run[32], messages[32], bytes[32], other[32];
    fprintf(to, "  %-6s %7s %8s %12s %11s %8s %12s %14s %14s\n", "rank", "groups", "domains", "windows",
            "time", "waiting", "messages", "bytes of links", "other bytes");
    for (uint32_t i = 0; i < count; i++) {
        const rank_counts *n = &ranks[i];
        double waits = n->run_ns > 0 ? 100.0 * (double)n->wait_ns / (double)n->run_ns : 0;
        fprintf(to, "  %-6u %7" PRIu64 " %8" PRIu64 " %12s %11s %6.1f %% %12s %14s %14s\n", i, n->groups,
                n->domains, format_count(n->windows, windows, sizeof windows),
                format_si((double)n->run_ns * 1e-9, "s", run, sizeof run), waits,
                format_count(n->messages, messages, sizeof messages),
                format_count(n->link_bytes, bytes, sizeof bytes),
                format_count(n->other_bytes, other, sizeof other));
    }
    if (count > 0)
        fprintf(to, "  %s meetings; waiting: for messages of other ranks and for the earliest next time\n",
                format_count(ranks[0].meetings, windows, sizeof windows));
}
