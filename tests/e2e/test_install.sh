#!/usr/bin/env bash
# Installs below a DESTDIR, then works with the installed files only: the program, the page, the headers, a
# plug-in built through pkg-config, and a program that links the library.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

for tool in cmake pkg-config "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'plug-ins of another build do not mix with sanitizers'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
prefix=$work/root/opt/lockstep
for file in bin/lockstep include/lockstep/lockstep.h share/man/man1/lockstep.1 \
    share/bash-completion/completions/lockstep share/zsh/site-functions/_lockstep \
    share/fish/vendor_completions.d/lockstep.fish; do
    [[ -s $prefix/$file ]] || fail "$file was not installed"
done
LOCKSTEP=$prefix/bin/lockstep
run 0 version

pc=$(find "$prefix" -name lockstep.pc)
[[ $pc ]] || fail 'lockstep.pc was not installed'
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
version=$(pkg-config --modversion lockstep)
grep -q "^lockstep $version\$" stdout || fail "pkg-config says $version, the program something else"

read -ra flags <<<"$(pkg-config --cflags lockstep) $(pkg-config --variable=plugin_cflags lockstep)"
"$CC" -std=c17 -Wall -Wextra -Werror "${flags[@]}" "$SOURCE_DIR/tests/e2e/plugin/pingpong.c" -o installed.so \
    2>stderr || fail 'the plug-in does not compile against the installed headers'
printf 'machine: pingpong\n' >game.yaml
run 0 --plugin ./installed.so run --platform game.yaml
says 'player/steady'

# Its tables and platforms are installed too.
run 0 validate --only micro
says 'micro: 207 tests: 200 exact'

cat >embed.c <<'C'
#include <lockstep/lockstep.h>
#include <stdio.h>

int main(void)
{
    ls_engine *engine;
    ls_run_options options = { .threads = 1 };
    ls_run_result result;
    if (ls_engine_create(1, &engine, NULL) != LS_OK || ls_run(engine, &options, &result, NULL) != LS_OK)
        return 1;
    printf("%llu events\n", (unsigned long long)result.events);
    ls_engine_destroy(engine);
    return 0;
}
C
read -ra flags <<<"$(pkg-config --cflags --libs lockstep)"
"$CC" -std=c17 embed.c "${flags[@]}" -o embed 2>stderr || fail 'a program does not link with the library'
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") ./embed >stdout 2>stderr || fail 'the linked program does not run'
says '0 events'
exit 0
