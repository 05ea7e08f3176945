#!/bin/sh
# release-notes.sh version: the section of CHANGELOG.md for this version; of a commit between two, what is unreleased.
set -eu

section() {
	awk -v heading="## $1" '$0 == heading { inside = 1; next } /^## / { inside = 0 } inside' CHANGELOG.md
}

notes=$(section "$1")
[ -n "$notes" ] || notes=$(section Unreleased)
printf '# opsctl %s\n\n%s\n' "$1" "$notes" | cat -s
