#!/usr/bin/env bash
# Files that are no platform: each is one line on stderr, exit code 2, and no result.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

bad() {
    local text=$1 platform=$2
    refused 2 "$text" --plugin "$PINGPONG" run --platform "$platform" --out result.json
    [[ ! -e result.json ]] || fail "$platform left a result"
    refused 2 "$text" --plugin "$PINGPONG" config show "$platform"
}

printf 'machine: pingpong\nplayer: {think_cycles: 3' >truncated.yaml
bad truncated.yaml truncated.yaml
printf 'base: b.yaml\n' >a.yaml
printf 'base: a.yaml\n' >b.yaml
bad 'a.yaml' a.yaml
printf 'base: self.yaml\nmachine: pingpong\n' >self.yaml
bad 'self.yaml' self.yaml
{
    printf 'machine: pingpong\n'
    head -c 10485760 /dev/zero | tr '\0' k
    printf ': 1\n'
} >long_key.yaml
bad long_key.yaml long_key.yaml
printf 'machine: ping\0pong\n' >nul.yaml
bad nul.yaml nul.yaml
head -c 4096 /dev/zero >zeros.yaml
bad zeros.yaml zeros.yaml
printf 'machine: pingpong\ntitle: "\xff\xfe\xc3("\n' >not_utf8.yaml
bad not_utf8.yaml not_utf8.yaml
mkdir directory.yaml
bad directory.yaml directory.yaml
: >empty.yaml
bad empty.yaml empty.yaml
printf 'machine: pingpong\nhits: 1\nhits: 2\n' >twice.yaml
bad twice.yaml twice.yaml
printf 'machine: pingpong\nhist: 1\n' >unknown_key.yaml
bad 'nearest: hits' unknown_key.yaml
printf 'machine: pingpong\nhits: 0\n' >range.yaml
bad 'range.yaml:2' range.yaml
printf -- '- a\n- b\n' >list.yaml
bad list.yaml list.yaml
bad missing.yaml missing.yaml
if ((EUID != 0)); then
    printf 'machine: pingpong\n' >secret.yaml
    chmod 000 secret.yaml
    bad secret.yaml secret.yaml
fi

# And a good one in the same place works.
printf 'machine: pingpong\n' >good.yaml
run 0 --plugin "$PINGPONG" run --platform good.yaml --out result.json
[[ -s result.json ]] || fail 'no result'
exit 0
