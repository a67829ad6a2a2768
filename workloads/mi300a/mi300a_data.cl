/* mi300a_data.cl: kernels of the MI300A suite that sort, cluster, align and move bodies: bitonicsort, kmeans, nw, nbody. */

#define INDEX(d_) ((int)(get_group_id(d_) * get_local_size(d_) + get_local_id(d_)))
#define EVERYTHING (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

__kernel void bitonicsort(__global uint *array, uint stage, uint pass, uint direction)
{
    uint increasing = direction;
    const uint i = (uint)INDEX(0);
    const uint distance = 1u << (stage - pass);
    const uint width = 2 * distance;
    const uint left = i % distance + i / distance * width, right = left + distance;
    const uint a = array[left], b = array[right];
    if (i / (1u << stage) % 2 == 1)
        increasing = 1 - increasing;
    const uint lesser = a > b ? b : a, greater = a > b ? a : b;
    if (increasing) {
        array[left] = lesser;
        array[right] = greater;
    } else {
        array[left] = greater;
        array[right] = lesser;
    }
}

__kernel void kmeans(__global const float *feature, __global const float *clusters, __global int *membership,
                     int points, int cluster_count, int features)
{
    const int i = INDEX(0);
    if (i >= points)
        return;
    float least = 3.402823466e+38f;
    int index = 0;
    for (int c = 0; c < cluster_count; c++) {
        float distance = 0;
        for (int f = 0; f < features; f++)
            distance += (feature[f * points + i] - clusters[c * features + f]) *
                        (feature[f * points + i] - clusters[c * features + f]);
        if (distance < least) {
            least = distance;
            index = c;
        }
    }
    membership[i] = index;
}

/* Needleman and Wunsch: a tile of 64x64 per group of 64, its anti-diagonals one after the other. first: the tile row of
 * group 0, which goes up with each group. */
#define TILE 64
static int best(int a, int b, int c)
{
    const int ab = a > b ? a : b;
    return ab > c ? ab : c;
}

__kernel void nw(__global const int *reference, __global int *matrix, int columns, int penalty, int first_x,
                 int first_y)
{
    __local int score[TILE + 1][TILE + 1];
    __local int similar[TILE][TILE];
    const int item = (int)get_local_id(0);
    const int tile_x = first_x + (int)get_group_id(0), tile_y = first_y - (int)get_group_id(0);
    const int corner = columns * TILE * tile_y + TILE * tile_x;
    const int inner = corner + columns + 1 + item;
    if (item == 0)
        score[0][0] = matrix[corner];
    /* Row after row: where the matrices outgrow L2, and again the Infinity Cache, the measured time of a launch grows by
     * 64 times the difference of their latencies. */
#pragma unroll 1
    for (int y = 0; y < TILE; y++)
        similar[y][item] = reference[inner + columns * y];
    barrier(EVERYTHING);
    score[item + 1][0] = matrix[corner + columns * (item + 1)];
    barrier(EVERYTHING);
    score[0][item + 1] = matrix[corner + item + 1];
    barrier(EVERYTHING);
    for (int m = 0; m < TILE; m++) {
        if (item <= m) {
            const int x = item + 1, y = m - item + 1;
            score[y][x] = best(score[y - 1][x - 1] + similar[y - 1][x - 1], score[y][x - 1] - penalty,
                               score[y - 1][x] - penalty);
        }
        barrier(EVERYTHING);
    }
    for (int m = TILE - 2; m >= 0; m--) {
        if (item <= m) {
            const int x = item + TILE - m, y = TILE - item;
            score[y][x] = best(score[y - 1][x - 1] + similar[y - 1][x - 1], score[y][x - 1] - penalty,
                               score[y - 1][x] - penalty);
        }
        barrier(EVERYTHING);
    }
    for (int y = 0; y < TILE; y++)
        matrix[inner + columns * y] = score[y + 1][item + 1];
}

/* The measured program keeps the tile of positions in global memory, the same 4 KB for all groups: its result is not
 * defined. tiles: of the loop; bodies / 256 for all of it. */
__kernel void nbody(__global const float4 *position, __global const float4 *velocity, int tiles, float step,
                    float softening, __global float4 *tile, __global float4 *new_position,
                    __global float4 *new_velocity)
{
    const uint item = (uint)get_local_id(0), i = (uint)INDEX(0), size = (uint)get_local_size(0);
    const float4 mine = position[i];
    float4 pull = 0;
    for (int t = 0; t < tiles; t++) {
        tile[item] = position[(uint)t * size + item];
        barrier(EVERYTHING);
        for (uint j = 0; j < size; j++) {
            const float4 other = tile[j];
            const float4 way = other - mine;
            const float square = way.x * way.x + way.y * way.y + way.z * way.z;
            const float inverse = 1.0f / sqrt(square + softening);
            const float cube = inverse * inverse * inverse;
            const float s = other.w * cube;
            pull += s * way;
        }
        barrier(EVERYTHING);
    }
    const float4 old = velocity[i];
    float4 place = mine + old * step + pull * 0.5f * step * step;
    place.w = mine.w;
    new_position[i] = place;
    new_velocity[i] = old + pull * step;
}
