#!/usr/bin/env bash
# Whether each core module has its page docs/modules/ID.md, with the tables that its manifest gives and the example that
# samples/modules/ID.yaml is, word for word. With --write it brings the pages up to date instead.
# usage: module_docs_test.sh BUILD_DIRECTORY [--write]
set -euo pipefail

build=$(cd "$1" && pwd)
write=${2:-}
cd "$(dirname "$0")/../.."
faults=0

fault() { printf 'FAULT: %s\n' "$1"; faults=$((faults + 1)); }

# fill PAGE NAME: PAGE with standard input between the lines <!-- NAME --> and <!-- end -->.
fill() {
    awk -v name="<!-- $2 -->" '
        FNR == NR && FILENAME == "-" { text = text $0 "\n"; next }
        $0 == name { print; printf "%s", text; inside = 1; next }
        inside && $0 == "<!-- end -->" { inside = 0 }
        !inside { print }' - "$1"
}

for module in "$build"/lib/weir/plugins/*.so; do
    id=$(basename "$module" .so)
    page=docs/modules/$id.md
    sample=samples/modules/$id.yaml
    [ -f "$page" ] || { fault "$page is missing"; continue; }
    [ -f "$sample" ] || { fault "$sample is missing"; continue; }
    for name in "weir plugin describe" "$sample"; do
        [ "$(grep -cFx "<!-- $name -->" "$page")" = 1 ] || fault "$page needs one line <!-- $name -->, and <!-- end --> behind"
    done
    new=$("$build/bin/weir" plugin describe "$module" | fill "$page" "weir plugin describe")
    new=$({ echo '```yaml'; cat "$sample"; echo '```'; } | fill <(printf '%s\n' "$new") "$sample")
    if [ "$write" = --write ]; then
        printf '%s\n' "$new" >"$page"
    elif [ "$new" != "$(cat "$page")" ]; then
        diff <(printf '%s\n' "$new") "$page" || true
        fault "$page is out of date: run $0 BUILD_DIRECTORY --write"
    fi
    checked=$("$build/bin/weir" check -c "$sample" 2>&1) || fault "$sample is not good: $checked"
    [[ $checked != *"arning: $sample"* ]] || fault "$checked"
done
for page in docs/modules/*.md; do
    [ -f "$build/lib/weir/plugins/$(basename "$page" .md).so" ] || fault "$page is about no core module"
done

[ "$faults" = 0 ]
