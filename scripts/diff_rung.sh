#!/bin/sh
# Shows what a rung adds to the rung it grew from, and how many code lines that is (comments, blanks not counted).
# Usage: diff_rung.sh OLD_DIR NEW_DIR

code_lines() {  # FILE: its code, comments and blank lines removed, indentation ignored
    gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null | sed 's/^[ \t]*//; /^$/d'
}

total=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
color=never
[ -t 1 ] && color=always
for file in kernel.cu main.c; do
    git --no-pager diff --no-index --color=$color "$1/$file" "$2/$file"
    code_lines "$1/$file" >"$scratch/old"
    code_lines "$2/$file" >"$scratch/new"
    added=$(diff "$scratch/old" "$scratch/new" | grep -c '^>')
    removed=$(diff "$scratch/old" "$scratch/new" | grep -c '^<')
    echo "$1 -> $2, $file: $added code lines added, $removed removed"
    total=$((total + added))
done
echo "$1 -> $2: $total code lines added in all"
