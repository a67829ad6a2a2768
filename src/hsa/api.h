/* api.h: the interface of AMD's HSA runtime, as far as HIP, rocminfo and similar programs call it: types, numbers and
 * functions of libhsa-runtime64.so.1. Layouts and numbers are those of the HSA standard and AMD's extensions; the words are
 * ours. Nothing else of the project includes it, because these names belong to programs. */
#ifndef HSA_API_H
#define HSA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HSA_API __attribute__((visibility("default")))

typedef uint32_t hsa_status_t;
enum {
    HSA_OK = 0,
    HSA_BREAK = 1, /* of a callback: stop the iteration */
    HSA_ERROR = 0x1000,
    HSA_INVALID_ARGUMENT = 0x1001,
    HSA_INVALID_QUEUE_CREATION = 0x1002,
    HSA_INVALID_ALLOCATION = 0x1003,
    HSA_INVALID_AGENT = 0x1004,
    HSA_INVALID_SIGNAL = 0x1006,
    HSA_INVALID_QUEUE = 0x1007,
    HSA_OUT_OF_RESOURCES = 0x1008,
    HSA_NOT_INITIALIZED = 0x100B,
    HSA_INVALID_ISA = 0x100F,
    HSA_INVALID_CODE_OBJECT = 0x1010,
    HSA_INVALID_EXECUTABLE = 0x1011,
    HSA_FROZEN_EXECUTABLE = 0x1012,
    HSA_INVALID_SYMBOL_NAME = 0x1013,
};

#define HSA_HANDLE(name)                                                                                      \
    typedef struct name {                                                                                     \
        uint64_t handle;                                                                                      \
    } name
HSA_HANDLE(hsa_agent_t);
HSA_HANDLE(hsa_isa_t);
HSA_HANDLE(hsa_signal_t);
HSA_HANDLE(hsa_amd_memory_pool_t);
HSA_HANDLE(hsa_executable_t);
HSA_HANDLE(hsa_executable_symbol_t);
HSA_HANDLE(hsa_code_object_reader_t);
HSA_HANDLE(hsa_loaded_code_object_t);
HSA_HANDLE(hsa_ext_image_t);
HSA_HANDLE(hsa_ext_sampler_t);

typedef int64_t hsa_signal_value_t;
typedef struct hsa_dim3_t {
    uint32_t x, y, z;
} hsa_dim3_t;

/* ------------------------------------------------------------------------------------------------ records */

/* A signal, of 64 bytes; its handle is its address. Kernels use it, too. */
typedef struct amd_signal {
    int64_t kind;
    _Atomic int64_t value;
    uint64_t event_mailbox;
    uint32_t event_id, reserved1;
    uint64_t start_ts, end_ts;
    uint64_t queue;
    uint32_t reserved3[2];
} amd_signal;
enum { SIGNAL_USER = 1, SIGNAL_DOORBELL = -1 };

typedef struct hsa_queue_t {
    uint32_t type, features;
    void *base_address;
    hsa_signal_t doorbell_signal;
    uint32_t size, reserved1;
    uint64_t id;
} hsa_queue_t;

/* The queue as kernels see it: the first 256 bytes. */
typedef struct amd_queue {
    hsa_queue_t hsa;
    uint32_t reserved1[4];
    _Atomic uint64_t write_index;
    uint32_t shared_base_hi, private_base_hi;
    uint32_t max_cu_id, max_wave_id;
    uint64_t legacy_doorbell;
    uint32_t legacy_lock, reserved2[9];
    _Atomic uint64_t read_index;
    uint32_t read_index_offset, tmpring_size;
    uint32_t scratch_descriptor[4];
    uint64_t scratch_memory, scratch_bytes;
    uint32_t scratch_lane_bytes, properties;
    uint32_t reserved3[2];
    hsa_signal_t inactive_signal;
    uint32_t reserved4[14];
} amd_queue;

enum { PACKET_VENDOR, PACKET_INVALID, PACKET_DISPATCH, PACKET_BARRIER_AND, PACKET_AGENT, PACKET_BARRIER_OR };
enum { PACKET_TYPE_MASK = 0xff, PACKET_BARRIER_BIT = 0x100 };

/* One packet of 64 bytes. */
typedef struct aql_dispatch {
    uint16_t header, setup;
    uint16_t group[3], reserved0;
    uint32_t grid[3];
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved2;
    hsa_signal_t completion;
} aql_dispatch;

typedef struct aql_barrier {
    uint16_t header, reserved0;
    uint32_t reserved1;
    hsa_signal_t dependence[5];
    uint64_t reserved2;
    hsa_signal_t completion;
} aql_barrier;

/* AMD's own packet: waits until a condition on a signal's value holds. */
typedef struct aql_barrier_value {
    uint16_t header;
    uint8_t format, reserved0;
    uint32_t reserved1;
    hsa_signal_t signal;
    int64_t value, mask;
    uint32_t condition, reserved2;
    uint64_t reserved3, reserved4;
    hsa_signal_t completion;
} aql_barrier_value;
enum { VENDOR_BARRIER_VALUE = 2 };

_Static_assert(sizeof(amd_signal) == 64 && sizeof(amd_queue) == 256, "layouts that kernels know");
_Static_assert(sizeof(aql_dispatch) == 64 && sizeof(aql_barrier) == 64 && sizeof(aql_barrier_value) == 64,
               "packets");

typedef struct hsa_amd_times {
    uint64_t start, end;
} hsa_amd_times;

typedef struct hsa_pitched_ptr_t {
    void *base;
    size_t pitch, slice;
} hsa_pitched_ptr_t;

typedef struct hsa_amd_link_info {
    uint32_t min_latency, max_latency, min_bandwidth, max_bandwidth;
    bool atomic_32, atomic_64, coherent;
    uint32_t type;
    uint32_t numa_distance;
} hsa_amd_link_info;
enum { LINK_PCIE = 2, LINK_XGMI = 4 };

typedef struct hsa_amd_pointer_info_t {
    uint32_t size, type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user_data;
    hsa_agent_t owner;
    uint32_t global_flags;
} hsa_amd_pointer_info_t;
enum { POINTER_UNKNOWN, POINTER_HSA, POINTER_LOCKED };

enum { POOL_KERNARG = 1, POOL_FINE = 2, POOL_COARSE = 4 };
enum { SEGMENT_GLOBAL = 0, SEGMENT_GROUP = 3 };
enum { CONDITION_EQ, CONDITION_NE, CONDITION_LT, CONDITION_GTE };
enum { SYMBOL_VARIABLE, SYMBOL_KERNEL };

typedef bool (*hsa_amd_signal_handler)(hsa_signal_value_t value, void *arg);
typedef void (*hsa_queue_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);

#endif
