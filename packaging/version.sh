#!/bin/sh
# version.sh: the version of a release, from package.json and the commit; Debian orders these versions as they came.
#
#   0.1.0                             the commit has the tag v0.1.0
#   0.2.0~20261122195410.0123456789ab a commit before 0.2.0: CHANGELOG.md has no section of that name yet
#   0.1.0+20261122195410.0123456789ab a commit after 0.1.0, whose section CHANGELOG.md has
#
# A tree with changes of its own is refused; with ALLOW_CHANGES=1 its version ends with +changes.
set -eu

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
is_changed=$([ -z "$(git status --porcelain)" ] && echo no || echo yes)
if [ "$is_changed" = yes ] && [ "${ALLOW_CHANGES:-}" != 1 ]; then
	echo "opsctl: this tree is not what its commit says (git status): commit first, or ALLOW_CHANGES=1 for a trial" >&2
	exit 1
fi
if ! git tag --points-at HEAD | grep -qxF "v$version"; then
	mark=$(grep -qxF "## $version" CHANGELOG.md && echo + || echo '~')
	version=$version$mark$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y%m%d%H%M%S).$(git rev-parse --short=12 HEAD)
elif ! grep -qxF "## $version" CHANGELOG.md; then
	echo "opsctl: the tag v$version is here and CHANGELOG.md has no section ## $version" >&2
	exit 1
fi
[ "$is_changed" = no ] || version=$version+changes
echo "$version"
