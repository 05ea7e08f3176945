#!/bin/sh
# install.sh install|uninstall, started by make in the clone, with DESTDIR, PREFIX and SYSCONFDIR.
#
# The service user, its directories and systemd are touched on a host only: as root, without DESTDIR, with SYSCONFDIR
# /etc. Everything else is an image, whose package or build makes the user.
set -eu
umask 022

DESTDIR=${DESTDIR:-}
PREFIX=${PREFIX%/}
SYSCONFDIR=${SYSCONFDIR%/}
SHARE=$PREFIX/share/opsctl
MAN=$PREFIX/share/man/man1
# Debian's zsh looks below /usr for what packages bring, and below /usr/local for the rest.
case $PREFIX in
/usr) ZSH=$PREFIX/share/zsh/vendor-completions ;;
*) ZSH=$PREFIX/share/zsh/site-functions ;;
esac
UNITS="opsctl-webhook.socket opsctl-webhook.service"
IS_ROOT=$([ "$(id -u)" -eq 0 ] && echo yes || echo no)
IS_HOST=$([ -z "$DESTDIR" ] && [ "$SYSCONFDIR" = /etc ] && echo yes || echo no)

# Mode, source and target of everything that is installed as it is in the clone, but for the paths in it.
files() {
	cat <<-END
		0755 dist/opsctl $PREFIX/bin/opsctl
		0644 systemd/opsctl-webhook.service $SYSCONFDIR/systemd/system/opsctl-webhook.service
		0644 systemd/opsctl-webhook.socket $SYSCONFDIR/systemd/system/opsctl-webhook.socket
		0644 systemd/opsctl.cron $SYSCONFDIR/cron.d/opsctl
		0644 systemd/opsctl.logrotate $SYSCONFDIR/logrotate.d/opsctl
		0644 systemd/webhook.env.example $SYSCONFDIR/opsctl/webhook.env.example
		0644 systemd/alert-rules.env.example $SYSCONFDIR/opsctl/alert-rules.env.example
		0644 systemd/weekly.env.example $SYSCONFDIR/opsctl/weekly.env.example
		0644 systemd/collect-metrics.env.example $SYSCONFDIR/opsctl/collect-metrics.env.example
		0644 systemd/socket-monitor.env.example $SYSCONFDIR/opsctl/socket-monitor.env.example
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
	for page in dist/man/*.1; do echo "0644 $page $MAN/${page##*/}"; done
}

# A command that is gone since an older version has no page any more; all of them go with opsctl.
remove_pages() { # all, or those of no command
	for page in "$DESTDIR$MAN/opsctl.1" "$DESTDIR$MAN"/opsctl-*.1; do
		[ "$1" = "of no command" ] && [ -e "dist/man/${page##*/}" ] || rm -f "$page" "$page.new~"
	done
}

# Environment files and who reads them. Root's own is root's: who writes it chooses where root's secret is sent.
environments() {
	cat <<-END
		webhook opsctl
		alert-rules opsctl
		weekly opsctl
		collect-metrics root
		socket-monitor opsctl
	END
}

fail() {
	echo "opsctl: $1" >&2
	exit 1
}

check_settings() {
	# These paths go into a cron file, units and shell commands, where blanks, quotes and % mean something else.
	[ -n "$SYSCONFDIR" ] || fail "SYSCONFDIR has to be a directory below /"
	for path in "$PREFIX" "$SYSCONFDIR"; do
		case $path/ in
		*//* | */./* | */../*) fail "PREFIX and SYSCONFDIR have to be spelled plainly, without //, . and .., not \"$path\"" ;;
		esac
		case $path in
		*[!A-Za-z0-9/._+@-]* | [!/]*) fail "PREFIX and SYSCONFDIR have to be absolute paths of plain characters, not \"$path\"" ;;
		esac
	done
	case $DESTDIR in
	"" | /*) ;;
	*) fail "DESTDIR has to be an absolute path, not \"$DESTDIR\"" ;;
	esac
	[ "$IS_HOST" = no ] || [ "$IS_ROOT" = yes ] || fail "this changes /etc: run it as root, or set DESTDIR"
}

# The directory of secrets that the environment file of a command names.
secrets_of() { # source
	case $1 in
	*collect-metrics*) echo root-secrets ;;
	*) echo secrets ;;
	esac
}

# A source as it is installed, with the paths of this installation.
render() {
	if [ "$SYSCONFDIR" = /etc ]; then
		sed "s|/usr/local/bin/opsctl|$PREFIX/bin/opsctl|g" "$1"
		return
	fi
	# The binary looks below /etc by itself, so the environment files name the other places.
	# PREFIX comes last: it may itself hold one of the names that are replaced before.
	# opsctl finds the files that it reads itself by the variable of the unit and of the cron file.
	sed -e "/^\[Service\]$/a Environment=OPSCTL_ENV_DIR=$SYSCONFDIR/opsctl" \
		-e "/^MAILTO=/a OPSCTL_ENV_DIR=$SYSCONFDIR/opsctl" \
		-e "s,/etc/\(opsctl\|cron\.d\|logrotate\.d\|systemd\)\>,$SYSCONFDIR/\1,g" \
		-e "s|/usr/local/bin/opsctl|$PREFIX/bin/opsctl|g" \
		-e "s|^OPSCTL_SECRETS_DIR=$|&$SYSCONFDIR/opsctl/$(secrets_of "$1")|" \
		-e "s|^OPSCTL_WEBHOOK_ENV_FILE=$|&$SYSCONFDIR/opsctl/webhook.env|" "$1"
}

make_directory() { # mode owner path; one that is there stays as it is, so a new one gets its name when it is done
	[ ! -d "$3" ] || return 0
	# In /var/log, which a group may write to on Ubuntu, a link of this name would lead chmod elsewhere.
	rm -df "$3.new~"
	mkdir -p "$(dirname "$3")"
	mkdir -m "$1" "$3.new~"
	give "$2" "$3.new~"
	mv -T "$3.new~" "$3"
}

give() { # owner, or owner:group, and path
	# In an image the service user has another number than on this host: whoever makes it gives it its files.
	[ "$IS_ROOT" = yes ] && [ -z "$DESTDIR" ] || return 0
	getent passwd "${1%:*}" >/dev/null && getent group "${1#*:}" >/dev/null || return 0
	chown -h "${1%:*}:${1#*:}" "$2"
}

put() { # mode owner file target; whole or not at all, and not at all when nothing would change
	if [ -f "$4" ] && [ ! -L "$4" ] && cmp -s "$3" "$4" && [ "0$(stat -c %a "$4")" = "$1" ]; then
		[ "$IS_ROOT" = no ] || [ "$(stat -c %U "$4")" = "$2" ] || give "$2" "$4"
		return
	fi
	# Neither cron nor logrotate reads a name that ends like this, and no editor's backup has it.
	install -T -m "$1" "$3" "$4.new~"
	give "$2" "$4.new~"
	mv -fT "$4.new~" "$4"
	echo "$4"
}

make_account() {
	getent group opsctl >/dev/null || groupadd --system opsctl
	getent passwd opsctl >/dev/null || useradd --system --gid opsctl --home-dir /var/lib/opsctl --no-create-home \
		--shell /usr/sbin/nologin opsctl
}

only_root_writes() { # path, which may be a link
	[ -z "$(find -L "$1" -maxdepth 0 \( ! -user root -o -perm /022 \))" ]
}

# Root reads a file in this directory: an account that may write to it could put another one in its place. And before root
# puts a file there itself, or looks at one: it could become a link meanwhile, or a pipe.
secure_settings_directory() {
	[ "$IS_HOST" = yes ] && [ -d "$1" ] || return 0
	! only_root_writes "$1" || return 0
	chown root:root "$1"
	chmod 0755 "$1"
	echo "$1 belongs to root now"
}

# opsctl reads these files itself, as its user; systemd and cron's shell, which read them before, could read others too. A
# file of root's is not given away: the user may have renamed it while it owned the directory.
secure_own_settings() { # file
	[ -e "$1" ] || [ -L "$1" ] || return 0
	if [ -L "$1" ] || [ ! -f "$1" ] || [ "$(stat -c '%U %h' "$1")" != "opsctl 1" ]; then
		complain "opsctl reads $1 itself and cannot read this one: look at it, then chown -h opsctl:opsctl $1; chmod 0600 $1"
	elif [ "$(stat -c '%G %a' "$1")" != "opsctl 600" ]; then
		chown -h opsctl:opsctl "$1"
		chmod 0600 "$1"
		echo "$1 is open to opsctl alone now"
	fi
}

warn_of_foreign_file() {
	if [ -L "$1" ]; then
		complain "root reads no link, and $1 is one: put a file of root's in its place"
	elif [ -e "$1" ] && ! only_root_writes "$1"; then
		complain "root does not read $1, which others may write: look at it, then chown root:root $1; chmod 0600 $1"
	fi
}

complain() {
	echo "opsctl: $1" >&2
}

# What root may repair there: a regular file of the service user, without a second name elsewhere, and not what root alone
# reads. A file of root's is never given away: the user may have renamed it, or moved it there, while it owned the directory.
is_plain_secret='-type f -links 1 -user opsctl ! -name HOSTING_TOKEN'

# The service user owned this directory once. While it can still put a link or another name there, root changes nothing
# in it: the directory is taken away first, root's secret leaves it and its files are given over then, and last it is
# opened to the user's group.
secure_secrets() { # directory
	if [ -L "$1" ]; then
		complain "$1 is a link and was left as it is: what it leads to has to be root's, group opsctl, mode 0750"
		return
	fi
	is_taken=no
	# shellcheck disable=SC2086 # words of find
	if [ "$(stat -c '%U:%G %a' "$1")" != "root:opsctl 750" ] ||
		[ -n "$(find "$1" -mindepth 1 -maxdepth 1 $is_plain_secret ! \( -user opsctl -group opsctl -perm 600 \))" ]; then
		is_taken=yes
		chown root:root "$1"
		chmod 0700 "$1"
	fi
	move_root_secret HOSTING_TOKEN
	if [ $is_taken = yes ]; then
		# shellcheck disable=SC2086
		find "$1" -mindepth 1 -maxdepth 1 $is_plain_secret -exec chown -h opsctl:opsctl {} + -exec chmod 0600 {} +
		chown root:opsctl "$1"
		chmod 0750 "$1"
		echo "$1 belongs to root now, and the files in it to opsctl"
	fi
	# shellcheck disable=SC2086
	find "$1" -mindepth 1 -maxdepth 1 ! \( $is_plain_secret \) -exec sh -c 'for path; do
		case "$(stat -c "%F %u %h" "$path") ${path##*/}" in
		*" HOSTING_TOKEN") way= ;;
		"regular file 0 1 "*) way="; if opsctl is to read it, chown it to opsctl:opsctl" ;;
		*) way= ;;
		esac
		# The user chose the name: it may hold control characters of a terminal.
		path=$(LC_ALL=C ls -bd "$path")
		printf "opsctl: %s is no plain file of opsctl (a link, a second name, another owner) and was left as it is%s\n" "$path" "$way"
	done >&2' sh {} +
}

# What root reads is not in a directory that the service user reads. The file is written anew: of the old one the user
# may still have a descriptor.
move_root_secret() { # name
	old=$settings/secrets/$1
	new=$settings/root-secrets/$1
	[ -f "$old" ] && [ ! -L "$old" ] && [ "$(stat -c %h "$old")" = 1 ] || return 0
	if [ -e "$new" ] || [ -L "$new" ]; then
		complain "$new is there: $old is not used any more, remove it"
		return
	fi
	put 0600 root "$old" "$new"
	rm -f "$old"
}

secure_root_secrets() { # directory
	if [ -L "$1" ]; then
		complain "$1 is a link and was left as it is: what it leads to has to be root's, mode 0700"
	elif [ "$(stat -c '%U:%G %a' "$1")" != "root:root 700" ]; then
		chown root:root "$1"
		chmod 0700 "$1"
		echo "$1 belongs to root now"
	fi
}

# A directory that was there keeps its owner. Where the log cannot be opened, a cron line fails and nobody hears of it.
# Judged by its mode: a program that ran here as the service user could be stopped, and would have root's terminal.
warn_of_closed_directory() { # directory
	[ -z "$(find -L "$1" -maxdepth 0 ! \( -user opsctl -perm -0300 -o ! -user opsctl -group opsctl -perm -0030 \
		-o ! -user opsctl ! -group opsctl -perm -0003 \))" ] ||
		echo "opsctl: $1 is closed to the user opsctl: chown -hR opsctl:opsctl $1" >&2
}

install_all() {
	[ "$IS_HOST" = no ] || make_account
	settings=$DESTDIR$SYSCONFDIR/opsctl
	secure_settings_directory "$settings"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	files | while read -r mode source target; do
		make_directory 0755 root "$(dirname "$DESTDIR$target")"
		case $source in
		dist/*) put "$mode" root "$source" "$DESTDIR$target" ;;
		*)
			render "$source" >"$work/rendered"
			put "$mode" root "$work/rendered" "$DESTDIR$target"
			;;
		esac
	done
	remove_pages "of no command"
	make_directory 0750 root:opsctl "$settings/secrets"
	make_directory 0700 root "$settings/root-secrets"
	if [ "$IS_HOST" = yes ]; then
		secure_root_secrets "$settings/root-secrets"
		secure_secrets "$settings/secrets"
		warn_of_foreign_file "$settings/collect-metrics.env"
		for command in webhook alert-rules weekly socket-monitor; do secure_own_settings "$settings/$command.env"; done
	fi
	environments | while read -r command owner; do
		[ -e "$settings/$command.env" ] || [ -L "$settings/$command.env" ] ||
			put 0600 "$owner" "$settings/$command.env.example" "$settings/$command.env"
	done
	if [ "$IS_HOST" = yes ]; then
		make_directory 0750 opsctl /var/log/opsctl
		make_directory 0700 opsctl /var/lib/opsctl
		warn_of_closed_directory /var/log/opsctl
		warn_of_closed_directory /var/lib/opsctl
		next_steps
	else
		next_steps_of_image
	fi
}

next_steps() {
	cat <<-END

		Installed; nothing was started but what cron starts. What remains:
		  1. Fill in /etc/opsctl/*.env. opsctl secret list names the secrets that are missing, opsctl secret set <NAME>
		     asks for one and puts it where it is found.
		  2. opsctl migrate, before the first Monday; for an update before make install. Where DATABASE_URL is not the
		     owner's login: opsctl secret set MIGRATE_DATABASE_URL.
		  3. install -d -m 0755 /var/lib/node_exporter/textfile_collector, or TEXTFILE_DIR in collect-metrics.env.
		  4. Close port 9300 to strangers: $SHARE/firewall
		  5. systemctl daemon-reload
		     systemctl enable --now $UNITS
		     after an update: systemctl restart opsctl-webhook.service; after a change of webhook.env: systemctl reload
		  6. opsctl doctor, as root, says what is missing.
		Agent, proxy and firewall: $SHARE, and docs/install.md.
	END
}

next_steps_of_image() {
	cat <<-END

		Installed below ${DESTDIR:-/}, without the service user and its directories. A package makes them:
		  groupadd --system opsctl
		  useradd --system --gid opsctl --home-dir /var/lib/opsctl --no-create-home --shell /usr/sbin/nologin opsctl
		  install -d -o opsctl -g opsctl -m 0750 /var/log/opsctl
		  install -d -o opsctl -g opsctl -m 0700 /var/lib/opsctl
		  install -d -o root -g opsctl -m 0750 $SYSCONFDIR/opsctl/secrets
		  cd $SYSCONFDIR/opsctl && chown opsctl:opsctl webhook.env alert-rules.env weekly.env socket-monitor.env
	END
}

has_systemd() {
	[ "$IS_HOST" = yes ] && [ -d /run/systemd/system ]
}

uninstall_all() {
	# A service without its files would run on until the next boot; what it accepted stays in its state.
	# shellcheck disable=SC2086 # two units
	! has_systemd || systemctl disable --now $UNITS || echo "opsctl: the units could not be stopped" >&2
	settings=$DESTDIR$SYSCONFDIR/opsctl
	secure_settings_directory "$settings"
	environments | while read -r command _; do
		rm -f "$settings/$command.env.new~"
		# Reading a pipe would wait for ever.
		[ -f "$settings/$command.env" ] && [ ! -L "$settings/$command.env" ] || continue
		! cmp -s "$settings/$command.env" "$settings/$command.env.example" || rm -f "$settings/$command.env"
	done
	# Where no systemd runs, an image or a chroot, these links would enable the next installation by themselves.
	wanted=$DESTDIR$SYSCONFDIR/systemd/system
	rm -f "$wanted/sockets.target.wants/opsctl-webhook.socket" "$wanted/multi-user.target.wants/opsctl-webhook.service"
	# An installation that broke off may have left the second name.
	files | while read -r _ _ target; do rm -f "$DESTDIR$target" "$DESTDIR$target.new~"; done
	remove_pages all
	for directory in "$DESTDIR$SHARE/agent" "$DESTDIR$SHARE/proxy" "$DESTDIR$SHARE/firewall" "$DESTDIR$SHARE" \
		"$settings/secrets.new~" "$settings/secrets" "$settings/root-secrets.new~" "$settings/root-secrets" "$settings"; do
		# A link to a directory elsewhere is the operator's.
		[ ! -d "$directory" ] || [ -L "$directory" ] || rmdir --ignore-fail-on-non-empty "$directory"
	done
	! has_systemd || systemctl daemon-reload
	echo "Removed. Left where they are: secrets and edited files in $settings, logs, state, the user opsctl."
}

check_settings
case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail "expected install or uninstall" ;;
esac
