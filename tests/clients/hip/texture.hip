// A texture: refused, and the program is told.
#include "check.h"

#include <cstring>

int main()
{
    hipArray *array = nullptr;
    hipTextureObject_t texture = 0;
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipResourceDesc resource;
    hipTextureDesc description;
    hipError_t error = hipMallocArray(&array, &format, 64, 64);
    memset(&resource, 0, sizeof resource);
    memset(&description, 0, sizeof description);
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    if (error == hipSuccess)
        error = hipCreateTextureObject(&texture, &resource, &description, nullptr);
    printf("%s\n", error == hipSuccess ? "a texture" : "no texture");
    return error == hipSuccess;
}
