#!/bin/sh
# tarball.sh version platform binary target: what a host without dpkg needs, to be installed by `sh systemd/install.sh
# install` in the unpacked folder. SOURCE_DATE_EPOCH is the time of all files.
set -eu
umask 022
version=$1 platform=$2 binary=$3 target=$4
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM
folder=$stage/opsctl-$version-$platform

mkdir -p "$folder/dist" "$(dirname "$target")"
install -m 0755 "$binary" "$folder/dist/opsctl"
cp -R README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md LICENSE docs systemd "$folder"
cp "$binary.cdx.json" "$folder/opsctl.cdx.json"
cp dist/third-party-licences.txt "$folder"
for made in man completions; do [ ! -d "dist/$made" ] || cp -R "dist/$made" "$folder/dist"; done
chmod -R u=rwX,go=rX "$folder"
tar --create --directory "$stage" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
	--mtime="@$SOURCE_DATE_EPOCH" "${folder##*/}" | gzip -9n >"$target.new~"
mv -f "$target.new~" "$target"
