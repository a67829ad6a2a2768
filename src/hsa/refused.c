/* refused.c: functions that HIP links but that this runtime does not have: images and samplers, memory of other processes
 * and of graphics, and memory that migrates by itself. Each says so once, on standard error, and returns an error. */
#include "hsa/rt.h"

#define IMAGES "textures and surfaces are not supported: there are no images on these agents"
#define PROCESSES "memory cannot be shared with other processes"
#define GRAPHICS "memory of graphics cannot be used"
#define MANAGED "attributes and prefetching of managed memory are not supported: kernels use it where it is"

/* The arguments do not matter. */
#define REFUSE(name, why)                                                                                     \
    HSA_API hsa_status_t name(void)                                                                           \
    {                                                                                                         \
        return rt_refuse(#name, why);                                                                         \
    }

REFUSE(hsa_ext_image_create, IMAGES)
REFUSE(hsa_ext_image_create_with_layout, IMAGES)
REFUSE(hsa_ext_image_data_get_info, IMAGES)
REFUSE(hsa_ext_image_import, IMAGES)
REFUSE(hsa_ext_image_export, IMAGES)
REFUSE(hsa_ext_sampler_create, IMAGES)
REFUSE(hsa_amd_image_create, IMAGES)
REFUSE(hsa_amd_ipc_memory_create, PROCESSES)
REFUSE(hsa_amd_ipc_memory_attach, PROCESSES)
REFUSE(hsa_amd_ipc_memory_detach, PROCESSES)
REFUSE(hsa_amd_interop_map_buffer, GRAPHICS)
REFUSE(hsa_amd_interop_unmap_buffer, GRAPHICS)
REFUSE(hsa_amd_svm_attributes_get, MANAGED)
REFUSE(hsa_amd_svm_attributes_set, MANAGED)
REFUSE(hsa_amd_svm_prefetch_async, MANAGED)

/* There is nothing to destroy. */
HSA_API hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image)
{
    (void)image;
    return rt_agent_of(agent) ? HSA_OK : HSA_INVALID_AGENT;
}

HSA_API hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler)
{
    (void)sampler;
    return rt_agent_of(agent) ? HSA_OK : HSA_INVALID_AGENT;
}
