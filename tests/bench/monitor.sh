#!/bin/bash
# What many do in place of `opsctl socket-monitor`: count the sockets with ss, write a log line, look at a threshold.
set -eu
total=$(ss -ant | tail -n +2 | wc -l)
closed=$(ss -ant | grep -c CLOSE-WAIT || true)
read -r load _ < /proc/loadavg
echo "$(date -u +%FT%TZ) total=$total close_wait=$closed load=$load" >> "$OPSCTL_LOG_DIR/monitor.log"
[ "$total" -le 10000 ] || echo "too many sockets: $total"
