"""Kernels of Hopper and others on machines whose queues, rates and policies are drawn at random, with short queues and few
entries preferred. Every run ends, or is refused with one line before it begins; one thread and several give the same bytes.

usage: random_machines.py LOCKSTEP SEED COUNT"""

import random
import re
import subprocess
import sys

KERNELS = [
    "gemm-hopper,m=256,n=256,k=256",
    "gemm-hopper,m=512,n=256,k=128,cluster_m=2",
    "gemm-hopper,m=512,n=512,k=128,cluster_m=2,cluster_n=2",
    "gemm-hopper,m=384,n=128,k=192,tile_m=192,consumers=3",
    "gemm-hopper,m=256,n=256,k=512,splits=3",
    "gemm-hopper,m=256,n=384,k=320,stream_blocks=5",
    "attention-hopper,heads=2,queries=256,keys=256",
    "attention-hopper,heads=3,queries=128,keys=384,dim=64,stages=3",
    "bulk-copy,bytes=4096,copies=5,ctas=20,warps=4",
    "bulk-copy,dimensions=3,bytes=8192,ctas=9",
    "cluster-chase,blocks=4,rank=3,loads=5,barriers=2,warps=3",
    "grid-all-reduce,ctas=20,rounds=2",
    "gather,n=4096,table_kib=1024",
    "gemm,m=128,n=128,k=64",
    "stencil,nx=256,ny=128",
]
# Machines that once did not end.
FOUND = [
    ("gemm-hopper,m=256,n=384,k=320,stream_blocks=5", "h100-sxm", ["l2.input_queue=1"]),
    ("gemm-hopper,m=256,n=384,k=320,stream_blocks=5", "h100-sxm", ["core.network_queue=4"]),
    ("gemm-hopper,m=256,n=384,k=320,stream_blocks=5", "h100-sxm", ["noc.model=ring", "core.network_queue=4"]),
    ("gemm-hopper,m=256,n=256,k=512,splits=3", "h200", ["l2.mshr_entries=14"]),
    ("gemm-hopper,m=512,n=256,k=256,cluster_m=2", "h200", ["l2.mshr_entries=3", "memory.halves=1"]),
    ("gather,n=4096,table_kib=1024", "h100", ["l2.ways=2", "l2.sets=2"]),
    ("stencil,nx=256,ny=128", "a100", ["l2.ways=2", "l2.sets=2"]),
]
PLATFORMS = ["h100", "h100-sxm", "h200"]
KEYS = {
    "cores": [18, 36, 132],
    "core.mbarrier.act_cycles": [1, 13],
    "core.mbarrier.wake_cycles": [1, 40],
    "core.network_queue": [1, 3, 4, 8, 64],
    "core.network_sectors_per_cycle": [1, 2, 4],
    "core.scheduler": ["gto", "lrr", "two-level"],
    "core.tma.bytes_per_cycle": [32, 64, 128],
    "core.tma.group_wait": ["complete", "read"],
    "core.tma.queue": [1, 2, 32],
    "core.tma.sectors": [4, 8, 16, 64, 1024],
    "core.tma.setup_cycles": [1, 94],
    "cluster.bytes_per_cycle": [4, 16],
    "dispatch.concurrent_kernels": [1, 128],
    "dram.model": ["bank", "fixed"],
    "dram.queue_entries": [4, 16, 512],
    "dram.return_entries": [4, 192],
    "dram.scheduler": ["fcfs", "frfcfs"],
    "l2.coalesce_entries": [0, 1, 16],
    "l2.delay_cycles": [1, 5, 12],
    "l2.fill_queue": [1, 4, 64],
    "l2.input_queue": [1, 2, 64],
    "l2.merge_stall": ["request", "slice"],
    "l2.miss_queue": [2, 4, 32],
    "l2.mshr_entries": [2, 4, 14, 33, 384],
    "l2.mshr_merge": [1, 2, 8, 256],
    "l2.output_queue": [1, 2, 64],
    "l2.prefetch": ["none", "next-line"],
    "l2.replacement": ["lru", "fifo", "random"],
    "l2.sectors_per_cycle": [1, 2, 4],
    "l2.sets": [16, 128],
    "l2.ways": [1, 2, 20],
    "l2.write_lines": ["true", "false"],
    "l2.write_policy": ["back", "through"],
    "memory.channels": [8, 10, 40],
    "memory.half_latency_cycles": [20, 45],
    "memory.halves": [1, 2],
    "memory.slices_per_channel": [1, 2, 4],
    "noc.credits": [1, 2, 8, 256],
    "noc.model": ["crossbar", "mesh", "ring"],
}


def run(lockstep, words, threads):
    command = [lockstep, "run", *words, "--threads", threads, "--format", "tidy"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "does not end", "", ""
    results = "\n".join(row for row in done.stdout.splitlines() if not re.search(r",(host|run),", row))
    return done.returncode, results, done.stderr


def words_of(kernel, platform, keys):
    return ["synth:" + kernel, "--platform", platform, *(word for key in keys for word in ("--set", key))]


def machines(draw, count):
    for found in FOUND:
        yield words_of(*found)
    for _ in range(count):
        keys = draw.sample(sorted(KEYS), draw.choice([1, 2, 3, 5]))
        drawn = [f"{key}={draw.choice(KEYS[key])}" for key in keys]
        fidelity = ["--fidelity", "basic"] if draw.random() < 0.15 else []
        yield words_of(draw.choice(KERNELS), draw.choice(PLATFORMS), drawn) + fidelity


def main():
    lockstep, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    draw = random.Random(seed)
    bad = ran = 0
    for words in machines(draw, count):
        code, results, said = run(lockstep, words, "1")
        problem = None
        if code == 0:
            ran += 1
            threads = draw.choice(["2", "3", "8"])
            if run(lockstep, words, threads)[:2] != (0, results):
                problem = f"{threads} threads differ from one"
        elif code not in (2, 3) or len(said.splitlines()) != 1:
            problem = f"{code}: {said[:300]}"
        if problem:
            bad += 1
            print(f"lockstep run {' '.join(words)}\n  {problem}")
    print(f"{count} machines: {ran} ran, {bad} with a problem")
    return 1 if bad or ran < count / 2 else 0


sys.exit(main())
