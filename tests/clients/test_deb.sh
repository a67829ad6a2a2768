#!/usr/bin/env bash
# Builds the Debian package and installs it into a fresh Debian 12 (debootstrap) without /sys. There it runs
# an NVIDIA kernel, an AMD program with its result checked, and writes results to SQLite. BINARY_DIR is the
# build. 77 means skipped.
set -uo pipefail

skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "FAILED: $*" >&2
    [[ -s $work/log ]] && tail -20 "$work/log" >&2
    exit 1
}
for tool in cpack dpkg-shlibdeps debootstrap; do
    command -v $tool >/dev/null || skip "$tool is not there (scripts/deps deb clients)"
done
((EUID == 0)) || skip 'only root can make a new root directory'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
(cd "${BINARY_DIR:?}" && cpack -G DEB -B "$work/packages") >"$work/log" 2>&1 || fail 'cpack cannot make the package'
package=$(find "$work/packages" -maxdepth 1 -name 'lockstep_*.deb')
[[ $package ]] || fail 'there is no package'

# The package of a build with absolute paths of its tree would not work elsewhere.
dpkg-deb -x "$package" "$work/files" || fail 'the package cannot be unpacked'
grep -x /usr/lib/liblockstep-opencl.so "$work/files/etc/OpenCL/vendors/lockstep.icd" >/dev/null ||
    fail "the OpenCL loader is told $(cat "$work/files/etc/OpenCL/vendors/lockstep.icd")"
grep -rF "$BINARY_DIR" "$work/files/usr/lib/pkgconfig" "$work/files/usr/share" && fail 'it names the build directory'

debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || skip "debootstrap: $(tail -1 "$work/log")"
inside() { # its directory is the new root
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@" >"$work/log" 2>&1
}
[[ -z $(ls -A "$root/sys") ]] || fail '/sys is there'
cp /etc/resolv.conf "$root/etc/"
cp "$package" "$root/lockstep.deb"
inside apt-get update -q || skip 'apt-get update: no packages can be fetched'
inside apt-get install -y --no-install-recommends ./lockstep.deb || fail 'it cannot be installed'
inside lockstep run synth:vector-add,n=4096 --platform rtx3070 -o out.db -o out.json || fail 'lockstep run'
inside lockstep run fir --platform r9nano --size 4096 --verify || fail 'lockstep run fir'
grep -q 'verification  *correct' "$work/log" || fail 'the AMD program is not verified'
inside lockstep emulate fir --gpu gfx1030 --verify || fail 'lockstep emulate'
inside lockstep compare 'out.db#1' out.json --check || fail 'the database and the JSON file differ'
inside sh -c 'ldconfig -p | grep -q liblockstep.so.' || fail 'the library is not known to the dynamic linker'
inside dpkg --purge lockstep || fail 'it cannot be removed'
[[ ! -e $root/usr/bin/lockstep && ! -e $root/etc/OpenCL/vendors/lockstep.icd ]] || fail 'something stayed behind'
echo "$(basename "$package"): installed, used and removed"
