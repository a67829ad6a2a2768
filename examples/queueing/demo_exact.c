/* demo_exact.c: latency and throughput, simulated and by formula, which must be equal to the last digit. */
#include "base/text.h"
#include "closed_form.h"
#include "demo.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------------------------- latency */

typedef struct latency_row {
    exact_clock client, server;
    const char *client_mhz, *server_mhz;
    unsigned out, service, back; /* cycles of the sender or server */
} latency_row;

static const latency_row latency_rows[] = {
    { { 1000, 1 }, { 1000, 1 }, "1000", "1000", 20, 17, 40 },
    { { 1365, 1 }, { 7001, 2 }, "1365", "3500.5", 20, 17, 40 },
    { { 7001, 2 }, { 1365, 1 }, "3500.5", "1365", 20, 17, 40 },
    { { 1695, 1 }, { 7001, 4 }, "1695", "1750.25", 1, 1, 2 },
    { { 1000000001, 1000000 }, { 1000, 1 }, "1000.000001", "1000", 300, 0, 2 },
    { { 1, 8 }, { 997, 1000 }, "0.125", "0.997", 12, 5, 99 },
};

enum { PINGS = 1000, REPLY_FLITS = 4 };

static bool latency_row_run(const demo *d, const latency_row *row)
{
    char sets[256];
    snprintf(sets, sizeof sets,
             "clocks.client_mhz=%s clocks.server_mhz=%s request.latency_cycles=%u reply.latency_cycles=%u "
             "server.service_cycles=%u client.messages=%d client.reply_bytes=%d",
             row->client_mhz, row->server_mhz, row->out, row->back, row->service, PINGS, REPLY_FLITS * 32);
    rig r;
    if (!demo_open(d, &r, "ping.yaml", sets) ||
        !demo_run(&r, &(ls_run_options){ .threads = d->threads }, NULL))
        return false;
    ls_histogram trip = rig_histogram(&r, "queueing.client", NULL, "round_trip_fs");
    rig_close(&r);
    exact_round_trip exact = exact_ping_round_trip(&(exact_ping){ .client = row->client,
                                                                  .server = row->server,
                                                                  .request_latency = row->out,
                                                                  .reply_latency = row->back,
                                                                  .request_flits = 1,
                                                                  .reply_flits = REPLY_FLITS,
                                                                  .service = row->service,
                                                                  .think = 1,
                                                                  .count = PINGS });
    bool ok = trip.count == PINGS && trip.sum == exact.sum_fs && trip.min == exact.min_fs &&
              trip.max == exact.max_fs;
    char sum[32], formula[32];
    printf("  %11s %8s %6u %6u %6u %21s %21s %6lld fs  %s\n", row->client_mhz, row->server_mhz, row->out,
           row->service, row->back, format_count(trip.sum, sum, sizeof sum),
           format_count(exact.sum_fs, formula, sizeof formula), (long long)(trip.sum - exact.sum_fs),
           demo_verdict(d, ok));
    return ok;
}

bool demo_latency(const demo *d)
{
    demo_heading(d, 1, "The round trip over an idle network, to the femtosecond");
    printf(
        "  A client sends a request, a server answers, and so on %d times. Edge n of a clock is at\n"
        "  floor(n * period) exactly; a message arrives at the first edge at or after its time on the wire.\n"
        "  The formula uses rational arithmetic of its own. A reply has %d flits, so %d cycles are added.\n"
        "  The shortest and the longest round trip are compared as well.\n\n",
        PINGS, REPLY_FLITS, REPLY_FLITS - 1);
    printf("  %20s %20s %43s\n", "clocks, MHz", "cycles", "sum of all round trips, fs");
    printf("  %11s %8s %6s %6s %6s %21s %21s  %s\n", "client", "server", "out", "serve", "back", "simulated",
           "formula", "difference");
    bool ok = true;
    for (size_t i = 0; i < LS_COUNT_OF(latency_rows); i++)
        ok &= latency_row_run(d, &latency_rows[i]);
    return ok;
}

/* -------------------------------------------------------------------------------------------- saturation */

typedef struct saturation_row {
    const char *what;
    const char *sets;
    exact_clock client;
    unsigned cycles; /* of the client's clock: a whole number of periods of the pattern, on common edges */
    ls_ratio width;  /* the theoretical value, bytes per cycle */
} saturation_row;

#define SAME_CLOCK "clocks.client_mhz=1000 clocks.server_mhz=1000 "
#define WIDE "request.width_bytes=32 request.width_cycles=1 "

/* 2730 cycles of 1365 MHz are 7001 cycles of 3500.5 MHz. */
static const saturation_row saturation_rows[] = {
    { "link of 32 bytes per cycle", WIDE, { 1365, 1 }, 27300, { 32, 1 } },
    { "link of 96 bytes per 5 cycles", "", { 1365, 1 }, 27300, { 96, 5 } },
    { "link of 7 bytes per 3 cycles",
      "request.width_bytes=7 request.width_cycles=3 request.flit_bytes=7 "
      "client.bytes=7",
      { 1365, 1 },
      27300,
      { 7, 3 } },
    { "1 credit, 40 cycles there and back",
      SAME_CLOCK WIDE "request.credits=1",
      { 1000, 1 },
      30000,
      { 32, 40 } },
    { "9 credits, 40 cycles there and back",
      SAME_CLOCK WIDE "request.credits=9",
      { 1000, 1 },
      30000,
      { 9 * 32, 40 } },
    { "39 credits, 40 cycles there and back",
      SAME_CLOCK WIDE "request.credits=39",
      { 1000, 1 },
      30000,
      { 39 * 32, 40 } },
    { "4 clients, one output of 19.2 per cycle",
      SAME_CLOCK WIDE "clients=4 request.deliver_bytes_per_cycle=19.2",
      { 1000, 1 },
      30000,
      { 96, 5 } },
    { "4 servers, injection of 12.8 per cycle",
      SAME_CLOCK WIDE "servers=4 client.rotate=true request.inject_bytes_per_cycle=12.8",
      { 1000, 1 },
      30000,
      { 64, 5 } },
};

static bool saturation_row_run(const demo *d, const saturation_row *row)
{
    rig r;
    uint64_t bytes[2];
    if (!demo_open(d, &r, "saturation.yaml", row->sets))
        return false;
    for (uint64_t end = 0; end < 2; end++) {
        ls_time until = exact_edge_fs(row->client, row->cycles * (end + 1));
        if (!demo_run(&r, &(ls_run_options){ .threads = d->threads, .until = until }, NULL))
            return false;
        bytes[end] = rig_count(&r, "queueing.server", NULL, "served_bytes");
    }
    rig_close(&r);
    uint64_t simulated = bytes[1] - bytes[0];
    uint64_t formula = row->cycles * row->width.num / row->width.den;
    char simulated_text[32], formula_text[32], cycles_text[32];
    printf("  %-40s %8s %12s %12s %7lld bytes  %6.4g  %s\n", row->what,
           format_count(row->cycles, cycles_text, sizeof cycles_text),
           format_count(simulated, simulated_text, sizeof simulated_text),
           format_count(formula, formula_text, sizeof formula_text), (long long)(simulated - formula),
           (double)simulated / row->cycles, demo_verdict(d, simulated == formula));
    return simulated == formula;
}

bool demo_saturation(const demo *d)
{
    demo_heading(d, 2, "Throughput when every client always has one more message");
    printf(
        "  The narrowest place decides: a link, its credits, a server's output port, a client's injection.\n"
        "  Bytes are counted from one common clock edge to another, so they must be equal, not close.\n\n");
    printf("  %-40s %8s %12s %12s %13s  %6s\n", "limit", "cycles", "simulated", "formula", "difference",
           "B/cyc");
    bool ok = true;
    for (size_t i = 0; i < LS_COUNT_OF(saturation_rows); i++)
        ok &= saturation_row_run(d, &saturation_rows[i]);
    return ok;
}
