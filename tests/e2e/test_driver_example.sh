#!/usr/bin/env bash
# The example of docs/driver.md compiles against the public headers and the library, and computes what it says.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

object=$BINARY_DIR/share/lockstep/kernels/gfx1010/vector_add.co
[[ -e $BINARY_DIR/liblockstep.so ]] || skip 'the library is not built'

# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^```c$/,/^```$/{p;/^```$/q}' "$SOURCE_DIR/docs/driver.md" | sed '1d;$d' >example.c # the first one
flags=()
[[ $SANITIZE ]] && flags=("-fsanitize=$SANITIZE")
"$CC" -std=c17 -Wall -Wextra -Werror "${flags[@]}" -I "$SOURCE_DIR/include" example.c -L "$BINARY_DIR" -llockstep \
    -Wl,-rpath,"$BINARY_DIR" -o example 2>stderr || fail 'the example does not compile'
./example "$object" >stdout 2>stderr || fail 'the example fails'
grep -qx 'c\[0\] = 0.5, c\[999\] = 999.5' stdout || fail 'the example computes something else'
./example missing.co >stdout 2>stderr && fail 'a missing file is no error'
grep -q 'missing.co' stderr || fail 'the error does not name the file'
exit 0
