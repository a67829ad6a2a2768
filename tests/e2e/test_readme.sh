#!/usr/bin/env bash
# README.md and docs/ show what their commands print; and scripts/readme finds and mends a document that does not.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

[[ -z $SANITIZE ]] || skip 'the demo takes too long under a sanitizer'
export BUILD=$BINARY_DIR

"$SOURCE_DIR/scripts/readme" >stdout 2>stderr || fail 'a document is out of date: run scripts/readme --update'

# An outdated number and an outdated line, in a block with parts left out.
cat >good.md <<'END'
Text, $ with a sign.
```console
$ printf 'first 1\nleft out\nspeed 5 s\ntable 7\nlast 9\n'
first 1
...
speed 6 s
table 7
...
$ echo one two
one two
```
END
"$SOURCE_DIR/scripts/readme" "$work/good.md" >stdout 2>stderr || fail 'a true document is called wrong'
for edit in 's/^first 1$/first 2/' 's/^table 7$/table 8/' 's/^one two$/one/' 's/^table 7$/&\nline/' 's/^first 1$/...\nfirst 3/'; do
    sed "$edit" good.md >wrong.md
    "$SOURCE_DIR/scripts/readme" "$work/wrong.md" >stdout 2>stderr && fail "not found: $edit"
    grep -q 'does not show what this prints' stderr || fail "no reason for: $edit"
done
sed 's/^first 1$/first 2/; s/^table 7$/table 8/; s/^one two$/one/' good.md >wrong.md
"$SOURCE_DIR/scripts/readme" --update "$work/wrong.md" >stdout 2>stderr || fail 'the document was not mended'
sed 's/6 s/5 s/' good.md | cmp -s - wrong.md || fail "mended to something else: $(cat wrong.md)"
# A command that fails is never written down as an output.
# shellcheck disable=SC2016
printf '```console\n$ lockstep rnu\n```\n' >failing.md
"$SOURCE_DIR/scripts/readme" "$work/failing.md" >stdout 2>stderr && fail 'a command that fails went unnoticed'
exit 0
