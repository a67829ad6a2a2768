/* closed_form.c: the formulas of closed_form.h in exact integer arithmetic; it may include nothing of
 * Lockstep. */
#include "closed_form.h"

#include <stddef.h>

__extension__ typedef unsigned __int128 u128;

#define FS_PER_US UINT64_C(1000000000) /* 1 MHz has a period of 1 us */

uint64_t exact_edge_fs(exact_clock clock, uint64_t n)
{
    return (uint64_t)((u128)n * FS_PER_US * clock.mhz_den / clock.mhz_num);
}

/* floor(n * p) >= t for an integer t means n * p >= t, so n = ceil(t / p). */
uint64_t exact_edge_at(exact_clock clock, uint64_t time_fs)
{
    u128 period_num = (u128)FS_PER_US * clock.mhz_den;
    u128 scaled = (u128)time_fs * clock.mhz_num;
    return (uint64_t)((scaled + period_num - 1) / period_num);
}

exact_round_trip exact_ping_round_trip(const exact_ping *p)
{
    exact_round_trip trip = { .min_fs = UINT64_MAX };
    uint64_t send = 0; /* client cycle */
    for (uint64_t i = 0; i < p->count; i++) {
        uint64_t on_the_wire = exact_edge_fs(p->client, send + p->request_flits - 1 + p->request_latency);
        uint64_t arrives = exact_edge_at(p->server, on_the_wire);
        uint64_t answered = arrives + p->service;
        uint64_t on_the_way_back = exact_edge_fs(p->server, answered + p->reply_flits - 1 + p->reply_latency);
        uint64_t home = exact_edge_at(p->client, on_the_way_back);

        uint64_t fs = exact_edge_fs(p->client, home) - exact_edge_fs(p->client, send);
        trip.min_fs = fs < trip.min_fs ? fs : trip.min_fs;
        trip.max_fs = fs > trip.max_fs ? fs : trip.max_fs;
        trip.sum_fs += fs;
        trip.sum_cycles += home - send;
        send = home + p->think;
    }
    return trip;
}

uint64_t exact_common_cycles(exact_clock client, exact_clock server)
{
    /* n client periods are n * client.den * server.num / (client.num * server.den) server periods. */
    uint64_t top = client.mhz_den * server.mhz_num, bottom = client.mhz_num * server.mhz_den;
    uint64_t a = top, b = bottom;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return bottom / a;
}

double md1_wait(double rho)
{
    return rho / (2 * (1 - rho));
}

double mm1_wait(double rho)
{
    return rho / (1 - rho);
}
