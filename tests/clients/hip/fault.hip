// A kernel that writes where nothing is: the program ends there.
#include "check.h"

__global__ void stray(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    printf("before\n");
    stray<<<1, 64>>>((int *)0x1234000);
    (void)hipDeviceSynchronize();
    printf("after\n");
    return 0;
}
