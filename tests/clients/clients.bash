# clients.bash: how each client is run and when it counts as passed. Sourced by tests/clients/run; a function
# runs in a directory of its own, its output is kept, `note TEXT` goes into the table.
# shellcheck shell=bash

# The clients of `make test-clients`; clients in simulated time, with the platform; and long ones.
# shellcheck disable=SC2034
clients=(clinfo clpeak clblast-xaxpy clblast-xdot clblast-xgemv clblast-xhad clfft-1024 clfft-3125 clfft-2d-double
    pyopencl ffmpeg-avgblur ffmpeg-unsharp hashcat piglit-api piglit-builtins)
# shellcheck disable=SC2034
timed_clients=('clinfo rx5500xt' 'clblast-xaxpy rx5500xt' 'clfft-1024 rx5500xt' 'pyopencl rx5500xt')
# shellcheck disable=SC2034
long_clients=(clpeak-all clblast-xtrsv clblast-xgemm piglit-execute)

pocl=/etc/OpenCL/vendors/pocl.icd
here=${here:?tests/clients/run sets it}

# Whether PoCL is there and works: without /sys, for one, it finds no device.
pocl_works() {
    [[ -e $pocl ]] && OCL_ICD_VENDORS=$pocl timeout 120 clinfo -l 2>/dev/null | grep -q Device
}

note() {
    echo "$*" >note
}

# Skips the client without the program.
need() {
    if ! command -v "$1" >/dev/null; then
        note "$1 is not there (package $2)"
        exit 77
    fi
}

client_clinfo() {
    need clinfo clinfo
    timeout 120 clinfo >out 2>err || return 1
    cat out err
    # A failed query is printed as <file:line: what : error -30>, elsewhere as error -30.
    if grep -hE ': error -?[0-9]+' out err; then
        note 'some information cannot be asked for'
        return 1
    fi
    local what
    for what in 'Number of devices +[1-9]' 'Device Name +[^ ]' 'Device Version +OpenCL [123]' 'Device Type +GPU' \
        'Max compute units +[1-9]' 'Max clock frequency +[1-9]' 'Global memory size +[1-9]' 'Local memory size +[1-9]' \
        'Max work group size +[1-9]' 'Device Available +Yes' 'Compiler Available +Yes' 'Device Extensions +cl_'; do
        if ! grep -qE "^ *$what" out; then
            note "it does not say: $what"
            return 1
        fi
    done
    note "$(sed -n 's/^ *Device Name *//p' out | head -1), $(sed -n 's/^ *Device Version *//p' out | head -1)"
}

# clpeak WHAT... -- OPTION...: it keeps every compute unit busy for seconds of a real one, so the GPU has one only.
clpeak_parts() {
    need clpeak clpeak
    local parts=() part
    while [[ $1 != -- ]]; do
        parts+=("$1")
        shift
    done
    shift
    LOCKSTEP_COMPUTE_UNITS=1 LOCKSTEP_MEMORY=128M timeout 3000 clpeak "$@" >out 2>&1 || return 1
    cat out
    for part in "${parts[@]}"; do
        grep -q "$part" out || return 1
    done
    ! grep -qE 'skipped|cl[A-Z][A-Za-z]+ \(-' out || return 1
    note "to its end: $(sed '1,/Clock frequency/d' out | grep -cE ' : [0-9.]+') results"
}
client_clpeak() {
    clpeak_parts 'Global memory bandwidth' 'Kernel launch latency' -- --global-bandwidth --kernel-latency
}
client_clpeak_all() {
    LOCKSTEP_THREADS=2 clpeak_parts 'Global memory bandwidth' 'Single-precision compute' 'Double-precision compute' \
        'Integer compute' 'Integer compute Fast 24bit' 'Transfer bandwidth' 'Kernel launch latency' --
}

# A routine of CLBlast's own tests, against the reference on the CPU, with sizes that fit the simulator.
clblast() {
    need "clblast_test_$1" clblast-tests
    timeout 1800 "clblast_test_$1" >out 2>&1
    sed 's/\x1b\[[0-9;]*m//g' out >plain
    cat plain
    local good bad
    good=$(awk '/test\(s\) passed/ { sum += $1 } END { print sum + 0 }' plain)
    bad=$(awk '/test\(s\) failed/ { sum += $1 } END { print sum + 0 }' plain)
    note "$good passed, $bad failed"
    ((good > 0 && bad == 0))
}
client_clblast_xaxpy() { clblast xaxpy; }
client_clblast_xdot() { clblast xdot; }
client_clblast_xgemv() { clblast xgemv; }
client_clblast_xhad() { clblast xhad; }
client_clblast_xtrsv() { clblast xtrsv; }
client_clblast_xgemm() { clblast xgemm; }

# clFFT's client compares with the exact transform of its input.
clfft() {
    need clFFT-client clfft-client
    timeout 900 clFFT-client -a "$@" >out 2>&1
    cat out
    grep -q 'PASS' out && ! grep -q 'FAIL' out
}
client_clfft_1024() { clfft -x 1024; }
client_clfft_3125() { clfft -x 3125; }
client_clfft_2d_double() { clfft -x 64 -y 48 --double; }

client_pyopencl() {
    if ! /usr/bin/python3 -c 'import pyopencl, mako' 2>/dev/null; then
        note 'pyopencl is not there (packages python3-pyopencl, python3-mako)'
        return 77
    fi
    timeout 600 /usr/bin/python3 "$here/check_pyopencl.py" >out 2>&1
    local code=$?
    cat out
    note "$(tail -1 out)"
    return $code
}

# The same frames through the simulated GPU and through PoCL.
ffmpeg_filter() {
    need ffmpeg ffmpeg
    if ! pocl_works; then
        note 'PoCL is not there to compare with (packages pocl-opencl-icd, clinfo)'
        return 77
    fi
    local filter=$1 driver
    for driver in "$OCL_ICD_VENDORS" "$pocl"; do
        OCL_ICD_VENDORS=$driver timeout 900 ffmpeg -nostdin -y -hide_banner -init_hw_device opencl=gpu:0.0 \
            -filter_hw_device gpu -f lavfi -i testsrc2=size=160x120:rate=5:duration=0.4 \
            -vf "format=yuv420p,hwupload,$filter,hwdownload,format=yuv420p" -f rawvideo \
            "$(basename "$driver").raw" || return 1
    done
    /usr/bin/python3 "$here/compare_bytes.py" 1 "$(basename "$OCL_ICD_VENDORS").raw" "$(basename "$pocl").raw" >out
    local code=$?
    cat out
    note "$(tail -1 out)"
    return $code
}
client_ffmpeg_avgblur() { ffmpeg_filter avgblur_opencl=sizeX=3:sizeY=2; }
client_ffmpeg_unsharp() { ffmpeg_filter unsharp_opencl=lx=5:ly=5:la=1.5; }

# Its self-test hashes known words with each kernel before it measures; then it finds the word of a hash.
client_hashcat() {
    need hashcat hashcat
    local options=(-m 0 -D '1,2' --force -n 1 -u 64 -T 1) word=hi
    timeout 1800 hashcat -b "${options[@]}" --runtime 5 >out 2>&1
    cat out
    if grep -qE '[Ss]elf-test failed|ATTENTION|cl[A-Z][A-Za-z]+\(\):' out || ! grep -q 'Speed' out; then
        return 1
    fi
    timeout 1800 hashcat "${options[@]}" -a 3 --potfile-disable "$(echo -n $word | md5sum | cut -d' ' -f1)" '?l?l' \
        >found 2>&1
    cat found
    grep -q ":$word\$" found || return 1
    note "self-test passed, word found; $(grep -m1 'Speed' out)"
}

piglit_dir=$(dirname "$(dpkg -L piglit 2>/dev/null | grep -m1 '/bin/cl-program-tester$')" 2>/dev/null)

need_piglit() {
    if [[ ! -x $piglit_dir/cl-program-tester ]]; then
        note 'piglit is not there (package piglit)'
        exit 77
    fi
    export PIGLIT_SOURCE_DIR=${piglit_dir%/bin}
}

piglit_result() {
    timeout 300 "$@" 2>&1 | sed -n 's/^PIGLIT: {"result": "\([a-z]*\)".*/\1/p' | tail -1
}

client_piglit_api() {
    need_piglit
    local test result good=0 bad=0 names=() has_pocl=''
    pocl_works && has_pocl=1
    for test in "$piglit_dir"/cl-api-* "$piglit_dir"/cl-custom-*; do
        result=$(piglit_result "$test")
        echo "${result:-crash} ${test##*/}"
        case ${result:-crash} in
            pass) ((good += 1)) ;;
            skip) ;;
            *)
                # A test that PoCL fails too is wrong itself or a matter of opinion.
                if [[ $has_pocl && $(OCL_ICD_VENDORS=$pocl piglit_result "$test") == pass ]]; then
                    ((bad += 1))
                    names+=("${test##*/}")
                fi
                ;;
        esac
    done
    note "$good pass, $bad fail where PoCL passes ${names[*]}"
    ((good > 0 && bad == 0))
}

# PoCL's result of a test. CLIENTS_PIGLIT_POCL names a file with earlier results ("pass path" per line).
# Without PoCL every test that is not skipped should pass.
pocl_result() {
    local base=${piglit_dir%/bin}
    if [[ -f ${CLIENTS_PIGLIT_POCL:-} ]]; then
        awk -v path="${1#"$base"/}" '$2 == path { print $1 }' "$CLIENTS_PIGLIT_POCL"
    elif [[ $has_pocl ]]; then
        OCL_ICD_VENDORS=$pocl piglit_result "$piglit_dir/cl-program-tester" "$1"
    else
        echo "$2"
    fi
}

# We must pass at least 95 % of the tests that PoCL passes. PoCL takes hours for all, so it runs only the
# tests that we fail. For each one that it passes, it must also pass 19 of the tests that we pass.
# CLIENTS_PIGLIT_MATCH selects tests by a part of their path.
client_piglit_execute() {
    need_piglit
    local base=${piglit_dir%/bin} path ours good=() others=() lost=0 agreed=0 has_pocl=''
    pocl_works && has_pocl=1
    while read -r path; do
        ours=$(piglit_result "$piglit_dir/cl-program-tester" "$path")
        echo "${ours:-crash} ${path#"$base"/}"
        if [[ $ours == pass ]]; then
            good+=("$path")
        elif [[ $(pocl_result "$path" "$([[ $ours == skip ]] || echo pass)") == pass ]]; then
            ((lost += 1))
            echo "PoCL passes ${path#"$base"/}"
        else
            others+=("$path")
        fi
    done < <(find "$base/tests/cl/program/execute" "$base/generated_tests/cl" -name '*.cl' | sort |
        grep -F "${CLIENTS_PIGLIT_MATCH:-}")
    for path in "${good[@]}"; do
        ((agreed < 19 * lost)) || break
        [[ $(pocl_result "$path" pass) == pass ]] && ((agreed += 1))
    done
    note "${#good[@]} pass; of the other $((lost + ${#others[@]})) PoCL passes $lost"
    ((${#good[@]} > 0 && agreed >= 19 * lost))
}

# A sample of piglit-execute: the built-in functions of int.
client_piglit_builtins() {
    CLIENTS_PIGLIT_MATCH=/builtin-int- client_piglit_execute
}
