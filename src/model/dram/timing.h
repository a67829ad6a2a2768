/* timing.h: the timing sets of real memories, and the meaning of their numbers. Facts only: no state, no
 * block. */
#ifndef MODEL_DRAM_TIMING_H
#define MODEL_DRAM_TIMING_H

#include <stdint.h>

/* One line per number: field, platform key, unit, largest value, meaning. Cycles are those of the command
 * clock. */
#define DRAM_TIMING_KEYS(X)                                                                                   \
    X(banks, "banks", "banks", 64, "banks per channel (a power of two)")                                      \
    X(groups, "bank_groups", "groups", 16, "bank groups per channel (a power of two)")                        \
    X(bus_bytes, "bus_bytes", "bytes", 32, "width of the data bus")                                           \
    X(burst, "burst_length", "beats", 32, "beats of the data bus per column command")                         \
    X(rate, "data_rate", "beats/cycle", 32, "beats of the data bus per command cycle")                        \
    X(ccd, "ccd_cycles", "cycles", 1000, "column to column command")                                          \
    X(ccdl, "ccdl_cycles", "cycles", 1000, "column to column command in one bank group")                      \
    X(rrd, "rrd_cycles", "cycles", 1000, "activate to activate in another bank")                              \
    X(rrdl, "rrdl_cycles", "cycles", 1000, "activate to activate in one bank group")                          \
    X(rcd, "rcd_cycles", "cycles", 1000, "activate to read")                                                  \
    X(rcdwr, "rcdwr_cycles", "cycles", 1000, "activate to write; without a value rcd - (wl + 1)")             \
    X(ras, "ras_cycles", "cycles", 1000, "activate to precharge")                                             \
    X(rp, "rp_cycles", "cycles", 1000, "precharge to activate")                                               \
    X(rc, "rc_cycles", "cycles", 1000, "activate to activate in one bank; without a value ras + rp")          \
    X(cl, "cl_cycles", "cycles", 1000, "read command to data")                                                \
    X(wl, "wl_cycles", "cycles", 1000, "write command to data")                                               \
    X(cdlr, "cdlr_cycles", "cycles", 1000, "end of write data to read command")                               \
    X(cdlrl, "cdlrl_cycles", "cycles", 1000, "end of write data to read command in one bank group")           \
    X(wr, "wr_cycles", "cycles", 1000, "end of write data to precharge")                                      \
    X(rtpl, "rtpl_cycles", "cycles", 1000, "read to precharge in one bank group")                             \
    X(faw, "faw_cycles", "cycles", 4000, "window in which at most four activates fit; without a value none")  \
    X(refi, "refi_cycles", "cycles", 1e6, "from one refresh of all banks to the next; without a value never") \
    X(rfc, "rfc_cycles", "cycles", 1e5, "length of a refresh of all banks")                                   \
    X(rfcb, "rfc_bank_cycles", "cycles", 1e5, "length of a refresh of one bank; without a value half of rfc")

typedef struct dram_timing {
#define DRAM_TIMING_FIELD_(field, key, unit, max, help) uint64_t field;
    DRAM_TIMING_KEYS(DRAM_TIMING_FIELD_)
#undef DRAM_TIMING_FIELD_
} dram_timing;

typedef struct dram_timing_set {
    const char *name;
    double clock_mhz; /* the command clock that the cycles are made for */
    dram_timing timing;
    const char *source;
} dram_timing_set;

/* Names for a parameter table, NULL-terminated; the last is "custom", a set of zeros. */
extern const char *const dram_timing_names[];
/* By index into dram_timing_names. */
const dram_timing_set *dram_timing_of(uint32_t index);

/* Every number that is 0 in `keys` comes from the set; then what follows from others is filled in. */
dram_timing dram_timing_resolve(uint32_t index, const dram_timing *keys);

#endif
