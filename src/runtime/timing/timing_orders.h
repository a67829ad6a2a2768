/* timing_orders.h: the driver's requests to a back end whose machine is divided over ranks; see timing_orders.c. timing.c
 * puts the functions into the driver's table; timing_serve.c does the requests on other ranks. */
#ifndef RUNTIME_TIMING_TIMING_ORDERS_H
#define RUNTIME_TIMING_TIMING_ORDERS_H

#include "runtime/timing/timing_impl.h"

typedef enum order_kind {
    ORDER_END, /* the host program has ended */
    ORDER_ALLOC,
    ORDER_HOST_ALLOC,
    ORDER_FREE,
    ORDER_PROTECT,
    ORDER_MANAGE,
    ORDER_PLACE_NOW,
    ORDER_PLACE,
    ORDER_REPLICATE,
    ORDER_LOAD,
    ORDER_WRITE,
    ORDER_READ,
    ORDER_LOOK,
    ORDER_PATCH,
    ORDER_PREPARE,
    ORDER_RELEASE,
    ORDER_SUBMIT,
    ORDER_ADVANCE,
    ORDER_COUNT
} order_kind;

/* A request. Two rows of bytes follow it: data, and a text or a list. */
typedef struct order {
    uint64_t kind;
    uint64_t gpu, to, from, bytes;
    uint64_t number; /* of a program, or pages */
    uint64_t flag;
    uint64_t has_data, data_bytes, list_bytes;
    /* ORDER_SUBMIT. */
    uint64_t work_kind, has_host_to;
    drv_dispatch dispatch;
    uint64_t kernarg_bytes;
    /* ORDER_PREPARE. */
    drv_code code;
} order;

/* The next number of a program, which all ranks give it; NULL: it could not be prepared. False: no memory. */
bool timing_orders_keep(timing_ranks *ranks, timing_program *program);

/* --- the driver's table --- */

ls_status timing_order_alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err);
ls_status timing_order_host_alloc(void *self, uint64_t bytes, uint64_t *address, ls_error *err);
ls_status timing_order_free(void *self, uint64_t address, ls_error *err);
ls_status timing_order_protect(void *self, uint64_t address, uint64_t bytes, ls_error *err);
ls_status timing_order_manage(void *self, uint64_t address, uint64_t bytes, bool first_touch, ls_error *err);
size_t timing_order_place_now(void *self, uint64_t address);
ls_status timing_order_place(void *self, const drv_placement *placement, ls_error *err);
ls_status timing_order_replicate(void *self, uint64_t address, uint64_t bytes, const void *data,
                                 uint64_t data_bytes, ls_error *err);
ls_status timing_order_load(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                            ls_error *err);
ls_status timing_order_write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                             ls_error *err);
ls_status timing_order_read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err);
ls_status timing_order_look(void *self, void *to, uint64_t from, uint64_t bytes, ls_error *err);
ls_status timing_order_patch(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
ls_status timing_order_prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err);
void timing_order_release(void *self, void *program);
ls_status timing_order_submit(void *self, drv_work *work, ls_error *err);
ls_status timing_order_advance(void *self, ls_error *err);

#endif
