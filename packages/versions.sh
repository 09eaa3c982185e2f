# shellcheck shell=bash disable=SC2034
# The versions of the tools that make the packages, and the systems that the packages are for. The other scripts here
# read it.

# The oldest C library that a board may have: Debian 11's. Rust's own limit is 2.17.
readonly GLIBC=2.31
readonly CARGO_ZIGBUILD=0.24.0 ZIG=0.15.2 CARGO_DEB=3.8.0
# The programs that a board gets.
readonly PROGRAMS=(pos-agent pos-front)
# A panic ends the program at once, so it needs no tables of the functions' stack frames. On ARMv7 they take 42 kB of
# the agent.
readonly NO_UNWINDING=-Cforce-unwind-tables=no
# Outside this folder, so a fresh copy of the source finds them.
readonly TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/pos-agent/tools-$CARGO_ZIGBUILD-$ZIG-$CARGO_DEB
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

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
