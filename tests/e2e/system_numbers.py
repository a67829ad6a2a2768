#!/usr/bin/env python3
"""system_numbers.py FILE.json GPU: kernels and blocks of one GPU with all numbers, without the GPU's own number.

Fails if a kernel ran on another GPU, or if a block of another GPU has counted something in a kernel.
"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    prefix = f"gpu{sys.argv[2]}."
    for kernel in data["kernels"]:
        assert kernel["gpu"] == int(sys.argv[2]), kernel["gpu"]
        blocks = kernel.pop("blocks")
        print([kernel[key] for key in ("kernel", "name", "stream", "begin_fs", "end_fs", "cycles")])
        for path, values in sorted(blocks.items()):
            assert path.startswith(prefix), path
            print(path[len(prefix):], values)
    for path, values in sorted(data["values"]["blocks"].items()):
        if path.startswith(prefix):
            print(path[len(prefix):], values)
    print(data["run"]["cycles"])


main()
