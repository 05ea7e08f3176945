#!/bin/sh
# release.sh version: everything that is published, in dist/release; built before: dist/opsctl-linux-x64 and -arm64,
# their SBOMs and the licences. One commit has the same bytes each time, on the same tools.
set -eu
umask 022
version=$1
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C

rm -rf dist/release
mkdir -p dist/release
for platform in linux-x64 linux-arm64; do
	binary=dist/opsctl-$platform
	name=dist/release/opsctl-$version-$platform
	architecture=$(echo $platform | sed -e s/linux-x64/amd64/ -e s/linux-arm64/arm64/)
	sh packaging/tarball.sh "$version" $platform "$binary" "$name.tar.gz" &
	sh packaging/deb.sh "$version" $platform "$binary" "dist/release/opsctl_${version}_$architecture.deb"
	wait $!
	cp "$binary.cdx.json" "$name.cdx.json"
done
sh packaging/release-notes.sh "$version" >dist/release/RELEASE-NOTES.md
(cd dist/release && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
ls -l dist/release
