#!/bin/sh
# Who may reach port 9300 of this host: the container subnets, where the reverse proxy runs, and nobody else.
# Run as root, as often as you like: ufw skips the rules that are there. Loopback is always allowed by ufw.
# To take it back: the same lines with `ufw delete` in place of `ufw`.
set -eu

ufw allow proto tcp from 172.16.0.0/12 to any port 9300
ufw allow proto tcp from 10.0.0.0/8 to any port 9300
# After the two, so that it is for everybody else, also where the default of incoming connections is to allow them.
ufw deny proto tcp from any to any port 9300

ufw status verbose
