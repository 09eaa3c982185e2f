#!/bin/sh
# Makes a board's places for a test of the first boot, and runs the test there: a network with one address, and empty
# /run, /var/lib and /dev. `unshare` has given this script its own view of them, so nothing of the computer changes.
set -eu

ip link set lo up
ip address add 192.168.1.50/24 dev lo
# The front looks for its address with this network of documents (RFC 5737). It sends nothing there.
ip route add 192.0.2.0/24 dev lo src 192.168.1.50

mount -t tmpfs run /run
mount -t tmpfs lib /var/lib

# No device of the computer is there, so the search finds the simulated ones alone.
devices=/run/devices
mkdir $devices
mount -t tmpfs devices $devices
for name in null zero full random urandom tty; do
  : >$devices/$name
  mount --bind /dev/$name $devices/$name
done
mkdir $devices/pos $devices/pts $devices/shm
mount -t devpts -o newinstance,ptmxmode=0666 pts $devices/pts
mount -t tmpfs shm $devices/shm
ln -s pts/ptmx $devices/ptmx
ln -s /proc/self/fd $devices/fd
mount --rbind $devices /dev

# The programs have one user, who is not root: the agent restricts the front by the written configuration.
exec unshare --user --map-user="$BOARD_USER" --map-group="$BOARD_USER" "$@"
