# check_pyopencl.py: element-wise kernel, reduction, scan and an image with PyOpenCL, each against NumPy. Prints one
# line per check; the exit code says whether all were right.
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
random = np.random.default_rng(1)
wrong = 0


def check(name, is_right):
    global wrong
    print(f"{name}: {'right' if is_right else 'WRONG'}")
    wrong += not is_right


a = random.random(5000, dtype=np.float32)
b = random.random(5000, dtype=np.float32)
a_dev = cl.array.to_device(queue, a)
b_dev = cl.array.to_device(queue, b)
out = cl.array.empty_like(a_dev)
ElementwiseKernel(context, "float k, float *x, float *y, float *z", "z[i] = k * x[i] + y[i]", "combine")(
    np.float32(5), a_dev, b_dev, out)
check("element-wise", np.allclose(out.get(), 5 * a + b, rtol=1e-6))
check("arithmetic", np.allclose((a_dev * b_dev - 2).get(), a * b - 2, rtol=1e-5, atol=1e-6))

dot = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]",
                      arguments="__global float *x, __global float *y")
check("reduction", np.isclose(dot(a_dev, b_dev).get(), np.dot(a.astype(np.float64), b), rtol=1e-4))

numbers = random.integers(0, 1000, 10000, dtype=np.int32)
scanned = cl.array.to_device(queue, numbers)
GenericScanKernel(context, np.int32, arguments="__global int *x", input_expr="x[i]", scan_expr="a + b",
                  neutral="0", output_statement="x[i] = item;")(scanned, queue=queue)
check("scan", np.array_equal(scanned.get(), np.cumsum(numbers, dtype=np.int32)))

picture = random.integers(0, 256, (24, 33, 4), dtype=np.uint8)
source = cl.image_from_array(context, picture, 4, "r", norm_int=False)
target = cl.Image(context, cl.mem_flags.WRITE_ONLY,
                  cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8), shape=(33, 24))
cl.Program(context, """
    constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    kernel void turn(read_only image2d_t from, write_only image2d_t to) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        int2 other = (int2)(get_image_width(from) - 1 - at.x, get_image_height(from) - 1 - at.y);
        write_imageui(to, other, read_imageui(from, nearest, at));
    }""").build().turn(queue, (33, 24), None, source, target)
turned = np.empty_like(picture)
cl.enqueue_copy(queue, turned, target, origin=(0, 0), region=(33, 24))
check("image", np.array_equal(turned, picture[::-1, ::-1]))

print("all right" if wrong == 0 else f"{wrong} wrong")
sys.exit(wrong != 0)
