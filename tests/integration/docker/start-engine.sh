#!/bin/sh
# Starts the Docker engine of a Debian root in namespaces and control groups of its own; whatever it mounts and starts
# ends with it. Its files and its socket are in a folder of the caller.
#
#   start-engine.sh <root> <folder> <cgroup.procs>...
set -eu

if [ "$1" != inside ]; then
  root=$1 folder=$2
  shift 2
  for group; do echo $$ > "$group"; done
  exec unshare --mount --pid --net --ipc --uts --cgroup --fork --kill-child sh "$0" inside "$root" "$folder"
fi

root=$2 folder=$3
mount --make-rprivate /
# The root is shared: what is written to it goes to memory.
mount -t tmpfs tmpfs "$folder/over"
mkdir "$folder/over/upper" "$folder/over/work" "$folder/over/root"
new=$folder/over/root
mount -t overlay overlay -o "lowerdir=$root,upperdir=$folder/over/upper,workdir=$folder/over/work" "$new"
mount -t proc proc "$new/proc"
mount -t sysfs sysfs "$new/sys"
mount --rbind /dev "$new/dev"
mount --bind "$folder/shared" "$new/mnt"

groups=$new/sys/fs/cgroup
if grep -Eq '^[0-9]+:([^:]*,)?memory(,[^:]*)?:' /proc/self/cgroup; then
  # Version 1: a hierarchy for each line, seen from our own group down.
  mount -t tmpfs tmpfs "$groups"
  while IFS=: read -r _ names _; do
    [ -n "$names" ] || continue
    mkdir "$groups/$names"
    case $names in name=*) options=none,$names ;; *) options=$names ;; esac
    mount -t cgroup -o "$options" cgroup "$groups/$names"
  done < /proc/self/cgroup
else
  mount -t cgroup2 cgroup2 "$groups"
  # A group that hands controllers down has no processes of its own.
  mkdir "$groups/engine"
  echo $$ > "$groups/engine/cgroup.procs"
  echo "+memory +pids" > "$groups/cgroup.subtree_control"
fi

exec chroot "$new" dockerd --iptables=false --ip6tables=false --bridge=none --storage-driver=vfs \
  --data-root /mnt/data --host unix:///mnt/docker.sock --exec-opt native.cgroupdriver=cgroupfs
