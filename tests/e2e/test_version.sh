#!/usr/bin/env bash
# The version is the same everywhere: VERSION, header, CITATION.cff, CHANGELOG.md, program; and scripts/version notices
# when it is not.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

version=$("$SOURCE_DIR/scripts/version" 2>stderr) || fail 'the version differs between files'
run 0 --version
grep -qx "lockstep $version" stdout || fail "VERSION is $version, the program says something else"

copy() {
    rm -rf tree
    mkdir -p tree/scripts tree/include/lockstep
    cp "$SOURCE_DIR/scripts/version" tree/scripts/
    cp "$SOURCE_DIR/include/lockstep/version.h" tree/include/lockstep/
    cp "$SOURCE_DIR"/{VERSION,CITATION.cff,CHANGELOG.md} tree/
}
for change in 's/^.*$/9.9.9/ VERSION' 's/VERSION_STRING "/&9/ include/lockstep/version.h' \
    's/VERSION_MINOR /&9/ include/lockstep/version.h' 's/^version: /&9/ CITATION.cff' 's/^## /&9/ CHANGELOG.md'; do
    copy
    sed -i "${change% *}" "tree/${change##* }"
    tree/scripts/version >stdout 2>stderr && fail "not noticed: $change"
done
copy
sed -i 's/^## [0-9.]*/## 7.8.9/' tree/CHANGELOG.md
tree/scripts/version 7.8.9 >stdout 2>stderr || fail 'the version cannot be set'
says 7.8.9
tree/scripts/version 7.8 >stdout 2>stderr && fail 'a version of two numbers was taken'
exit 0
