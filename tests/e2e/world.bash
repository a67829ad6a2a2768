# world.bash: a directory in which the commands of documents and help texts can run: the files that their examples
# name, made small. Sourced by tests/e2e/test_examples.sh and scripts/readme, which set SOURCE_DIR, BINARY_DIR, LOCKSTEP.
# shellcheck shell=bash

# world_make DIR: fills the directory; `lockstep` and `make demo` are then found in DIR/bin.
world_make() {
    local world=$1 kernels=$BINARY_DIR/share/lockstep/kernels i
    mkdir -p "$world/bin" "$world/home/.zfunc" "$world/traces"
    ln -s "$SOURCE_DIR/platforms" "$SOURCE_DIR/include" "$SOURCE_DIR/examples" "$world/"
    ln -s "$BINARY_DIR" "$world/build"
    ln -s "$LOCKSTEP" "$world/bin/lockstep"
    # The build is there: only the demonstration itself is run.
    printf '#!/bin/sh\n[ "$1" = demo ] && BUILD=%q exec %q\necho "make $*: not run here" >&2\nexit 1\n' \
        "$BINARY_DIR" "$SOURCE_DIR/scripts/demo" >"$world/bin/make"
    # Programs that use OpenCL if they are there: here they only have to be started.
    for i in clinfo nbody my_opencl_program; do
        printf '#!/bin/sh\nexit 0\n' >"$world/bin/$i"
        chmod +x "$world/bin/$i"
        cp "$world/bin/$i" "$world/$i"
    done
    chmod +x "$world/bin/make"
    (cd "$world" && world_files "$kernels")
}

world_files() {
    local kernels=$1 i
    # A trace with eight kernels, whose names are those of Rodinia's bfs.
    "$LOCKSTEP" trace synth graph-walk,nodes=512 -o plain >/dev/null || return 1
    for i in 1 2 3 4 5 6 7 8; do
        sed -i "s/^-kernel name = .*/-kernel name = _Z7Kernel$((i % 2 ? 1 : 2))Pi/" plain/kernel-$i.traceg || return 1
    done
    "$LOCKSTEP" trace pack plain -o bfs.lspk >/dev/null &&
        "$LOCKSTEP" trace unpack bfs.lspk -o traces/bfs --compress xz >/dev/null || return 1
    rm -r plain
    cp platforms/rtx3070.yaml my-gpu.yaml
    cp platforms/rtx3070.yaml old.yaml
    cp platforms/rtx2080ti.yaml new.yaml
    cp "$BINARY_DIR/examples/queueing.so" my-blocks.so
    cp "$BINARY_DIR/examples/dram_md1.so" .
    cp "$kernels/gfx1010/vector_add.co" "$kernels/gfx1010/fir.co" .
    cp "$kernels/gfx1030/fir.co" app.hipfb
    cp fir.co kernel.co
    "$LOCKSTEP" emulate fir --size 256 --trace-instructions fir.lsit >/dev/null || return 1
    cp "$SOURCE_DIR"/tests/data/debug/{fir.gdb,timed.gdb,reverse.{cl,co,gdb}} .
    cat >gpgpusim.config <<'END'
-gpgpu_n_clusters 46
-gpgpu_num_sched_per_core 4
-gpgpu_operand_collector_num_units_gen 8
-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:256:32,16:0,32
-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_dram_buswidth 2
-gpgpu_dram_burst_length 16
END
    printf -- '-trace_opcode_latency_initiation_int 2,2\n' >trace.config
    printf '%s\n' 'lockstep devices 1' 'device 0' 'run synth:saxpy,n=1024' 'signal done' 'device 1' 'wait done' >work.list
    "$LOCKSTEP" run traces/bfs -p rtx3070 --checkpoint bfs.ckpt --every 3kernels >/dev/null || return 1
    # Results to compare.
    local small=synth:vector-add,n=1024
    "$LOCKSTEP" run $small -p rtx3070 -o small.json >/dev/null &&
        "$LOCKSTEP" run $small -p rtx3070 -s cores=2 -o large.json >/dev/null &&
        "$LOCKSTEP" run $small -p rtx3070 -o a.json -o b.csv >/dev/null &&
        "$LOCKSTEP" sweep $small -p rtx3070 -v core.scheduler=gto,lrr -v cores=1,2,3,4 -o sweep.db >/dev/null &&
        "$LOCKSTEP" sweep $small -p rtx3070 -v cores=1,2,4 -o cores.db >/dev/null &&
        "$LOCKSTEP" sweep $small -p rtx3070 -v cores=1,2,4 -o parts.db --shard 1/2 >/dev/null &&
        "$LOCKSTEP" sweep $small -p rtx3070 -v cores=1,2,4 -o parts.db --shard 2/2 >/dev/null &&
        "$LOCKSTEP" merge parts.1-of-2.db parts.2-of-2.db -o all.db >/dev/null
}

# world_run DIR SECONDS COMMAND: runs a command line there. 124: it was still running after so many seconds.
world_run() {
    local reference=$SOURCE_DIR/../shared/reference
    [[ -d $reference ]] && export LOCKSTEP_REFERENCE=$reference
    (cd "$1" && env PATH="$1/bin:$PATH" HOME="$1/home" XDG_CACHE_HOME="$1/home/cache" NO_COLOR=1 TERM=dumb \
        timeout "$2" bash -c "$3" </dev/null)
}
