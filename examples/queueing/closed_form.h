/* closed_form.h: the theory of the queueing machine. Written from the definitions: a clock's edge n is at
 * floor(n * period), a link's message arrives `latency` cycles after its last flit left, ... It uses no code
 * of the simulator, so that agreement is evidence. */
#ifndef CLOSED_FORM_H
#define CLOSED_FORM_H

#include <stdint.h>

/* mhz_num / mhz_den MHz. */
typedef struct exact_clock {
    uint64_t mhz_num, mhz_den;
} exact_clock;

/* Edge n, in femtoseconds, and the first edge at or after a time. */
uint64_t exact_edge_fs(exact_clock clock, uint64_t n);
uint64_t exact_edge_at(exact_clock clock, uint64_t time_fs);

/* A loop of `count` requests, one outstanding, over idle links. Cycles are those of the station that sends,
 * serves or thinks. flits: cycles that a message occupies the wire. */
typedef struct exact_ping {
    exact_clock client, server;
    uint64_t request_latency, reply_latency;
    uint64_t request_flits, reply_flits;
    uint64_t service, think;
    uint64_t count;
} exact_ping;

typedef struct exact_round_trip {
    uint64_t min_fs, max_fs, sum_fs;
    uint64_t sum_cycles; /* of the client's clock */
} exact_round_trip;

exact_round_trip exact_ping_round_trip(const exact_ping *ping);

/* The first client cycle > 0 whose edge coincides with an edge of the server's clock, both being exact
 * periods: patterns of the two clocks repeat after so many client cycles. */
uint64_t exact_common_cycles(exact_clock client, exact_clock server);

/* Mean waiting times in units of the service time: M/D/1 and M/M/1 (Pollaczek and Khinchine). */
double md1_wait(double rho);
double mm1_wait(double rho);

#endif
