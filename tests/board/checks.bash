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

# Sets the terminal up at the page of the first boot, as a browser does. The address is the board's in QEMU's network.
sets_up_at_the_page() {
  until_true "$PATIENCE" "the page of the first boot answers" first_boot_answers
  until_true "$PATIENCE" "the console shows the code" code_on_console
  until_true "$PATIENCE" "the printer prints the code" code_on_paper
  at_the_page POST /first-boot/code '{"code":"00000000"}' && fail "a wrong code is accepted"
  says wrong-code
  at_the_page POST /first-boot/code "{\"code\":\"$CODE\"}" || fail "the code $CODE of the console: $SAID"
  at_the_page POST /first-boot/search '{}' || fail "the search for devices: $SAID"
  says READER
  says PRINTER
  at_the_page POST /first-boot/check "$(answers)" || fail "the check of the answers: $SAID"
  at_the_page POST /first-boot/write "$(answers)" || fail "the writing: $SAID"
  [[ $(tail -n 1 <<<"$SAID") == '"done"' ]] || fail "the writing: $SAID"
}

first_boot_answers() {
  rm -f "$RUN/cookies"
  at_the_page GET /first-boot/state && [[ $SAID == *'"waiting"'* ]]
}

code_on_console() {
  CODE=$(grep -aoE '\b[0-9]{4} ?[0-9]{4}\b' "$RUN/console" | tail -n 1 | tr -d ' ')
  [[ -n $CODE ]]
}

code_on_paper() {
  grep -qE "${CODE:0:4} ?${CODE:4}" "$RUN/printer"
}

# Sends a request to the front, with the cookies of earlier answers: at_the_page METHOD PATH [JSON]. The answer is in SAID.
at_the_page() {
  local origin=https://10.0.2.15:8443 body=()
  [[ $1 == GET ]] || body=(--header "Content-Type: application/json" --header "Origin: $origin" --data "$3")
  SAID=$(curl --silent --show-error --fail-with-body --insecure --max-time 120 --cookie "$RUN/cookies" --cookie-jar "$RUN/cookies" \
    --connect-to "10.0.2.15:8443:127.0.0.1:$FRONT_PORT" --request "$1" "${body[@]}" "$origin$2" 2>&1)
}

# Prints the answers of a shop's owner: those of the configuration in shop.bash. The board has no tzdata, so no zone.
answers() {
  local serial=/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL
  cat <<JSON
{"terminal-id":"12345678","merchant":["Corner Shop","1 Market Street","Springfield"],"country":"none","currency":"EUR",
"max-amount":"none","language":"en","reader":"${serial}_READER-if00-port0",
"printer":{"port":"${serial}_PRINTER-if00-port0","columns":42},
"gateway":{"url":"$(sed -n 's/^url = "\(.*\)"/\1/p' "$RUN/hand/config.toml")",
"entity-id":"$(sed -n 's/^entity-id = "\(.*\)"/\1/p' "$RUN/hand/config.toml")",
"ca":{"value":"$(awk '{printf "%s\\n", $0}' "$RUN/hand/gateway-ca.pem")"},
"token":{"value":"$(cat "$RUN/hand/gateway-token")"},"mode":"external"},
"till":{"kind":"page"},"page":{"without-sign-in":"paired"}}
JSON
}
