#!/usr/bin/env bash
# Messages on links are plain data: a saved machine can go on in another process. Every type whose size is a payload of
# some link is looked up in the source, with the structs inside it. None may have a pointer.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# Prints "type NAME" for the struct and each struct inside it, and a line for each struct with a pointer.
scan() { # TYPE FILE...
    awk -v want="$1" '
        { gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, " ") }
        in_comment { if (!sub(/.*\*\//, "")) next; in_comment = 0 }
        /\/\*/ { sub(/\/\*.*/, ""); in_comment = 1 }
        /^typedef struct [a-z_0-9]* \{/ { body = ""; inside = 1; next }
        inside && /^\} [a-z_0-9]+;/ { name = $2; sub(/;/, "", name); bodies[name] = body; inside = 0; next }
        inside { body = body "\n" $0; next }
        /^typedef [a-z_0-9]+ [a-z_0-9]+;/ { name = $3; sub(/;/, "", name); alias[name] = $2 }
        function look(name,   i, n, words) {
            if (name in seen) return
            seen[name] = 1
            if (name in alias) { look(alias[name]); return }
            if (!(name in bodies)) return
            print "type " name
            if (bodies[name] ~ /\*/) print "pointer in " name
            n = split(bodies[name], words, /[\n;] *(const |struct |_Alignas\([0-9]*\) )*/)
            for (i = 1; i <= n; i++) { sub(/[^a-z_0-9].*/, "", words[i]); look(words[i]) }
        }
        END { look(want) }' "${@:2}"
}

mapfile -t files < <(find "$SOURCE_DIR/include" "$SOURCE_DIR/src" "$SOURCE_DIR/examples" -name '*.[ch]' | sort)
mapfile -t types < <(grep -hoE '(payload|wire)_bytes = [()a-z_0-9]*sizeof\([a-z_0-9]+\)' "${files[@]}" | sed -E 's/.*\((.*)\)/\1/' | sort -u)
for type in ls_core_launch ls_core_done ls_sector_message ls_cluster_order ls_cluster_ack ls_cu_done ls_line_message \
    ls_page_walk noc_wire; do
    [[ " ${types[*]} " == *" $type "* ]] || fail "no link carries $type any more: change this test"
done
for type in "${types[@]}"; do
    scan "$type" "${files[@]}" >found
    grep -q '^type ' found || fail "the struct of message $type was not found"
    ! grep -q '^pointer' found || fail "message $type: $(grep -m1 '^pointer' found): name a row of a table instead"
done
scan ls_cluster_order "${files[@]}" | grep -x 'type ls_cu_launch' >/dev/null || fail 'structs inside messages are not looked at'

# The search finds a pointer, also inside of a struct inside of a message.
cat >bad.h <<'BAD'
typedef struct inner {
    int a; /* not this: * */
    const char *name;
} inner;
typedef inner other_name;
typedef struct outer {
    other_name parts[2];
} outer;
BAD
scan outer bad.h | grep -x 'pointer in inner' >/dev/null || fail 'a pointer in a message was not found'
sed -i '/name;/d' bad.h
! scan outer bad.h | grep '^pointer' >/dev/null || fail 'a comment was taken for a pointer'

# Memory of AMD GPUs belongs to its place: bytes are touched by the blocks of their channel only, and no block reads the
# page table of the driver's address space.
touches() { # PATTERN DIR... -- FILE...: other files than FILE that match
    local pattern=$1 dirs=()
    while shift && [[ $1 != -- ]]; do dirs+=("$SOURCE_DIR/$1"); done
    shift
    grep -rlE --include='*.[ch]' "$pattern" "${dirs[@]}" | sed "s|^$SOURCE_DIR/||" | grep -vxF "$(printf '%s\n' "$@")"
}
found=$(touches 'address_space_(look|state|host|read|write)' src/model -- src/model/amd_memory/place_memory.c)
[[ -z $found ]] || fail "a model reads the address space of the driver: $found"
# The emulator's own memory before a position is no GPU's.
found=$(touches 'address_space_(host|read|write)\(' src/runtime/timing -- src/runtime/timing/timing_flat.c)
[[ -z $found ]] || fail "the driver of timed machines touches bytes past their channels: $found"
found=$(touches 'memory_at\(' src -- src/model/amd_memory/{place_memory.c,place_memory.h,channel.c})
[[ -z $found ]] || fail "bytes of a channel are touched elsewhere: $found"
exit 0
