#!/usr/bin/env bash
# Kernels of two queues of an AMD GPU side by side: each has the instructions that it has alone, and sums are the
# totals. The recording is of a program that this script compiles.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
command -v sqlite3 >/dev/null || skip 'no sqlite3'
[[ -e $BINARY_DIR/liblockstep.so ]] || skip 'the library is not built'

cat >queues.c <<'C'
#include <lockstep/driver.h>
#include <stdio.h>
#define TRY(call)                                                        \
    if ((call) != LS_OK) {                                               \
        fprintf(stderr, "%s\n", ls_error_text(&err, text, sizeof text)); \
        return 1;                                                        \
    }
int main(int argc, char **argv) /* OBJECT PLATFORM OUT QUEUES */
{
    uint32_t n[2] = { 4096, 16384 };
    const ls_gpu_options options = { .platform = argv[2], .record_path = argv[3] };
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_module *module;
    ls_gpu_kernel *kernel;
    ls_gpu_queue *queues[2];
    ls_gpu_address at;
    ls_error err;
    char text[1024];
    (void)argc;
    TRY(ls_gpu_system_create(&options, &system, &err));
    TRY(ls_gpu_context_create(system, &context, &err));
    TRY(ls_gpu_module_load_file(context, argv[1], &module, &err));
    TRY(ls_gpu_module_find(module, "vector_add", &kernel, &err));
    TRY(ls_gpu_alloc(context, 4 * 3 * 16384, &at, &err));
    for (int i = 0; i < 2; i++)
        TRY(ls_gpu_queue_create(context, &queues[i], &err));
    for (int i = 0; i < 2; i++) {
        ls_gpu_address b = at + 4 * n[1], c = b + 4 * n[1];
        const ls_gpu_arg args[] = { LS_GPU_ARG(at), LS_GPU_ARG(b), LS_GPU_ARG(c), LS_GPU_ARG(n[i]) };
        const ls_gpu_launch launch = { .grid = { n[i] }, .group = { 64 }, .args = args, .arg_count = 4 };
        TRY(ls_gpu_queue_launch(queues[argv[4][0] == '2' ? i : 0], kernel, &launch, NULL, &err));
    }
    TRY(ls_gpu_sync(context, &err));
    TRY(ls_gpu_system_close_trace(system, &err));
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
    return 0;
}
C
flags=()
[[ $SANITIZE ]] && flags=("-fsanitize=$SANITIZE")
"$CC" -std=c17 -Wall -Wextra "${flags[@]}" -I "$SOURCE_DIR/include" queues.c -L "$BINARY_DIR" -llockstep \
    -Wl,-rpath,"$BINARY_DIR" -o queues 2>stderr || fail 'the program does not compile'

per_kernel() {
    sqlite3 "$1" "SELECT k.kernel, t.metric, sum(t.value) FROM totals t JOIN kernels k USING(scope)
        WHERE k.shared = 0 AND t.type LIKE 'cu/%' AND t.kind = 'counter' AND t.value > 0
        AND (t.metric LIKE 'instructions%' OR t.metric IN ('work_groups', 'waves', 'lanes', 'barriers'))
        GROUP BY 1, 2 ORDER BY 1, 2"
}
for platform in r9nano rx5500xt; do
    arch=gfx803
    [[ $platform == rx5500xt ]] && arch=gfx1010
    for queues in 1 2; do
        name=$platform-$queues
        ./queues "$BINARY_DIR/share/lockstep/kernels/$arch/vector_add.co" "$SOURCE_DIR/platforms/$platform.yaml" \
            "$name" "$queues" >stdout 2>stderr || fail "no recording on $platform"
        run 0 run "$name" -p "$platform" -o "$name.db" -f tidy
        grep -v '^host,' stdout >one.csv
        for threads in 2 3 8; do
            run 0 run "$name" -p "$platform" -f tidy -j "$threads"
            grep -v '^host,' stdout | cmp -s - one.csv || fail "$name: other results with $threads threads"
        done
        different=$(sqlite3 "$name.db" "WITH t AS (SELECT type || ' ' || metric AS metric,
        sum(value * (kernel IS NULL)) AS total, sum(value * (kernel IS NOT NULL)) AS parts
        FROM totals WHERE kind = 'counter' AND type LIKE 'cu/%' GROUP BY type, metric)
            SELECT * FROM t WHERE total <> parts")
        [[ -z $different ]] || fail "$name: sums over kernels are not the totals: $different"
    done
    [[ $(sqlite3 "$platform-1.db" 'SELECT group_concat(overlapped || shared) FROM kernels') == 00,00 ]] ||
        fail "$platform: kernels of one queue overlap"
    [[ $(sqlite3 "$platform-2.db" 'SELECT group_concat(overlapped || shared) FROM kernels') == 10,10,11 ]] ||
        fail "$platform: kernels of two queues do not overlap"
    per_kernel "$platform-1.db" >alone
    per_kernel "$platform-2.db" >together
    [[ $(wc -l <alone) -gt 12 ]] || fail 'nothing to compare'
    cmp -s alone together || fail "$platform: a kernel counts other work beside another one:
$(diff alone together)"
    [[ $(sqlite3 "$platform-2.db" "SELECT r.cycles BETWEEN c.n - 1 AND c.n + 1 FROM runs r, (SELECT value AS n FROM totals
        WHERE kernel IS NULL AND type LIKE 'command/%' AND metric = 'busy_cycles') c") == 1 ]] ||
        fail "$platform: cycles are not those with a kernel"
done
