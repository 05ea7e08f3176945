#!/bin/sh
# deb.sh version platform binary target: the Debian package of one platform (linux-x64, linux-arm64). The binary lies below
# dist/, beside it <binary>.cdx.json and dist/third-party-licences.txt. SOURCE_DATE_EPOCH is the time of all files.
set -eu
umask 022
version=$1 platform=$2 binary=$3 target=$4
case $platform in
*-x64) architecture=amd64 ;;
*-arm64) architecture=arm64 ;;
esac
here=packaging/debian
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM
chmod 0755 "$stage"
docs=$stage/usr/share/doc/opsctl

# What postinst creates on the host is not in the package: settings are the operator's, and the account is not known yet.
put_files() {
	DESTDIR=$stage PREFIX=/usr SYSCONFDIR=/etc UNITDIR=/usr/lib/systemd/system BINARY=$binary \
		sh systemd/install.sh install >/dev/null
	install -m 0755 systemd/install.sh "$stage/usr/share/opsctl/install.sh"
	rm -rf "$stage/etc/opsctl/secrets" "$stage/etc/opsctl/root-secrets" "$stage"/etc/opsctl/*.env
	# The cron file stays when the package is removed, and has to be silent then (Debian policy, 9.5).
	sed -i -E 's,^([^#]* (opsctl|root) )((exec )?env ),\1[ ! -x /usr/bin/opsctl ] || \3,' "$stage/etc/cron.d/opsctl"
	[ ! -d "$stage/usr/share/man" ] || find "$stage/usr/share/man" -type f -name '*.[1-8]' -exec gzip -9n {} +
}

put_documents() {
	mkdir -p "$docs/docs" "$stage/usr/share/lintian/overrides"
	cp README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md "$docs"
	cp -R docs/. "$docs/docs"
	cp "$binary.cdx.json" "$docs/opsctl.cdx.json"
	cp dist/third-party-licences.txt "$docs"
	cp "$here/lintian-overrides" "$stage/usr/share/lintian/overrides/opsctl"
	sed -e '/@LICENSE@/{' -e "r $stage/licence" -e d -e '}' "$here/copyright" >"$docs/copyright"
	changelog | gzip -9n >"$docs/changelog.gz"
	chmod -R u=rwX,go=rX "$docs" "$stage/usr/share/lintian"
}

# A paragraph of a control file: indented, an empty line is a full stop.
licence() {
	sed -e '1,/^Copyright/d' LICENSE | sed -e '1{/^$/d}' -e 's/^$/./' -e 's/^/ /'
}

changelog() {
	cat <<-END
		opsctl ($version) stable; urgency=medium

		  * What changed: /usr/share/doc/opsctl/CHANGELOG.md

		 -- $(sed -n 's/^Maintainer: //p' $here/control)  $(LC_ALL=C TZ=UTC date -R -d "@$SOURCE_DATE_EPOCH")
	END
}

put_control() {
	mkdir "$stage/DEBIAN"
	size=$(du -k --apparent-size -s --exclude DEBIAN "$stage" | cut -f 1)
	sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" $here/control >"$stage/DEBIAN/control"
	(cd "$stage" && find etc -type f | LC_ALL=C sort | sed 's|^|/|' >DEBIAN/conffiles)
	(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	for script in preinst postinst prerm postrm; do install -m 0755 "$here/$script" "$stage/DEBIAN/$script"; done
}

put_files
licence >"$stage/licence"
put_documents
rm "$stage/licence"
put_control
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$(dirname "$target")"
dpkg-deb --root-owner-group --threads-max=1 -z2 "-Z${DEB_COMPRESSION:-xz}" --build "$stage" "$target.new~" >/dev/null
mv -f "$target.new~" "$target"
