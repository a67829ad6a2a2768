/* load_store.h: the state of the load/store unit: the instruction in it, shared memory, the banks of L1, requests on
 * their way to the network and answers. Changed by ldst.c, coalesce.c and l1*.c; flow_simulated.c takes answers early.
 * Included by core.h only. */
#ifndef MODEL_CORE_LOAD_STORE_H
#define MODEL_CORE_LOAD_STORE_H

typedef struct l1_access {
    uint64_t address;
    uint32_t byte_mask;
    uint16_t flight;
    uint8_t warp;
    bool write : 1, global : 1;
    ls_cycle ready; /* when it may look into the cache */
} l1_access;

typedef struct l1_bank {
    index_ring ring;
    l1_access *at;
    ls_cycle last_in; /* cycle of the last insertion */
} l1_bank;

typedef struct coalesce_memory coalesce_memory;

typedef struct load_store {
    uint16_t dispatch; /* instruction in the unit; NO_FLIGHT: none */
    coalesce_memory *patterns;
    uint32_t sector_count;
    uint64_t sectors[CORE_SECTORS_MAX];
    uint32_t sector_bytes[CORE_SECTORS_MAX];
    uint32_t conflict_cycles; /* that its banks of shared memory need */
    ls_cycle dispatch_until;  /* before this cycle it does nothing else */
    ls_cycle memory_next; /* ldst_next() after the last ldst_cycle() or ldst_take(); 0: a message came since */
    index_ring shared_ring; /* loads in the pipeline of shared memory */
    struct {
        ls_cycle ready;
        uint16_t flight;
    } shared_pipe[64];
    ls_cycle shared_last; /* cycle of the last entry */
    uint16_t next_wb;     /* in the write-back register */
    uint16_t next_global; /* answered request that bypassed L1 */
    uint32_t wb_turn;
    l1_bank banks[LS_L1_BANKS];
    uint32_t queued_accesses;
    ls_cycle look_at; /* while there are any: no bank has one that is ready before */
    sector_cache *l1; /* of the built-in model; NULL: another one, called by its table (l1.h) */
    ls_port l1_port;
    uint32_t l1_banks, l1_latency_cycles;
    index_ring reply_ring;
    ls_sector_message *replies;

    /* network */
    mem_map map;
    uint32_t core_count;          /* of the GPU: for the layout of local memory */
    ls_link **to_memory;          /* by channel; behind them the link to other GPUs, if there is one */
    uint32_t half_channels, half; /* of ls_core_wiring */
    uint32_t channels;
    const ls_address_owners *owners; /* NULL: all addresses are the own GPU's */
    bool remote_in_l2;               /* sectors of other GPUs go to L2 like the own ones */
    index_ring out_ring;             /* requests that wait for the network: one leaves per cycle */
    ls_sector_message *out;
    uint16_t *out_channel; /* beside each of them */
    ls_event network_event;
    bool network_waiting; /* for the link of the oldest request */
    ls_cycle network_since;
    ls_cycle hold; /* cycles that the access in the unit waits for room (cga_access.c) */
} load_store;

#endif
