#!/usr/bin/env bash
# Links of the documents: every relative one leads to a file, and those with a # to one of its headings.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# anchors FILE: the names that a page gives its headings: small letters, no punctuation, - for a space.
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
        sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g; s/[^a-z0-9 _-]//g; s/ /-/g'
}

# links FILE: the targets of its links and pictures, code left out.
# shellcheck disable=SC2016
links() {
    awk '/^ *```/ { code = !code; next } !code' "$1" | sed -E 's/`[^`]*`//g' |
        grep -oE '\]\([^) ]+( "[^"]*")?\)' | sed -E 's/^\]\(//; s/( "[^"]*")?\)$//'
}

# broken FILE: says which of its links lead nowhere.
broken() {
    local target path anchor
    while read -r target; do
        case $target in
            http://* | https://* | mailto:*) continue ;;
        esac
        path=${target%%#*}
        anchor=${target#"$path"}
        path=${path:+$(dirname "$1")/$path}
        path=${path:-$1}
        if [[ ! -e $path ]]; then
            echo "$1: $target leads to no file"
        elif [[ $anchor && -f $path ]] && ! anchors "$path" | grep -xF -- "${anchor#\#}" >/dev/null; then
            echo "$1: $target leads to no heading"
        fi
    done < <(links "$1")
}

# The check finds what it is made for.
# shellcheck disable=SC2016
printf '# One page\n[a](gone.md) [b](page.md#two) [c](page.md#one-page) ![p](no.svg "t") [d](https://x.y/z)\n`[e](code.md)`\n' >page.md
[[ $(broken page.md) == "page.md: gone.md leads to no file
page.md: page.md#two leads to no heading
page.md: no.svg leads to no file" ]] || fail "of a page with three broken links it says: $(broken page.md)"

count=0
for page in "$SOURCE_DIR"/*.md "$SOURCE_DIR"/docs/*.md "$SOURCE_DIR"/*/README.md; do
    broken "$page" >>found
    ((count += $(links "$page" | wc -l)))
done
((count > 50)) || fail "only $count links in all documents"
[[ ! -s found ]] || fail "$(cat found)"
