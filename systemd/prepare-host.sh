# shellcheck shell=sh disable=SC2154
# What makes a host ready for opsctl: the account, its directories, settings and secrets. `make install` reads this file,
# and each maintainer script of the Debian package holds it (packaging/deb.sh puts it there).
#
# They set before: DESTDIR, IS_ROOT and IS_HOST (yes or no), settings (where the environment files are).

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
	if [ -L "$1" ] || [ ! -f "$1" ] || [ "$(stat -c %h "$1")" != 1 ]; then
		# chmod follows a link, and a second name may be one of root's.
		complain "opsctl reads $1 itself, and it is no plain file: look at it, then mv -nT $1 $1.foreign; what is right in it belongs into a new one"
	elif [ "$(stat -c %U "$1")" != opsctl ]; then
		complain "opsctl reads $1 itself and cannot read this one: look at it, then chown -h opsctl:opsctl $1; chmod 0600 $1"
	elif [ "$(stat -c '%G %a' "$1")" != "opsctl 600" ]; then
		chown -h opsctl:opsctl "$1"
		chmod 0600 "$1"
		echo "$1 is open to opsctl alone now"
	fi
}

# Whoever may write such a file may have it open: after a chown it would still write what root reads.
warn_of_foreign_file() {
	if [ -L "$1" ]; then
		complain "root reads no link, and $1 is one: put a file of root's in its place"
	elif [ -e "$1" ] && ! only_root_writes "$1"; then
		complain "root does not read $1, which others may write: look at it, then mv -nT $1 $1.foreign; what is right in it belongs into a new one"
	fi
}

complain() {
	echo "opsctl: $1" >&2
}

# What root may repair there: a regular file of the service user, without a second name elsewhere, and not what root alone
# reads. A file of root's is never given away: the user may have renamed it, or moved it there, while it owned the directory.
is_plain_secret='-type f -links 1 -user opsctl ! -name HOSTING_TOKEN ! -name MIGRATE_DATABASE_URL'

# The service user owned this directory once. While it can still put a link or another name there, root changes nothing
# in it: the directory is taken away first, root's secrets leave it and its files are given over then, and last it is
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
	move_root_secret MIGRATE_DATABASE_URL
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
		*" HOSTING_TOKEN" | *" MIGRATE_DATABASE_URL") way= ;;
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

# The account comes first. Samples have to be in place: an environment file that is not there is made from its sample.
prepare_settings() {
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
}

# Logs and state.
prepare_data() {
	make_directory 0750 opsctl /var/log/opsctl
	make_directory 0700 opsctl /var/lib/opsctl
	warn_of_closed_directory /var/log/opsctl
	warn_of_closed_directory /var/lib/opsctl
}
