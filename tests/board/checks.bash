# shellcheck shell=bash disable=SC2034,SC2153
# What the steps of tests/board/run check in common.

readonly AGENT=/usr/bin/pos-agent
# In the guest: the running agent.
# shellcheck disable=SC2016 # it is the guest that asks
readonly RUNNING='/proc/$(systemctl show pos-agent -P MainPID)'

# Checks that a sale is approved: at the till, in the gateway's ledger, and on two receipts.
approves() {
  sell "$@" || fail "the sale of $1 ended with $?: $SAID"
  in_ledger "$1" "DB approved"
  printed "$1" APPROVED
}

# Runs a script in the guest; it must succeed.
must() {
  guest "$1" || fail "\"$1\" ended with $?: $SAID"
}

# Checks the exit code.
ends_with() {
  local wanted=$1 code=0
  shift
  "$@" || code=$?
  ((code == wanted)) || fail "\"$*\" ended with $code, but expected is $wanted: $SAID"
}

# Prints the last output, for a person.
tell() {
  local line
  while IFS= read -r line; do echo "   $line"; done <<<"$SAID"
}

# Checks that the last output contains these words.
says() {
  grep -qF -- "$1" <<<"$SAID" || fail "the output does not contain \"$1\": $SAID"
}

restart() {
  guest "systemctl restart pos-agent" || fail "systemctl restart: $SAID"
}

# Checks that the service runs, its devices are there, and the terminal can take a sale.
is_ready() {
  until_guest "the terminal is ready" "pos-agent status && ! pos-agent status | grep -q ': ready, busy'"
}

# Runs a command in the guest repeatedly until it succeeds.
until_guest() {
  guest -t "$((PATIENCE + 10))" "for _ in \$(seq $((PATIENCE * 5))); do
    if said=\$( { $2; } 2>&1 ); then echo \"\$said\"; exit 0; fi
    sleep 0.2
  done
  echo \"\$said\"
  exit 1" || fail "not in time: $1: $SAID"
}

# Puts the journal's head, as `journal verify` shows it, in SAID.
journal_head() {
  guest "pos-agent journal verify --json" || fail "the journal: $SAID"
  SAID=$(sed -n 's/.*"entry":\([0-9]*\),"head":"\([0-9a-f]*\)".*/\1:\2/p' <<<"$SAID")
  [[ -n $SAID ]] || fail "journal verify --json shows no head"
}

# Makes the root writable, as a technician does on such a board.
is_writable() {
  [[ $BOOTED_WITH == rw ]] || guest "mount -o remount,rw /" || fail "the root stays read-only: $SAID"
}
