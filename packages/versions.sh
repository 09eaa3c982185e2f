# shellcheck shell=bash disable=SC2034
# The versions of the tools that make the packages, and the systems that the packages are for. The other scripts here
# read it.

# The oldest C library that a board may have: Debian 11's. Rust's own limit is 2.17.
readonly GLIBC=2.31
readonly CARGO_ZIGBUILD=0.24.0 ZIG=0.15.2 CARGO_DEB=3.8.0
# The tools of a release, from PyPI. The last one changes the form of the bills of materials.
readonly BUILD=1.6.1 HATCHLING=1.33.0 CYCLONEDX=11.12.0 SERIALIZABLE=2.2.0
# The programs that a board gets.
readonly PROGRAMS=(pos-agent pos-front)
# The program of a board that belongs to a fleet, and that of a fleet's server. Each has a package of its own. No server has the
# architecture armhf.
readonly UPLINK=pos-uplink SERVER=pos-fleet
# A panic ends the program at once, so it needs no tables of the functions' stack frames. On ARMv7 they take 42 kB of
# the agent.
readonly NO_UNWINDING=-Cforce-unwind-tables=no
# For C on ARMv7: Thumb-2, as in Debian's own compiler. As ARM code, SQLite alone is half a megabyte larger. (`-d32` and
# `-neon` are removed: every ARMv7 board with a floating-point unit has the rest.)
readonly THUMB=-mcpu=generic+v7a+vfp3-d32+thumb2-neon+thumb_mode
# Outside this folder, so a fresh copy of the source finds them.
readonly TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/pos-agent/tools-$CARGO_ZIGBUILD-$ZIG-$CARGO_DEB
readonly RELEASE_TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/pos-agent/release-$BUILD-$HATCHLING-$CYCLONEDX-$SERIALIZABLE
PATH=$TOOLS/bin:$PATH

# Prints Rust's name for Debian's armhf, arm64 and amd64.
target_of() {
  case $1 in
    armhf) echo armv7-unknown-linux-gnueabihf ;;
    arm64) echo aarch64-unknown-linux-gnu ;;
    amd64) echo x86_64-unknown-linux-gnu ;;
    *) fail "$1 is not known. The architectures are armhf, arm64, amd64" ;;
  esac
}

# Prints all programs for an architecture.
programs_of() {
  printf '%s\n' "${PROGRAMS[@]}" "$UPLINK"
  [[ $1 == armhf ]] || echo "$SERVER"
}

# Prints the time that the packages contain: that of the last commit, or, in a source without its history, that of the
# changelog. An unpacked archive of a commit has the commit's time.
epoch() {
  if [[ -e .git ]]; then git log -1 --format=%ct; else stat -c %Y CHANGELOG.md; fi
}

# Checks the ELF header of a program: is_for PROGRAM ARCHITECTURE. Byte 5 is 1 for 32 bits and 2 for 64, byte 6 is 1 for
# little-endian. Machine 40 is ARM, 183 AArch64, 62 x86-64.
is_for() {
  local wanted found
  case $2 in
    armhf) wanted="7f454c460101 40" ;;
    arm64) wanted="7f454c460201 183" ;;
    amd64) wanted="7f454c460201 62" ;;
    *) fail "$2 is not known. The architectures are armhf, arm64, amd64" ;;
  esac
  [[ -f $1 ]] || fail "$1 does not exist"
  found="$(od -An -tx1 -N6 "$1" | tr -d ' \n') $(od -An -tu1 -j18 -N1 "$1" | tr -d ' ')"
  [[ $found == "$wanted" ]] || fail "$1 is not a program for $2: its ELF header is $found, and must be $wanted"
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
