#!/bin/sh
# Who may reach TCP port 9300 of this host: the container ranges, where the reverse proxy runs, and no other. Nothing
# is said about any other port. Run it as root, as often as you like. Loopback is always allowed by ufw.
# To take it back: the three rules with `ufw delete`.
set -eu

first() { # a rule, put before all others, also when it is there already, but behind one that undoes it
	ufw delete "$@" >/dev/null
	ufw prepend "$@"
}

# For every address, IPv6 too, also where the default of incoming connections is to allow them. The two come before it.
first deny proto tcp from any to any port 9300
first allow proto tcp from 10.0.0.0/8 to any port 9300
first allow proto tcp from 172.16.0.0/12 to any port 9300

ufw status verbose
# These rules are kept until ufw is enabled, and close nothing before. To enable it here could lock you out.
if ! LC_ALL=C ufw status | grep -q '^Status: active'; then
	echo "opsctl: ufw is not active, so port 9300 is not closed by it: ufw allow 22/tcp (the port of your ssh) and what else this host serves (ufw allow 80,443/tcp), then ufw enable" >&2
	exit 1
fi
