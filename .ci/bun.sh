#!/bin/sh
# bun.sh version platform sha256 target: puts exactly this Bun at the target. One that is there already is checked again.
# Nothing that was fetched runs here, no script of its package either. Where there is no npm, the Bun of PATH, whatever its
# version, downloads; it is not used for anything else unless its own checksum is right.
set -eu
version=$1 platform=$2 expected=$3 target=$4
package=@oven/bun-$platform

fail() {
	echo "opsctl: $1" >&2
	exit 1
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

is_right() {
	[ -f "$1" ] && [ "$(sha256 "$1")" = "$expected" ]
}

fetch() { # into $work/package/bin/bun, as the registry has it
	if command -v npm >/dev/null; then
		npm pack --loglevel=error --pack-destination "$work" "$package@$version" >/dev/null || return
		tar -xzf "$work"/*.tgz -C "$work"
	elif [ -n "$present" ]; then
		(cd "$work" && echo '{}' >package.json && "$present" add --silent --exact --ignore-scripts --os='*' --cpu='*' "$package@$version") ||
			return
		mv "$work/node_modules/$package" "$work/package"
	else
		fail "neither npm nor bun found; install Node.js with npm, or Bun, then run make again"
	fi
}

[ -n "$expected" ] || fail "no checksum of Bun $version for $platform is in the Makefile: use Linux or macOS on x64 or arm64"
if [ -e "$target" ]; then
	is_right "$target" && exit 0
	fail "$target was changed: its SHA-256 is $(sha256 "$target"), expected $expected. Find out by what, rm -r .tools, run make again"
fi

mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$(dirname "$target")/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
present=$(command -v bun || true)
if is_right "$present"; then
	install -m 0755 "$present" "$work/bun"
else
	echo "Getting Bun $version for $platform from the npm registry"
	fetch || fail "$package@$version could not be fetched from the npm registry; see above, then run make again"
	mv "$work/package/bin/bun" "$work/bun"
	chmod 0755 "$work/bun"
fi
is_right "$work/bun" ||
	fail "what the registry has as $package@$version is not what this Makefile was made for: its SHA-256 is $(sha256 "$work/bun"), expected $expected. Nothing of it was run; do not use this registry before you know why"
mv -f "$work/bun" "$target"
