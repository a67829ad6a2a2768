#!/usr/bin/env bash
# The Python package as it is installed: its structs are those of the header, its tests pass, the code of docs/python.md
# runs and prints what is written there.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

for tool in cmake python3 "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'a library with a sanitizer does not load into python3'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
prefix=$work/root/opt/lockstep
export PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
unset LOCKSTEP_LIBRARY LOCKSTEP_KERNELS

# Size and offsets of every struct, as the compiler has them and as ctypes has them.
python3 - >layout.c <<'P' || fail 'the package does not load'
from lockstep._library import STRUCTS
print('#include <lockstep/sim.h>\n#include <stdio.h>\nint main(void)\n{')
for name, struct in STRUCTS.items():
    print(f'printf("{name} %zu\\n", sizeof({name}));')
    for field, *_ in struct._fields_:
        print(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
print('}')
P
python3 - >layout.python <<'P'
import ctypes
from lockstep._library import STRUCTS
for name, struct in STRUCTS.items():
    print(name, ctypes.sizeof(struct))
    for field, *_ in struct._fields_:
        print(f'{name}.{field}', getattr(struct, field).offset, getattr(struct, field).size)
P
"$CC" -std=c17 -I "$prefix/include" layout.c -o layout 2>stderr || fail 'the header has other members than the package'
./layout >layout.header
diff layout.header layout.python >stdout || fail 'structs of the package are laid out otherwise than those of the header'

python3 "$SOURCE_DIR/tests/python/test_lockstep.py" >stdout 2>stderr || fail "$(tail -30 stderr)"
LOCKSTEP_PANDAS=0 python3 "$SOURCE_DIR/tests/python/doc.py" "$SOURCE_DIR/docs/python.md" >stdout 2>stderr ||
    fail 'docs/python.md is out of date: make readme renews it'

# The checker finds a document that shows something else.
# shellcheck disable=SC2016 # the backquotes are Markdown's
printf '```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n' >wrong.md
python3 "$SOURCE_DIR/tests/python/doc.py" wrong.md >stdout 2>stderr && fail 'a wrong output went unnoticed'
python3 "$SOURCE_DIR/tests/python/doc.py" --update wrong.md >stdout 2>stderr || fail 'the document was not mended'
grep -qx 2 wrong.md || fail 'mended to something else'

LOCKSTEP_LIBRARY=./no.so python3 -c 'import lockstep; lockstep.run("fir", "r9nano")' >stdout 2>stderr &&
    fail 'a library that is not there went unnoticed'
grep -q 'LockstepError: cannot load the library: .*no.so' stderr || fail 'the error does not name the library'
exit 0
