#!/bin/sh
# A whole sale: sale.sh REFERENCE AMOUNT. Exits with 0 if the sale is approved.
set -eu
at=${POS_AGENT:-http://127.0.0.1:8650}
token=$(cat "$POS_AGENT_TOKEN_FILE")
reference=$1 amount=$2

# Sends a request. If the answer is lost, sends the same request again: the reference makes both one sale.
ask() {
  curl --silent --show-error --retry 10 --retry-delay 1 --retry-all-errors --max-time 90 \
    --header "Authorization: Bearer $token" "$@"
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

sale=$(ask --json "{\"reference\":\"$reference\",\"amount\":\"$amount\"}" "$at/v1/sales")
state=$(echo "$sale" | field state)
while [ -n "$state" ] && [ "$state" != ended ]; do
  # This is the text for the cashier. At awaiting-signature, compare the signature and post {"accepted":true} or false
  # to …/signature.
  echo "$sale" | field text
  sleep 1   # a sale that waits for a person is answered at once
  sale=$(ask "$at/v1/sales/$reference?wait-s=60")
  state=$(echo "$sale" | field state)
done
if [ -z "$state" ]; then
  echo "refused: $(echo "$sale" | field detail)"
  exit 2
fi
outcome=$(echo "$sale" | field outcome)
echo "$outcome: $(echo "$sale" | field text)"
[ "$outcome" = approved ] || exit 1
ask --header "Accept: text/plain" "$at/v1/sales/$reference/receipt?width=32"
