#!/bin/sh
# install.sh install|uninstall, started by make in the clone or manually in an unpacked release, with DESTDIR, PREFIX
# (/usr/local) and SYSCONFDIR (/etc). A package also sets UNITDIR, the place of units, and BINARY, the file below dist/.
# install.sh prepare, started by the package: the service user, its directories and the environment files.
#
# The service user, its directories and systemd are touched only on a host: as root, without DESTDIR, with SYSCONFDIR
# /etc. Everything else is an image, and its package or build creates the user.
set -eu
umask 022

DESTDIR=${DESTDIR:-}
PREFIX=${PREFIX-/usr/local}
PREFIX=${PREFIX%/}
SYSCONFDIR=${SYSCONFDIR-/etc}
SYSCONFDIR=${SYSCONFDIR%/}
UNITDIR=${UNITDIR:-$SYSCONFDIR/systemd/system}
BINARY=${BINARY:-dist/opsctl}
SHARE=$PREFIX/share/opsctl
MAN=$PREFIX/share/man/man1
# Debian's zsh looks below /usr for what packages bring, and below /usr/local for the rest.
ZSH=$PREFIX/share/zsh/$([ "$PREFIX" = /usr ] && echo vendor-completions || echo site-functions)
UNITS="opsctl-webhook.socket opsctl-webhook.service"
IS_HOST=$([ -z "$DESTDIR" ] && [ "$SYSCONFDIR" = /etc ] && echo yes || echo no)
SETTINGS=$DESTDIR$SYSCONFDIR/opsctl
# The commands that have an environment file. The collector's belongs to root: who writes it chooses where root's token
# is sent.
COMMANDS="webhook alert-rules weekly collect-metrics socket-monitor"

fail() {
	echo "opsctl: $1" >&2
	exit 1
}

# Mode, source and target of everything that is installed as it is in the clone, but for the paths in it.
files() {
	cat <<-END
		0755 $BINARY $PREFIX/bin/opsctl
		0644 systemd/opsctl-webhook.service $UNITDIR/opsctl-webhook.service
		0644 systemd/opsctl-webhook.socket $UNITDIR/opsctl-webhook.socket
		0644 systemd/opsctl.cron $SYSCONFDIR/cron.d/opsctl
		0644 systemd/opsctl.logrotate $SYSCONFDIR/logrotate.d/opsctl
		0644 systemd/agent/config.alloy $SHARE/agent/config.alloy
		0644 systemd/agent/alloy.env.example $SHARE/agent/alloy.env.example
		0644 systemd/agent/dashboard.json $SHARE/agent/dashboard.json
		0644 systemd/proxy/opsctl-alerts.yml $SHARE/proxy/opsctl-alerts.yml
		0644 systemd/firewall/opsctl-webhook.nft $SHARE/firewall/opsctl-webhook.nft
		0755 systemd/firewall/opsctl-webhook.ufw.sh $SHARE/firewall/opsctl-webhook.ufw.sh
		0644 dist/completions/opsctl.bash $PREFIX/share/bash-completion/completions/opsctl
		0644 dist/completions/_opsctl $ZSH/_opsctl
		0644 dist/completions/opsctl.fish $PREFIX/share/fish/vendor_completions.d/opsctl.fish
	END
	for name in $COMMANDS; do
		echo "0644 systemd/$name.env.example $SYSCONFDIR/opsctl/$name.env.example"
	done
	for page in dist/man/*.1; do echo "0644 $page $MAN/${page##*/}"; done
}

own() { # owner:group path; in an image the service user has another number than on this host
	[ "$(id -u)" -ne 0 ] || [ -n "$DESTDIR" ] || ! getent passwd opsctl >/dev/null || chown -h "$1" "$2"
}

make_directory() { # mode owner:group path; one that is there stays as it is
	[ -d "$3" ] || { install -d -m "$1" "$3" && own "$2" "$3"; }
}

put() { # mode file target; whole or not at all, and not at all when nothing would change
	if [ -f "$3" ] && [ ! -L "$3" ] && cmp -s "$2" "$3" && [ "0$(stat -c %a "$3")" = "$1" ]; then return; fi
	# Neither cron nor logrotate reads a name that ends like this, and no editor's backup has it.
	install -T -m "$1" "$2" "$3.new~"
	mv -fT "$3.new~" "$3"
	echo "$3"
}

# The account, its directories, and an environment file from each sample.
prepare() {
	if [ "$IS_HOST" = yes ]; then
		getent group opsctl >/dev/null || groupadd --system opsctl
		getent passwd opsctl >/dev/null || useradd --system --gid opsctl --home-dir /var/lib/opsctl --no-create-home \
			--shell /usr/sbin/nologin opsctl
		make_directory 0750 opsctl:opsctl /var/log/opsctl
		make_directory 0700 opsctl:opsctl /var/lib/opsctl
	fi
	make_directory 0750 root:opsctl "$SETTINGS/secrets"
	make_directory 0700 root:root "$SETTINGS/root-secrets"
	for name in $COMMANDS; do
		file=$SETTINGS/$name.env
		if [ -e "$file" ] || [ -L "$file" ]; then continue; fi
		put 0600 "$file.example" "$file"
		[ "$name" = collect-metrics ] || own opsctl:opsctl "$file"
	done
}

check_settings() {
	# These paths go into a cron file, units and shell commands, where blanks, quotes and % mean something else. Another
	# spelling of /etc would be taken for an image.
	for path in "$PREFIX" "$SYSCONFDIR"; do
		case $path/ in
		*[!A-Za-z0-9/._+@-]* | [!/]* | / | *//* | */./* | */../*)
			fail "PREFIX and SYSCONFDIR have to be absolute paths below /, of plain characters, without //, . and .., not \"$path\""
			;;
		esac
	done
	case $DESTDIR in
	"" | /*) ;;
	*) fail "DESTDIR has to be an absolute path, not \"$DESTDIR\"" ;;
	esac
	[ "$IS_HOST" = yes ] || return 0
	[ "$(id -u)" -eq 0 ] || fail "this changes /etc: run it as root, or set DESTDIR"
	# Units below /etc would stand before the package's, and uninstall would take the package's files.
	[ "$(dpkg-query -W -f '${db:Status-Status}' opsctl 2>/dev/null)" != installed ] ||
		fail "this host has opsctl as a Debian package: apt install ./opsctl_<version>_<architecture>.deb updates it"
}

# A source as it is installed, with the paths of this installation.
render() {
	if [ "$SYSCONFDIR" = /etc ]; then
		sed -e "s|/usr/local/bin/opsctl|$PREFIX/bin/opsctl|g" -e "s|/etc/systemd/system/opsctl|$UNITDIR/opsctl|" "$1"
		return
	fi
	# The binary looks below /etc: the unit, the cron file and the environment files name the other places. PREFIX comes
	# last: it may itself hold one of the names that are replaced before.
	sed -e "/^\[Service\]$/a Environment=OPSCTL_ENV_DIR=$SYSCONFDIR/opsctl" \
		-e "/^MAILTO=/a OPSCTL_ENV_DIR=$SYSCONFDIR/opsctl" \
		-e "s,/etc/\(opsctl\|cron\.d\|logrotate\.d\|systemd\)\>,$SYSCONFDIR/\1,g" \
		-e "s|/usr/local/bin/opsctl|$PREFIX/bin/opsctl|g" "$1"
	case $1 in
	*/agent/*) ;;
	*/collect-metrics.env.example) echo "OPSCTL_SECRETS_DIR=$SYSCONFDIR/opsctl/root-secrets" ;;
	*.env.example) echo "OPSCTL_SECRETS_DIR=$SYSCONFDIR/opsctl/secrets" ;;
	esac
}

install_all() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	files | while read -r mode source target; do
		make_directory 0755 root:root "$(dirname "$DESTDIR$target")"
		case $source in
		dist/*) put "$mode" "$source" "$DESTDIR$target" ;;
		*)
			render "$source" >"$work/rendered"
			put "$mode" "$work/rendered" "$DESTDIR$target"
			;;
		esac
	done
	prepare
	next_steps
}

next_steps() {
	if [ "$IS_HOST" = no ]; then
		echo "Installed below ${DESTDIR:-/}, without the service user and its directories: docs/install.md lists them."
		return
	fi
	cat <<-END

		Installed; nothing was started but what cron starts. What remains is in docs/install.md:
		  1. Fill in /etc/opsctl/*.env, and set each secret that opsctl secret list calls missing.
		  2. opsctl migrate
		  3. systemctl daemon-reload; systemctl enable --now $UNITS
		  4. opsctl doctor and opsctl status, as root, say what is missing and what comes next.
	END
}

has_systemd() {
	[ "$IS_HOST" = yes ] && [ -d /run/systemd/system ]
}

uninstall_all() {
	# A service without its files would run on until the next boot; what it accepted stays in its state.
	# shellcheck disable=SC2086 # two units
	! has_systemd || systemctl disable --now $UNITS || echo "opsctl: the units could not be stopped" >&2
	for name in $COMMANDS; do
		file=$SETTINGS/$name.env
		rm -f "$file.new~"
		# Reading a pipe would wait for ever.
		if [ ! -f "$file" ] || [ -L "$file" ]; then continue; fi
		! cmp -s "$file" "$file.example" || rm -f "$file"
	done
	# Where no systemd runs, an image or a chroot, these links would enable the next installation.
	wanted=$DESTDIR$SYSCONFDIR/systemd/system
	rm -f "$wanted/sockets.target.wants/opsctl-webhook.socket" "$wanted/multi-user.target.wants/opsctl-webhook.service"
	# An installation that broke off may have left the second name.
	files | while read -r _ _ target; do rm -f "$DESTDIR$target" "$DESTDIR$target.new~"; done
	# Also the pages of commands that this version does not have.
	rm -f "$DESTDIR$MAN/opsctl.1" "$DESTDIR$MAN"/opsctl-*.1 "$DESTDIR$MAN"/opsctl*.1.new~
	for directory in "$DESTDIR$SHARE/agent" "$DESTDIR$SHARE/proxy" "$DESTDIR$SHARE/firewall" "$DESTDIR$SHARE" \
		"$SETTINGS/secrets" "$SETTINGS/root-secrets" "$SETTINGS"; do
		# A link to a directory elsewhere is the operator's.
		[ ! -d "$directory" ] || [ -L "$directory" ] || rmdir --ignore-fail-on-non-empty "$directory"
	done
	! has_systemd || systemctl daemon-reload
	echo "Removed. Left where they are: secrets and edited files in $SETTINGS, logs, state, the user opsctl."
}

case ${1:-} in
install | uninstall)
	check_settings
	"$1_all"
	;;
prepare) prepare ;;
*) fail "expected install, uninstall or prepare" ;;
esac
