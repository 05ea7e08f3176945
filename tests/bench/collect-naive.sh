#!/bin/sh
# What many write first: one curl and one jq per project, and every socket listed.
set -eu
out=$TEXTFILE_DIR/naive.prom
tmp=$out.tmp
usage=$(curl -s --unix-socket "$ENGINE" "http://localhost/v1.44/containers/traefik/stats?stream=false&one-shot=true" | jq '.memory_stats.usage - .memory_stats.stats.inactive_file')
{
  echo "# HELP proxy_memory_bytes Memory of the reverse proxy"
  echo "# TYPE proxy_memory_bytes gauge"
  echo "proxy_memory_bytes $usage"
  echo "# TYPE tcp_close_wait_total gauge"
  echo "tcp_close_wait_total $(ss -ant | grep -c CLOSE-WAIT || true)"
  echo "# TYPE tcp_sockets_total gauge"
  echo "tcp_sockets_total $(ss -Hant | wc -l)"
  echo "# TYPE hosting_deploy_failed gauge"
  for id in $(curl -s -H "Authorization: Bearer $HOSTING_TOKEN" "$HOSTING_API_URL/v9/projects?limit=100" | jq -r '.projects[].id'); do
    project=$(curl -s -H "Authorization: Bearer $HOSTING_TOKEN" "$HOSTING_API_URL/v9/projects/$id")
    name=$(echo "$project" | jq -r .name)
    failed=$(echo "$project" | jq 'if .latestDeployments[0].readyState == "ERROR" then 1 else 0 end')
    echo "hosting_deploy_failed{project=\"$name\"} $failed"
  done
} > "$tmp"
chmod 0644 "$tmp"
mv "$tmp" "$out"
