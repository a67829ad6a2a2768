/* flights.h: the table of instructions under way. The pipes and the load/store unit pass entries on by their index.
 * Changed by flights.c; each part changes the entries that it holds. Included by core.h only. */
#ifndef MODEL_CORE_FLIGHTS_H
#define MODEL_CORE_FLIGHTS_H

/* An issued instruction until everything it does is done. */
typedef struct flight {
    const ls_inst *inst;
    const ls_dyn *dyn;
    uint32_t mask;
    uint32_t uid;      /* order of issue */
    uint16_t next;     /* in its present list */
    uint16_t requests; /* sectors still to come back */
    uint8_t warp, sub;
    bool counted;   /* done as far as the warp is concerned: only its requests are still out */
    bool missed;    /* some sector missed L1 */
    uint8_t group;  /* of asynchronous copies */
    uint8_t space;  /* as resolved for generic addresses */
    uint8_t level;  /* core_level: the farthest of its sectors so far */
    uint32_t taken; /* lower bits of the cycle in which the load/store unit took it */
} flight;

typedef struct flight_table {
    flight *at; /* CORE_FLIGHTS */
    index_pool free;
    uint32_t issued; /* flight.uid of the next */
} flight_table;

#endif
