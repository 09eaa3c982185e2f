# shellcheck shell=bash disable=SC2034,SC2153
# The shop around the board, for tests/board/run: reader, printer and gateway, simulated on this machine by `pos-sim`.
# They keep running when the board loses its power. The gateway's ledger and the printer's paper decide; the agent's own
# statements do not count.
#
# open_shop                                       starts them
# hand NAME WORDS                                 types a line to `reader` or `printer`
# sell AMOUNT CARD ENTRY [ARGUMENT ...]           a sale on the board with a customer at the reader; returns its exit code
# in_ledger AMOUNT WHAT, printed AMOUNT WORDS     check the results
#
# Each amount is used for one sale only. So it identifies the sale in the ledger, on paper and at the till (its
# reference is sale-AMOUNT).

# The ledger's expected contents by amount, from each step; the last step compares them with the whole ledger.
declare -A BOOKED=()
# The first key counter of the reader. Another reader starts 300 higher, because no reader uses so many keys here.
KEYS=0

open_shop() {
  simulate reader --tcp 127.0.0.1:0 --instant
  simulate printer --listen 127.0.0.1:0
  simulate gateway --listen 127.0.0.1:0 --name gateway.test --ledger "$RUN/ledger.db" --ca-out "$RUN/hand/gateway-ca.pem"
  until_true 20 "the simulators are ready" simulators_are_ready
  READER_PORT=$(sed -n 's/^reader at .*://p' "$RUN/reader")
  PRINTER_PORT=$(sed -n 's/^printer at .*://p' "$RUN/printer")
  configuration >"$RUN/hand/config.toml"
  sed -n 's/^token *//p' "$RUN/gateway" >"$RUN/hand/gateway-token"
}

# Starts a simulator with its output in a file of its name. The input stays open, because the simulator ends when its
# input ends.
simulate() {
  local name=$1 hand
  shift
  rm -f "$RUN/$name.keys"
  mkfifo "$RUN/$name.keys"
  exec {hand}<>"$RUN/$name.keys"
  "$POS_SIM" "$name" "$@" <"$RUN/$name.keys" >"$RUN/$name" 2>&1 &
  # shellcheck disable=SC2004 # the index is a name, not a number
  SIMULATORS[$name]=$!
  # shellcheck disable=SC2004 # the index is a name, not a number
  HANDS[$name]=$hand
}

# Replaces the reader with another one of the same kind whose clock was never set. Its keys have other numbers, because
# the gateway accepts no key twice.
other_reader() {
  kill -KILL "${SIMULATORS[reader]}"
  # Otherwise bash would print that it was killed.
  wait "${SIMULATORS[reader]}" 2>/dev/null || true
  KEYS=$((KEYS + 300))
  simulate reader --tcp "127.0.0.1:$READER_PORT" --instant --counter "$KEYS"
  until_true 20 "the other reader is ready" simulators_are_ready
}

simulators_are_ready() {
  kill -0 "${SIMULATORS[@]}" 2>/dev/null || fail "a simulator has ended: $(tail -n 3 "$RUN"/{reader,printer,gateway})"
  grep -q '^reader at ' "$RUN/reader" && grep -q '^printer at ' "$RUN/printer" && grep -q '^CA  ' "$RUN/gateway"
}

hand() {
  echo "${*:2}" >&"${HANDS[$1]}"
}

configuration() {
  cat <<TOML
[terminal]
id = "12345678"
merchant = ["Corner Shop", "1 Market Street", "Springfield"]
currency = "EUR"

[reader]
protocol = "miura-mpi"
port = "/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_READER-if00-port0"

[gateway]
url = "https://gateway.test:$(sed -n 's,^gateway .*:\([0-9]*\)/*$,\1,p' "$RUN/gateway")"
entity-id = "$(sed -n 's/^entityId *//p' "$RUN/gateway")"
token-credential = "gateway-token"
ca-file = "/etc/pos-agent/gateway-ca.pem"
test-mode = "EXTERNAL"
answer-timeout-ms = 10000

[[printer]]
port = "/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_PRINTER-if00-port0"
columns = 42
TOML
}

# Makes a sale; the customer comes when the reader asks for a card.
sell() {
  begin_sale "$@"
  finish
}

begin_sale() {
  local amount=$1 card=$2 entry=$3 seen
  shift 3
  seen=$(wc -l <"$RUN/reader")
  begin "pos-agent sale $amount --reference sale-$amount $*"
  until_true "$PATIENCE" "the reader asks for a card, for $amount" reader_asks_or_sale_ended "$seen"
  [[ -e $RUN/hand/$JOBS.code ]] || hand reader "$entry $card"
}

# A refused sale asks for no card.
reader_asks_or_sale_ended() {
  reader_asks "$1" || [[ -e $RUN/hand/$JOBS.code ]]
}

# Waits for the reader's question after this many lines.
reader_asks() {
  tail -n "+$(($1 + 1))" "$RUN/reader" | grep -q 'INSERT, TAP OR SWIPE'
}

ledger() {
  tool sqlite3 -cmd '.timeout 5000' "$RUN/ledger.db" "$1"
}

# Prints the gateway's entries for an amount, as "DB reversed, RV approved"; empty without entries.
booked() {
  ledger "SELECT group_concat(kind || ' ' || state, ', ') FROM (SELECT * FROM payment WHERE amount = '$1' ORDER BY n)"
}

# Checks the entries immediately, or with -t SECONDS until then.
in_ledger() {
  local patience=0
  if [[ $1 == -t ]]; then
    patience=$2
    shift 2
  fi
  BOOKED[$1]=$2
  becomes_true "$patience" is_booked "$1" "$2" || fail "the ledger has for $1: \"$(booked "$1")\", but expected is: \"$2\""
}

is_booked() {
  [[ $(booked "$1") == "$2" ]]
}

# Checks that both copies of a receipt with this amount and these words are printed.
printed() {
  until_true "$PATIENCE" "two receipts for $1 show $2" has_receipts "$1" "$2" 2
}

has_receipts() {
  (($(receipts "$1" "$2") == $3))
}

# Counts the receipts on the paper with this amount and these words. Each ends with a line of "- - -".
receipts() {
  awk -v amount="$1" -v words="$2" '
    /^- - / { count += index(text, amount) && index(text, words); text = ""; next }
    { text = text "\n" $0 }
    END { print count + 0 }' "$RUN/printer"
}

# Checks that the whole ledger contains what the steps expect, and that no request of the board was refused.
books_agree() {
  local amount
  for amount in $(ledger "SELECT DISTINCT amount FROM payment"); do
    [[ -n ${BOOKED[$amount]:-} ]] || fail "the ledger has $amount, which no step has sold: $(booked "$amount")"
  done
  for amount in "${!BOOKED[@]}"; do
    is_booked "$amount" "${BOOKED[$amount]}" || fail "at the end the ledger has for $amount: $(booked "$amount"), but expected is: ${BOOKED[$amount]}"
  done
  [[ -z $(ledger "SELECT why FROM refusal") ]] || fail "the gateway refused: $(ledger "SELECT why FROM refusal")"
}
