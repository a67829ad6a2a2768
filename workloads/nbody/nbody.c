/* nbody.c: gravity between all pairs, a launch per time step. */
#include "workloads/workload.h"

#include <math.h>

/* One step in double precision, in place; x, y, z and the mass of each body, and its velocity. */
static void step(double *position, double *velocity, double *force, size_t bodies, double dt, double softening)
{
    for (size_t i = 0; i < bodies; i++) {
        double *f = force + 4 * i;
        f[0] = f[1] = f[2] = 0;
        for (size_t j = 0; j < bodies; j++) {
            double way[3], square = softening;
            for (int d = 0; d < 3; d++) {
                way[d] = position[4 * j + (size_t)d] - position[4 * i + (size_t)d];
                square += way[d] * way[d];
            }
            for (int d = 0; d < 3; d++)
                f[d] += way[d] * position[4 * j + 3] / (square * sqrt(square));
        }
    }
    for (size_t i = 0; i < 4 * bodies; i++)
        if (i % 4 < 3) {
            position[i] += velocity[i] * dt + 0.5 * force[i] * dt * dt;
            velocity[i] += force[i] * dt;
        }
}

static void run(wl_run *r)
{
    const uint32_t bodies = wl_u32(r, "size"), steps = wl_u32(r, "steps");
    const size_t values = 4 * (size_t)bodies, bytes = values * sizeof(float);
    const float time_step = 0.005f, softening = 0.05f;
    float *position = wl_random_f32(r, values, 0, 1), *velocity = wl_zeros(r, values, sizeof *velocity);
    double *reference = wl_zeros(r, 3 * values, sizeof *reference);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < values; i++) {
        if (i % 4 == 3)
            position[i] /= (float)bodies; /* a total mass of about a half, in any size */
        reference[i] = (double)position[i];
    }

    const ls_gpu_address d_position[2] = { wl_upload(r, position, bytes), wl_buffer(r, bytes) };
    const ls_gpu_address d_velocity[2] = { wl_upload(r, velocity, bytes), wl_buffer(r, bytes) };
    for (uint32_t i = 0; i < steps; i++)
        wl_launch(r, "nbody_step", WL_1D(wl_round_up(bodies, 64)), WL_1D(64), WL_ARG(d_position[i % 2]),
                  WL_ARG(d_velocity[i % 2]), WL_ARG(d_position[(i + 1) % 2]), WL_ARG(d_velocity[(i + 1) % 2]),
                  WL_ARG(bodies), WL_ARG(time_step), WL_ARG(softening));
    wl_download(r, position, d_position[steps % 2], bytes);
    wl_download(r, velocity, d_velocity[steps % 2], bytes);

    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < steps; i++)
        step(reference, reference + values, reference + 2 * values, bodies, (double)time_step,
             (double)softening);
    for (size_t i = 0; i < values; i++)
        if (!wl_expect_f32(r, "position", i, position[i], (float)reference[i], 1e-5f) ||
            !wl_expect_f32(r, "velocity", i, velocity[i], (float)reference[values + i], 1e-5f))
            return;
}

static const wl_option options[] = {
    { "size", 1024, 1, 1u << 20, "bodies" },
    { "steps", 1, 1, 1000, "time steps, a launch each" },
};
static const wl_workload nbody = { .name = "nbody",
                                   .summary = "gravity between all pairs of bodies",
                                   .source = "textbook; in the AMD APP SDK's place",
                                   WL_OPTIONS(options),
                                   .run = run };
WL_REGISTER(nbody);
