# shellcheck shell=bash disable=SC2034,SC2153
# The emulated board, for tests/board/run: its power, its USB plugs, and commands inside it.
#
# power_on [root=ro] [clock=DATE] [net=off] [wait=no]
#                                     boots it, with the root read-only, the board's clock at a date, or no network;
#                                     with wait=no it only begins to start
# power_off                           shuts it down
# power_cut                           cuts its power at any moment
# guest [-t SECONDS] SCRIPT           runs bash in it, as root; puts the output in SAID and returns the exit code
# begin SCRIPT, finish [SECONDS]      the same in two parts
# pull NAME, plug NAME                the USB cable of `reader` or `printer`
# network true|false                  the cable of the network
#
# With -i the board starts from a whole card (CARD), of which this machine knows only the kernel. Then commands go in over
# ssh, with a key on the boot partition, as a technician's do.
#
# The other disks are overlays in QEMU's own form, which exist as long as RUN. After a power cut, synced data is on the disk,
# and other data may be lost, as with a real disk.
#
# The board's clock counts its instructions, 250 million in a second (-icount), so its deadlines and its figures are the
# same on a busy machine. While the board is idle, its time follows the host's.

# The time-out of a start in seconds; a board needs 10 to 20 s.
readonly BOOT_PATIENCE=600
# The time-out of a command in seconds.
readonly PATIENCE=300

QEMU_PID=
JOBS=0
SAID=
# The ports of this machine that lead to the board's: the front's 8443, and with -i also 22.
FRONT_PORT=$((20000 + RANDOM % 20000))
SSH_PORT=$((FRONT_PORT + 20000))
readonly FRONT_PORT SSH_PORT

# Creates the disks of a new board.
new_disks() {
  local image=$1
  mkfifo "$RUN"/{qmp,order}.{in,out}
  # Open at both ends here, so neither end waits for the other.
  exec {QMP_TO}<>"$RUN/qmp.in" {QMP_FROM}<>"$RUN/qmp.out" {ORDERS}<>"$RUN/order.in"
  if [[ -n $CARD ]]; then
    new_card
    return
  fi
  truncate -s 256M "$RUN/data.img"
  mkdir -p "$RUN/data/"{agent,front}
  # Blocks of 4 KiB, as on larger disks; README.md describes the differences.
  mke2fs -q -t ext4 -b 4096 -d "$RUN/data" "$RUN/data.img"
  tool qemu-img create -q -f qcow2 -b "$image/root.img" -F raw "$RUN/root.qcow2"
  tool qemu-img create -q -f qcow2 -b "$RUN/data.img" -F raw "$RUN/data.qcow2"
  cp "$HERE/listen" "$RUN/hand/listen"
}

# Writes the image to a larger card. It is no overlay, because this machine writes to its boot partition.
new_card() {
  cp --sparse=always "$CARD" "$RUN/card.img"
  truncate -s "$CARD_SIZE" "$RUN/card.img"
}

power_on() {
  local root=rw clock=utc net=on wait=yes word disks start=$EPOCHREALTIME
  for word; do
    case $word in root=*) root=${word#*=} ;; clock=*) clock=${word#*=} ;; net=*) net=${word#*=} ;; wait=*) wait=${word#*=} ;; esac
  done
  case $ARCH in armhf) machine armhf ;; *) machine arm64 ;; esac
  rm -f "$RUN/hand/ready"
  if [[ -n $CARD ]]; then card_disks; else board_disks "$CACHE/$ARCH" "$root"; fi
  # No romfile: the files for booting from the network are not unpacked.
  env LD_LIBRARY_PATH="$LIBRARIES" "$TOOLS/usr/bin/${MACHINE[0]}" "${MACHINE[@]:1}" -accel tcg,thread=single -icount shift=2 \
    -smp 1 -nodefaults -display none -no-reboot -rtc "base=$clock" "${disks[@]}" -serial "file:$RUN/console" \
    -device virtio-rng-pci -device qemu-xhci,id=usb -chardev "$(cable reader)" -device "$(usb_device reader)" \
    -chardev "$(cable printer)" -device "$(usb_device printer)" \
    -chardev "pipe,id=qmp,path=$RUN/qmp" -mon chardev=qmp,mode=control <&- >"$RUN/qemu" 2>&1 &
  QEMU_PID=$!
  qmp_open
  [[ $net == on ]] || network false
  [[ $wait == yes ]] || return 0
  until_true "$BOOT_PATIENCE" "the board comes up" board_is_up
  BOOTED_WITH=$root
  echo "   the board is up after $(since "$start") s"
}

# The kernel, its words and the disks of the small system, with a folder of this machine.
board_disks() {
  local image=$1
  disks=(-m 256 -kernel "$image/vmlinuz" -initrd "$image/initrd"
    -append "console=ttyAMA0 quiet net.ifnames=0 systemd.show_status=1 board_root=$2"
    -drive "if=none,id=root,format=qcow2,file=$RUN/root.qcow2" -device virtio-blk-pci,drive=root
    -drive "if=none,id=data,format=qcow2,file=$RUN/data.qcow2" -device virtio-blk-pci,drive=data
    -netdev "user,id=net,hostfwd=tcp:127.0.0.1:$FRONT_PORT-:8443" -device virtio-net-pci,netdev=net,romfile=
    -fsdev "local,id=hand,path=$RUN/hand,security_model=none" -device virtio-9p-pci,fsdev=hand,mount_tag=hand
    -device virtio-serial-pci -chardev "pipe,id=order,path=$RUN/order" -device virtserialport,chardev=order,name=order)
}

# The same for a whole card. A Raspberry Pi's firmware reads the kernel from the card; QEMU gets it from here.
card_disks() {
  disks=(-m 512 -kernel "${CARD%.img}.vmlinuz" -initrd "${CARD%.img}.initrd"
    -append "console=ttyAMA0 quiet net.ifnames=0 root=LABEL=pos-root ro panic=10"
    -drive "if=none,id=card,format=raw,file=$RUN/card.img" -device virtio-blk-pci,drive=card -device i6300esb
    -netdev "user,id=net,hostfwd=tcp:127.0.0.1:$FRONT_PORT-:8443,hostfwd=tcp:127.0.0.1:$SSH_PORT-:22"
    -device virtio-net-pci,netdev=net,romfile=)
}

board_is_up() {
  if [[ -z $CARD ]]; then
    [[ -e $RUN/hand/ready ]]
  else
    # The system has started all its units, also those that fail.
    over_ssh 5 "systemctl is-system-running --wait" </dev/null 2>/dev/null | grep -qE 'running|degraded'
  fi
}

# Runs a command on the board over ssh, with a time-out for the connection.
over_ssh() {
  tool ssh -F none -q -i "$RUN/key" -p "$SSH_PORT" -o "ConnectTimeout=$1" -o BatchMode=yes -o StrictHostKeyChecking=no \
    -o UserKnownHostsFile=/dev/null -o ServerAliveInterval=20 root@127.0.0.1 "$2"
}

# QEMU connects to a simulated device, and reconnects.
cable() {
  local -n port=${1^^}_PORT
  echo "socket,id=$1,host=127.0.0.1,port=$port,server=off,reconnect-ms=200"
}

# An FTDI adapter with a serial number, by which udev names it.
usb_device() {
  echo "usb-serial,id=$1-plug,bus=usb.0,port=$(usb_port "$1"),serial=${1^^},chardev=$1"
}

usb_port() {
  case $1 in reader) echo 1 ;; printer) echo 2 ;; esac
}

pull() {
  qmp "{\"execute\": \"device_del\", \"arguments\": {\"id\": \"$1-plug\"}}"
}

plug() {
  local device
  device=$(usb_device "$1" | sed 's/^/driver=/; s/\([^=,]*\)=\([^,]*\)/"\1": "\2"/g; s/,/, /g')
  qmp "{\"execute\": \"device_add\", \"arguments\": {$device}}"
}

network() {
  qmp "{\"execute\": \"set_link\", \"arguments\": {\"name\": \"net\", \"up\": $1}}"
}

qmp_open() {
  local line
  IFS= read -r -t 20 -u "$QMP_FROM" line || fail "QEMU did not start: $(cat "$RUN/qemu")"
  qmp '{"execute": "qmp_capabilities"}'
}

# Sends QEMU a command and waits for its answer; skips QEMU's own events.
qmp() {
  local line
  echo "$1" >&"$QMP_TO"
  while IFS= read -r -t 20 -u "$QMP_FROM" line; do
    case $line in
      *'"return"'*) return ;;
      *'"error"'*) fail "QEMU refuses $1: $line" ;;
    esac
  done
  fail "QEMU does not answer $1"
}

power_off() {
  local start=$EPOCHREALTIME
  begin "systemctl poweroff --no-block"
  until_true "$PATIENCE" "the board shuts down" board_is_dark
  board_went
  echo "   the board is off after $(since "$start") s"
}

power_cut() {
  kill -KILL "$QEMU_PID"
  # Otherwise bash would print that it was killed.
  wait "$QEMU_PID" 2>/dev/null || true
  board_went
}

board_is_dark() {
  ! kill -0 "$QEMU_PID" 2>/dev/null
}

# Handles the end of the board: the devices on its cables have lost their power too, and unread bytes are discarded.
board_went() {
  local line
  QEMU_PID=
  while IFS= read -r -t 0.1 -u "$QMP_FROM" line; do :; done
  while IFS= read -r -t 0.1 -u "$ORDERS" line; do :; done
  hand reader unplug
  hand reader plug
}

begin() {
  JOBS=$((JOBS + 1))
  printf '%s\n' "$1" >"$RUN/hand/$JOBS.sh"
  if [[ -z $CARD ]]; then
    echo "$JOBS" >&"$ORDERS"
  else
    over_ssh_job "$RUN/hand/$JOBS" &
  fi
}

# The files of a job are those that `listen` on the board makes.
over_ssh_job() {
  local code=0
  over_ssh 20 "bash -euo pipefail -s" <"$1.sh" >"$1.said" 2>&1 || code=$?
  echo "$code" >"$1.ended"
  mv "$1.ended" "$1.code"
}

finish() {
  until_true "${1:-$PATIENCE}" "the board has done: $(head -c 300 "$RUN/hand/$JOBS.sh")" test -e "$RUN/hand/$JOBS.code"
  SAID=$(cat "$RUN/hand/$JOBS.said")
  return "$(cat "$RUN/hand/$JOBS.code")"
}

guest() {
  local patience=$PATIENCE
  if [[ $1 == -t ]]; then
    patience=$2
    shift 2
  fi
  begin "$1"
  finish "$patience"
}

# Waits until a command is true; otherwise the test fails.
until_true() {
  local patience=$1 what=$2
  shift 2
  becomes_true "$patience" "$@" || fail "not within $patience s: $what"
}

# Runs a command repeatedly until it is true.
becomes_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    [[ -z $QEMU_PID || $1 == board_is_dark ]] || ! board_is_dark || fail "QEMU has ended: $(cat "$RUN/qemu")"
    sleep 0.02
  done
}
