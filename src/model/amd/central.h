/* central.h: the connection between the command processor of the first GPU (the leader) and those of the other GPUs (its
 * members). It serves launches whose work-groups the leader places on the compute units of all GPUs (`spread`
 * central). Both ends are blocks in the domains of their command processors; a link joins them in each direction.
 *
 *   READY   member -> leader   the launch is in one of the member's dispatchers, with its arguments and empty caches
 *   LAUNCH  leader -> member   a work-group with its compute unit, its slot and the SIMDs of its waves
 *   DONE    member -> leader   a work-group has ended, and its place is free
 *   CLOSE   leader -> member   no further work-group of the launch follows; or: end those that run
 *
 * The leader keeps books of all compute units, so all GPUs have the same ones. */
#ifndef MODEL_AMD_CENTRAL_H
#define MODEL_AMD_CENTRAL_H

#include "lockstep/command.h"
#include "model/amd/place.h"

#define CENTRAL_MEMBERS_MAX 63u
#define CENTRAL_USER_INTERFACE "central-user/1"

typedef struct central central;

/* From the leader: CENTRAL_LAUNCH or CENTRAL_CLOSE. */
typedef struct central_order {
    uint32_t kind;       /* central_kind */
    uint32_t row;        /* dispatcher of the member */
    uint32_t leader_row; /* dispatcher of the leader, which comes back with CENTRAL_DONE */
    uint32_t cu;         /* of the GPU, in the dispatchers' order */
    bool cancel;         /* of CENTRAL_CLOSE */
    ls_cu_launch launch; /* its kernel, cluster's compute unit and scratch place are the member's to fill in */
} central_order;

/* A command processor that can lead and follow: a port of its block. */
typedef struct central_user_ops {
    void (*attach)(void *self, central *central);
    uint32_t (*rows)(const void *self); /* dispatchers */
    /* A member. launch: false if the link to the compute unit's cluster is not ready; it is called again. */
    bool (*launch)(void *self, const central_order *order, ls_cycle now);
    void (*close)(void *self, uint32_t row, bool cancel, ls_cycle now);
    /* The leader. ready: a member has a launch. done: a work-group of the dispatcher has ended. */
    void (*ready)(void *self, ls_cycle now);
    void (*done)(void *self, uint32_t row, bool fault, ls_cycle now);
} central_user_ops;

/* Of every GPU that may lead or follow. cus and capacity: its compute units. */
typedef struct central_wiring {
    ls_port user; /* central_user_ops */
    uint32_t cus;
    ls_cu_capacity capacity;
} central_wiring;

ls_status central_create(ls_region *region, const char *name, const central_wiring *wiring, ls_block **out,
                         ls_error *err);
/* Joins the two; latency_cycles of the leader's clock in each direction. False in *joined: their compute units differ,
 * and nothing is joined. */
ls_status central_join(ls_block *leader, ls_block *member, const char *const names[2], uint32_t latency_cycles,
                       bool *joined, ls_error *err);

/* --- the leader --- */

uint32_t central_members(const central *c); /* 0: it does not lead */
/* Whether all members have the launch with this tag. */
bool central_is_ready(const central *c, uint32_t tag);
/* A dispatcher begins with a launch: it has not found any compute unit full. */
void central_begin(central *c, uint32_t row);
/* The first compute unit of a member, from `first` on, that the dispatcher has not found full; cus: none. */
uint32_t central_next(const central *c, uint32_t member, uint32_t row, uint32_t first);
/* Whether an order can be sent to the member now. */
bool central_can_send(const central *c, uint32_t member);
/* Takes room for a work-group and sends it; the order's row is found by the tag. Not PLACE_FITS: it has no room, which the
 * dispatcher will remember. */
place_limit central_send(central *c, uint32_t member, uint32_t tag, const place_need *need,
                         central_order *order);
/* Sends CLOSE. The member's dispatcher is unknown from then on. */
void central_close(central *c, uint32_t member, uint32_t tag, bool cancel);

/* --- a member --- */

bool central_follows(const central *c);
void central_report_ready(central *c, uint32_t tag, uint32_t row);
void central_report_done(central *c, uint32_t leader_row, uint32_t cu, uint32_t slot, bool fault);

#endif
