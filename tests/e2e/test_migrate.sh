#!/usr/bin/env bash
# Pages that move between GPUs, from the command line: results that verify, the same for any number of threads, counters of
# the directory, pages by first touch, and one line for each combination that cannot work.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

base=(run --all fir -p r9nano-x4 --devices unified -s gpus.clusters=4)
small=("${base[@]}" --size 4096 --verify -s migrate.check=true)

for model in page esi split; do
    for threads in 1 3; do
        run 0 "${small[@]}" -s "migrate.model=$model" -j "$threads" -o "$model$threads.csv"
        grep -qE 'verification +correct' stdout || fail "wrong with $model and $threads threads"
        sed -n '/kernel time/p; /^migrate.directory/,/^$/p; /^page-agent/,/^$/p' stdout >"table$threads"
    done
    cmp -s table1 table3 || fail "$model differs with 3 threads"
    grep -qE '^  (migrations|copies) +[1-9]' table1 || fail "no page moved with $model"
    grep -qE '^  pieces_in +[1-9]' table1 || fail "no line of a page moved with $model"
done

run 0 "${small[@]}" -s migrate.model=page -s migrate.pin=1 --pages first-touch
grep -qE 'verification +correct' stdout || fail 'wrong with first touch'
grep -qE '^  pinned +[1-9]' stdout || fail 'first touch pins no page'

refused 3 'pages by first touch need a system whose pages move' "${base[@]}" --pages first-touch
refused 2 "must be one of esi, none, page, split (nearest: esi)" "${base[@]}" -s migrate.model=esl
refused 3 "tlb.model is 'none', which knows no shootdowns" "${base[@]}" -s migrate.model=esi -s gpus.tlb.model=none
refused 2 "host.model is 'none': the IOMMU of the host has the directory" \
    "${base[@]}" -s migrate.model=esi -s host.model=none
refused 3 'rdma.cache is not never, but pages of this system migrate' \
    "${base[@]}" -s migrate.model=esi -s gpus.rdma.at=memory -s gpus.rdma.cache=read-only
refused 3 'l2 has a prefetcher, but pages of this system migrate' \
    "${base[@]}" -s migrate.model=esi -s gpus.l2.prefetch=next-line
refused 2 "'migrate.threshold' belongs to model 'page'" "${base[@]}" -s migrate.model=esi -s migrate.threshold=3
refused 3 'a recording has pages that stay where they are' "${base[@]}" -s migrate.model=esi --record r.lspk
[[ ! -e r.lspk ]] || fail 'a refused recording left a file'
