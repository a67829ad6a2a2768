/* functions.h: the functions that liblockstep-hsa exports, by file. tools/hsa.map has their names, too. */
#ifndef HSA_FUNCTIONS_H
#define HSA_FUNCTIONS_H

#include "hsa/api.h"

typedef hsa_status_t (*symbol_callback)(hsa_executable_t executable, hsa_executable_symbol_t symbol,
                                        void *data);

/* --- system.c --- */

hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);
hsa_status_t hsa_status_string(hsa_status_t status, const char **text);
hsa_status_t hsa_system_get_info(uint32_t what, void *value);
hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result);
hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                  void *table);
hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data);

/* --- agent.c --- */

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, uint32_t what, void *value);
hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t minor, bool *result);
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, uint32_t type);
hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data),
                                    void *data);
hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, uint32_t what, void *value);
hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool,
                                                                         void *data),
                                                void *data);
hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, uint32_t what, void *value);
hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool, uint32_t what,
                                                void *value);

/* --- pool.c --- */

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags,
                                          void **out);
hsa_status_t hsa_amd_memory_pool_free(void *pointer);
hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t bytes, hsa_agent_t *agents, int count,
                                         hsa_amd_memory_pool_t pool, uint32_t flags, void **out);
hsa_status_t hsa_amd_memory_lock(void *host, size_t bytes, hsa_agent_t *agents, int count, void **out);
hsa_status_t hsa_amd_memory_unlock(void *host);
hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                                         const void *pointer);
hsa_status_t hsa_memory_register(void *pointer, size_t bytes);
hsa_status_t hsa_memory_deregister(void *pointer, size_t bytes);
hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *info,
                                  void *(*alloc)(size_t bytes), uint32_t *count, hsa_agent_t **agents);
hsa_status_t hsa_amd_pointer_info_set_userdata(const void *pointer, void *data);

/* --- copy.c --- */

hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                       hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                       const hsa_signal_t *waits, hsa_signal_t completion);
hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                 hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                                 const hsa_signal_t *waits, hsa_signal_t completion,
                                                 uint32_t engine, bool force);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t *mask);
hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                            const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                                            const hsa_dim3_t *range, hsa_agent_t agent, uint32_t direction,
                                            uint32_t count, const hsa_signal_t *waits,
                                            hsa_signal_t completion);
hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes);
hsa_status_t hsa_amd_memory_fill(void *to, uint32_t value, size_t count);

/* --- signal.c --- */

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                               hsa_signal_t *out);
hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                   uint64_t attributes, hsa_signal_t *out);
hsa_status_t hsa_signal_destroy(hsa_signal_t signal);
hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **out);
hsa_signal_value_t hsa_signal_exchange_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);
hsa_signal_value_t hsa_signal_cas_scacq_screl(hsa_signal_t signal, hsa_signal_value_t expected,
                                              hsa_signal_value_t value);
hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, uint32_t condition, hsa_signal_value_t than,
                                             uint64_t timeout_ns, uint32_t hint);
hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t signal, uint32_t condition, hsa_signal_value_t than,
                                           uint64_t timeout_ns, uint32_t hint);
hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable);
hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable);
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal, hsa_amd_times *out);
hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_times *out);
hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t signal);
hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal);
void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_add_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_add_scacquire(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_add_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_add_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_subtract_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_subtract_scacquire(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_subtract_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_subtract_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_and_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_and_scacquire(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_and_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_and_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_or_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_or_scacquire(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_or_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_or_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_xor_relaxed(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_xor_scacquire(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_xor_screlease(hsa_signal_t signal, hsa_signal_value_t value);
void hsa_signal_xor_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/* --- handler.c --- */

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, uint32_t condition, hsa_signal_value_t than,
                                          hsa_amd_signal_handler function, void *arg);

/* --- queue.c --- */

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, uint32_t type, hsa_queue_callback callback,
                              void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **out);
hsa_status_t hsa_queue_destroy(hsa_queue_t *handle);
uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t *queue);
uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t *queue);
uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue_t *queue);
uint64_t hsa_queue_load_write_index_scacquire(const hsa_queue_t *queue);
void hsa_queue_store_write_index_relaxed(const hsa_queue_t *queue, uint64_t value);
void hsa_queue_store_write_index_screlease(const hsa_queue_t *queue, uint64_t value);
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t count, const uint32_t *mask);
hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, uint32_t priority);
uint64_t hsa_queue_add_write_index_relaxed(const hsa_queue_t *queue, uint64_t value);
uint64_t hsa_queue_add_write_index_scacquire(const hsa_queue_t *queue, uint64_t value);
uint64_t hsa_queue_add_write_index_screlease(const hsa_queue_t *queue, uint64_t value);
uint64_t hsa_queue_add_write_index_scacq_screl(const hsa_queue_t *queue, uint64_t value);

/* --- code.c --- */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *data, size_t bytes,
                                                       hsa_code_object_reader_t *out);
hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader);
hsa_status_t hsa_executable_create_alt(uint32_t profile, uint32_t rounding, const char *options,
                                       hsa_executable_t *out);
hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader, const char *options,
                                                   hsa_loaded_code_object_t *out);
hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options);
hsa_status_t hsa_executable_destroy(hsa_executable_t handle);
hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                         const char *name, void *address);
hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
                                               const hsa_agent_t *agent, hsa_executable_symbol_t *out);
hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle, symbol_callback callback, void *data);
hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, uint32_t what, void *value);

/* --- refused.c --- */

hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image);
hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler);
/* Their arguments do not matter. */
hsa_status_t hsa_ext_image_create(void);
hsa_status_t hsa_ext_image_create_with_layout(void);
hsa_status_t hsa_ext_image_data_get_info(void);
hsa_status_t hsa_ext_image_import(void);
hsa_status_t hsa_ext_image_export(void);
hsa_status_t hsa_ext_sampler_create(void);
hsa_status_t hsa_amd_image_create(void);
hsa_status_t hsa_amd_ipc_memory_create(void);
hsa_status_t hsa_amd_ipc_memory_attach(void);
hsa_status_t hsa_amd_ipc_memory_detach(void);
hsa_status_t hsa_amd_interop_map_buffer(void);
hsa_status_t hsa_amd_interop_unmap_buffer(void);
hsa_status_t hsa_amd_svm_attributes_get(void);
hsa_status_t hsa_amd_svm_attributes_set(void);
hsa_status_t hsa_amd_svm_prefetch_async(void);

#endif
