#!/usr/bin/env bash
# Studies of several GPUs: speed, bytes between GPUs, claims of the literature, the same for any number of threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

run 0 study
says 'mgpusim-9-large'

small=(study mgpusim-9 -w aes:16384 -w fir:16384 -w matrixtranspose:64)
for threads in 1 3; do
    run 0 "${small[@]}" -j "$threads" --out "rows$threads.csv" --html page.html
done
cmp rows1.csv rows3.csv || fail "threads change the rows"
says 'agrees   traffic of Locality API over unified: none         AES 0.00'
grep -q 'Bytes between GPUs' page.html || fail "the page has no bars of traffic"
grep -q 'Locality API well above unified' page.html || fail "the page has no claims"

# One GPU and a monolithic one send nothing, a unified device does; a message takes at least one link.
awk -F, 'NR > 1 {
    n++
    if (($3 == "unified") != ($15 > 0) && $3 != "Locality API") exit 1
    if ($2 == "AES" && $3 == "Locality API" && $15 != 0) exit 1
    if ($16 < $15) exit 1
} END { exit n != 12 }' rows1.csv || fail "bytes between GPUs are not those of the configurations"

# A claim whose workloads were not chosen is not judged.
run 0 study mgpusim-9 -w fir:4096
says 'not run  Locality API no gain over unified'

refused 2 "study mgpusim-9 has no size for 'relu': give one, as in -w relu:1024" study mgpusim-9 -w relu
refused 2 "study navisim-8 has no size for 'aes'" study navisim-8 -w aes
