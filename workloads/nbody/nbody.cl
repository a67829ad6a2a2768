/* nbody.cl: gravity between all pairs of bodies; xyz is the position, w the mass.
 *
 * A work-group brings 64 bodies at a time into local memory, where each of its work-items reads them all.
 * Beyond the last body the tile is filled with bodies without mass. */

#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void nbody_step(__global const float4 *position,
                                                                            __global const float4 *velocity,
                                                                            __global float4 *new_position,
                                                                            __global float4 *new_velocity,
                                                                            uint bodies, float time_step,
                                                                            float softening)
{
    __local float4 tile[GROUP];
    const uint i = get_global_id(0);
    const uint id = get_local_id(0);
    const float4 self = i < bodies ? position[i] : (float4)(0.0f);
    float3 acceleration = (float3)(0.0f);
    for (uint base = 0; base < bodies; base += GROUP) {
        tile[id] = base + id < bodies ? position[base + id] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < GROUP; j++) {
            const float3 way = tile[j].xyz - self.xyz;
            const float inverse = rsqrt(dot(way, way) + softening);
            acceleration += way * (tile[j].w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= bodies)
        return;
    const float3 speed = velocity[i].xyz;
    const float3 moved = self.xyz + speed * time_step + acceleration * (0.5f * time_step * time_step);
    new_position[i] = (float4)(moved, self.w);
    new_velocity[i] = (float4)(speed + acceleration * time_step, 0.0f);
}
