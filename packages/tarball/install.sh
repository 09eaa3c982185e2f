#!/bin/sh
# Installs the agent, the front and their files where a system expects them:
#
#   ./install.sh [--prefix DIR] [--systemd | --no-systemd]
#
# DIR is /usr or /usr/local; the default is /usr. With DESTDIR=… in the environment everything goes below that folder,
# for an image, and the running system stays unchanged. By default, systemd's files are installed where systemd is
# found.
#
# The script writes no file below /etc and starts no program: see README.md, "Install". It needs only busybox.
set -eu

prefix=/usr
systemd=
root=${DESTDIR:-}

main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ $# -gt 1 ] || wrong "--prefix needs a folder"; prefix=$2; shift ;;
      --prefix=*) prefix=${1#*=} ;;
      --systemd) systemd=yes ;;
      --no-systemd) systemd=no ;;
      *) wrong "$1 is not known" ;;
    esac
    shift
  done
  case $prefix in
    /usr | /usr/local) ;;
    *) wrong "--prefix $prefix: systemd reads units below /usr and /usr/local only" ;;
  esac
  cd "$(dirname "$0")"
  if [ -z "$systemd" ]; then
    systemd=no
    if [ -d "$root/usr/lib/systemd/system" ] || [ -d "$root/lib/systemd/system" ]; then systemd=yes; fi
  fi
  program
  papers
  if [ "$systemd" = yes ]; then units; fi
  if [ -z "$root" ]; then tell_the_system; fi
}

program() {
  for program in pos-agent pos-front; do put 755 "$program" "$prefix/bin/$program"; done
}

# Installs the documents, the examples and the boards' files. The boards' files are in a separate folder, because a
# technician needs them also on a system without documentation.
papers() {
  for file in board/*/* board/*/pos-agent.service.d/*; do put 644 "$file" "$prefix/share/pos-agent/boards/${file#board/}"; done
  for file in rauc/*; do put 644 "$file" "$prefix/share/doc/pos-agent/examples/$file"; done
  put 644 front.toml "$prefix/share/doc/pos-agent/examples/front.toml"
  for file in README.md CHANGELOG.md UPDATE.md LICENSE-* licences.txt rust-std.html; do
    put 644 "$file" "$prefix/share/doc/pos-agent/$file"
  done
  for file in docs/src/*.md docs/src/pictures/*.png; do put 644 "$file" "$prefix/share/doc/pos-agent/$file"; done
  for file in man/*.[15]; do put 644 "$file" "$prefix/share/man/man${file##*.}/${file#man/}"; done
  for program in pos-agent pos-front; do
    put 644 "completions/$program.bash" "$prefix/share/bash-completion/completions/$program"
    put 644 "completions/_$program" "$prefix/share/zsh/site-functions/_$program"
    put 644 "completions/$program.fish" "$prefix/share/fish/vendor_completions.d/$program.fish"
  done
}

units() {
  for file in systemd/*.*; do put 644 "$file" "$prefix/lib/systemd/system/${file##*/}"; done
  for file in systemd/sysusers.d/*.conf; do put 644 "$file" "$prefix/lib/sysusers.d/${file##*/}"; done
  for file in systemd/tmpfiles.d/*.conf; do put 644 "$file" "$prefix/lib/tmpfiles.d/${file##*/}"; done
  for file in systemd/examples/*; do put 644 "$file" "$prefix/share/doc/pos-agent/examples/${file##*/}"; done
  for file in systemd/udev/*.rules; do put 644 "$file" "$prefix/lib/udev/rules.d/${file##*/}"; done
}

# Does what the Debian package does after its files are installed.
tell_the_system() {
  if [ "$systemd" = yes ]; then
    systemd-sysusers
    if [ -e "$prefix/lib/tmpfiles.d/pos-agent.conf" ]; then systemd-tmpfiles --create pos-agent.conf; fi
    if [ -d /run/systemd/system ]; then
      udevadm control --reload
      udevadm trigger --subsystem-match=tty --subsystem-match=usbmisc
      systemctl daemon-reload
    fi
  else
    echo "without systemd, create the user pos-agent, its folders and the start yourself: see packages/README.md in the source"
  fi
  echo "installed below $prefix; next: /etc/pos-agent/config.toml, see $prefix/share/doc/pos-agent/README.md"
}

# put MODE FILE PLACE: writes to a new name first, because a running program cannot be overwritten. A folder, or a
# pattern that fits no file, is not a file.
put() {
  [ -f "$2" ] || return 0
  mkdir -p "$root${3%/*}"
  case $2 in
    systemd/* | rauc/*) sed "s|/usr/bin/pos-|$prefix/bin/pos-|; s|/usr/share/doc/|$prefix/share/doc/|" "$2" >"$root$3.new" ;;
    *) cp "$2" "$root$3.new" ;;
  esac
  chmod "$1" "$root$3.new"
  mv -f "$root$3.new" "$root$3"
}

wrong() {
  echo "install.sh: $1" >&2
  exit 64
}

main "$@"
