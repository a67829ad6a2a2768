MemcpyHtoD,0x00007f0010000000,65536
kernel-1-ctx_0x1.traceg
