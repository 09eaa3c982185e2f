# shellcheck shell=bash disable=SC2034
# Builds systems from Debian's packages alone, for packages/image and tests/board/image. It needs no root, no loop
# device and no program of the board's architecture.
#
# A caller sets these before its first call:
#   userland, kernel, kernel_package   the architectures of the programs and of the kernel, and Debian's kernel package
#   OUT, ROOT, LOG                     a folder for the results, one for the system's files, and a file for the output
#
# The machine needs apt, dpkg, systemd and e2fsprogs. The functions only read the machine's dpkg, /etc/apt and
# /var/lib/apt. Without root they unpack fakeroot too, because root owns the files in a system.

readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/pos-board
# The host's programs: QEMU 10 and others. They are unpacked there and not installed, because installing Debian 12's own
# QEMU would remove the newer qemu-utils of a machine that has them.
readonly TOOLS=$CACHE/tools
readonly LIBRARIES=$TOOLS/usr/lib/x86_64-linux-gnu:$TOOLS/lib/x86_64-linux-gnu
# The release of Debian.
readonly SUITE=bookworm
# What no terminal reads, and what a small disk has no room for.
readonly UNREAD=(doc man info locale bug lintian)
# Modules that the smallest initramfs loads, because Debian's kernels do not include them.
readonly BOOT_MODULES="virtio_pci virtio_blk ext4"

# Sends a command's output to a log; shows the end of the log when the command fails.
quietly() {
  local what=$1 start=$SECONDS
  shift
  # In a separate subshell, so that `set -e` holds inside it.
  set +e
  (set -e && "$@") >"$LOG" 2>&1
  local failed=$?
  set -e
  ((failed == 0)) || { tail -n 30 "$LOG" >&2; fail "$what: see $LOG"; }
  echo "$what: $((SECONDS - start)) s" >&2
}

# Holds a lock until the script ends: two runs at the same time do not build the same system.
one_at_a_time() {
  mkdir -p "$CACHE" "$OUT"
  exec 9>"$CACHE/lock"
  flock 9
}

# Prints the address of this machine's mirror for a suite: mirror RELEASE DEFAULT.
mirror() {
  local found
  # shellcheck disable=SC2016 # apt's own variables
  found=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v suite="$1" '$2 == suite {print $1; exit}')
  echo "${found:-$2}"
}

# Sets APT: a private apt in a folder, for these architectures and suites: private_apt FOLDER ARCHITECTURES SUITE...
# COMPONENTS are Debian's parts, `main` if it is not set.
private_apt() {
  local folder=$1 architectures=$2 suite address
  shift 2
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  for suite; do
    address=$(mirror "$SUITE" http://deb.debian.org/debian)
    [[ $suite != *-security ]] || address=$(mirror "$suite" http://deb.debian.org/debian-security)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $address $suite ${COMPONENTS:-main}"
  done >"$folder/sources.list"
  APT=(
    -q -o "Dir::State::Lists=$folder/lists" -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::Cache=$folder/cache" -o "APT::Architecture=${architectures%%,*}" -o "APT::Architectures=$architectures"
    -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Acquire::Retries=3
  )
  apt-get "${APT[@]}" update
}

# Unpacks the host's programs, if this file is newer than they are.
host_tools() {
  if [[ ! -e $TOOLS/done || ${BASH_SOURCE[0]} -nt $TOOLS/done ]]; then quietly "the host's tools" tools; fi
}

tools() {
  local package
  private_apt "$CACHE/apt-host" amd64 "$SUITE" "$SUITE-backports"
  rm -rf "$TOOLS"
  mkdir -p "$TOOLS"
  apt-get "${APT[@]}" install -y --reinstall --download-only --no-install-recommends cpio kmod sqlite3 fakeroot mtools \
    dosfstools fdisk openssh-client {qemu-system-arm,qemu-system-common,qemu-system-data,qemu-utils}/"$SUITE-backports"
  for package in "$CACHE"/apt-host/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$TOOLS"
  done
  ln -sf kmod "$TOOLS/bin/modprobe"
  ln -sf kmod "$TOOLS/bin/depmod"
  touch "$TOOLS/done"
}

# Runs one of the host's programs.
tool() {
  local program=$1 place
  shift
  for place in usr/bin usr/sbin bin sbin; do
    [[ ! -x $TOOLS/$place/$program ]] || break
  done
  LD_LIBRARY_PATH=$LIBRARIES "$TOOLS/$place/$program" "$@"
}

# Downloads the packages of a system with those that they need: fetch "SUITE..." PACKAGE...
fetch() {
  local architectures=$userland suites
  read -ra suites <<<"$1"
  shift
  [[ $kernel == "$userland" ]] || architectures=$userland,$kernel
  private_apt "$OUT/apt" "$architectures" "${suites[@]}"
  # No package is installed there yet.
  APT+=(-o Dir::State::status=/dev/null)
  apt-get "${APT[@]}" install -y --download-only --no-install-recommends "$@"
  only_wanted "$@"
}

# Removes the packages of an earlier list and of earlier versions. apt names every file when it has none yet.
only_wanted() {
  local none=$OUT/apt/none file
  local -A wanted=()
  mkdir -p "$none/partial"
  while read -r file; do wanted[$file]=1; done < <(apt-get "${APT[@]}" -o "Dir::Cache::Archives=$none" install -y \
    --print-uris --no-install-recommends "$@" | sed -n "s/^'[^']*' \([^ ]*\.deb\) .*/\1/p")
  ((${#wanted[@]})) || fail "apt lists no package: has its output changed?"
  for file in "$OUT"/apt/cache/archives/*.deb; do
    [[ -n ${wanted[${file##*/}]-} ]] || rm "$file"
  done
}

# Runs functions as root, or as fakeroot's root: as_root "FUNCTION; FUNCTION". The caller's functions and variables are
# known to them.
as_root() {
  if ((EUID == 0)); then
    (eval "$*")
  else
    local all
    # Only the functions and variables of the scripts, which are not read-only here.
    all=$(declare -f; declare -p CACHE TOOLS LIBRARIES SUITE UNREAD BOOT_MODULES OUT ROOT userland kernel "${GIVEN[@]}")
    "$TOOLS/usr/bin/fakeroot-sysv" --lib "$TOOLS/usr/lib/x86_64-linux-gnu/libfakeroot/libfakeroot-sysv.so" \
      --faked "$TOOLS/usr/bin/faked-sysv" bash -euo pipefail -c "$all"$'\n'"$*"
  fi
}

# Unpacks the packages without their scripts, which need a machine of their architecture, and writes dpkg's database.
# `unpack_userland installed` says there that the scripts have run. `unpack_userland unpacked` keeps the scripts and the
# sums of the configuration files, so that `dpkg --configure -a` can do the rest on the board.
unpack_userland() {
  local state=$1 package name folder exclude=()
  mkdir -p "$ROOT"/usr/{bin,sbin,lib} "$ROOT/var/lib/dpkg/"{info,updates,triggers}
  : >"$ROOT/var/lib/dpkg/available"
  for folder in bin sbin lib; do
    ln -s "usr/$folder" "$ROOT/$folder"
  done
  for folder in "${UNREAD[@]}"; do exclude+=("--exclude=./usr/share/$folder/*"); done
  for package in "$OUT"/apt/cache/archives/*.deb; do
    name=$(basename "$package")
    name=${name%%_*}
    [[ $state == unpacked || $name != linux-image-* ]] || continue
    dpkg-deb --field "$package" | sed "/^Package:/a Status: install ok $state" >"$OUT/control"
    ! grep -q '^Multi-Arch: same' "$OUT/control" || name=$name:$userland
    dpkg-deb --fsys-tarfile "$package" | tar -C "$ROOT" --keep-directory-symlink "${exclude[@]}" -xvf - |
      sed 's/^\.//; s,/$,,; s,^$,/.,' >"$ROOT/var/lib/dpkg/info/$name.list"
    [[ $state != unpacked ]] || unpack_scripts "$package" "$name"
    { cat "$OUT/control"; echo; } >>"$ROOT/var/lib/dpkg/status"
  done
}

# Keeps what dpkg needs to configure a package later.
unpack_scripts() {
  local package=$1 name=$2 file
  rm -rf "$OUT/scripts"
  dpkg-deb --control "$package" "$OUT/scripts"
  rm "$OUT/scripts/control"
  if [[ -e $OUT/scripts/conffiles ]]; then
    echo "Conffiles:" >>"$OUT/control"
    while read -r file; do
      # A line may have a flag before the file.
      file=/${file#*/}
      echo " $file $(md5sum <"$ROOT$file" | cut -d ' ' -f 1)" >>"$OUT/control"
    done < <(grep -v '^remove-on-upgrade' "$OUT/scripts/conffiles")
  fi
  for file in "$OUT"/scripts/*; do
    [[ ! -e $file ]] || mv "$file" "$ROOT/var/lib/dpkg/info/$name.${file##*/}"
  done
}

# Prints the files of these modules and of those that they need, in the order in which they are loaded:
# wanted_modules FOLDER VERSION MODULE..., where FOLDER contains `lib/modules`.
wanted_modules() {
  local folder=$1 version=$2 module
  shift 2
  for module; do
    # A module that is built into the kernel has no file.
    "$TOOLS/bin/modprobe" -q -d "$folder" -S "$version" -D "$module" || true
  done | sed -n 's,^insmod .*/\(lib/modules/[^ ]*\).*,\1,p' | awk '!seen[$0]++'
}

# Builds an initramfs in which busybox loads BOOT_MODULES and mounts the root: initramfs FOLDER VERSION BUSYBOX FILE. The
# kernel's command line may set `board_root=ro`, `board_device` and `board_init`, the first program.
initramfs() {
  local modules=$1 version=$2 busybox=$3 result=$4 file folder=$OUT/initramfs
  rm -rf "$folder"
  mkdir -p "$folder"/{bin,dev,root}
  cp "$busybox" "$folder/bin/busybox"
  ln -s busybox "$folder/bin/sh"
  # shellcheck disable=SC2016,SC2086 # variables of that script; a list of modules
  {
    echo '#!/bin/sh'
    echo 'b=/bin/busybox device=${board_device:-/dev/vda}'
    echo '$b mount -t devtmpfs devices /dev'
    for file in $(wanted_modules "$modules" "$version" $BOOT_MODULES); do
      cp "$modules/$file" "$folder/"
      echo "\$b insmod /$(basename "$file")"
    done
    echo 'until [ -b $device ]; do $b sleep 0.1; done'
    echo '$b mount -t ext4 -o ${board_root:-rw},noatime $device /root'
    echo '$b umount /dev'
    echo 'exec $b switch_root /root ${board_init:-/sbin/init}'
  } >"$folder/init"
  chmod +x "$folder/init"
  (cd "$folder" && find . | "$TOOLS/bin/cpio" --quiet -o -H newc >"$result")
  rm -rf "$folder"
}

# Sets MACHINE: QEMU's program and its machine for a kernel's architecture.
machine() {
  case $1 in
    # That kernel has no large addresses, and finds no PCI without highmem=off.
    armhf) MACHINE=(qemu-system-arm -M "virt,highmem=off" -cpu cortex-a15) ;;
    *) MACHINE=(qemu-system-aarch64 -M virt -cpu cortex-a53) ;;
  esac
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
