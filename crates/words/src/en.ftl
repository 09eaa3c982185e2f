# English. Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = .
date-and-time = { $day } { $month-name } { $year } { $time }
date-alone = { $day } { $month-name } { $year }
months = Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec

## Names of the kinds of transaction

called-capture = CAPTURE
called-credit = CREDIT
called-forget-card = CARD DELETION
called-increment = INCREMENT
called-pre-authorisation = PRE-AUTHORISATION
called-reauthorisation = REAUTHORISATION
called-refund = REFUND
called-reversal = REVERSAL
called-store-card = CARD STORAGE
title-capture = COMPLETION
title-credit = CREDIT
title-forget-card = CARD DELETION
title-increment = PRE-AUTHORISATION INCREMENT
title-pre-authorisation = PRE-AUTHORISATION
title-reauthorisation = REAUTHORISATION
title-refund = REFUND
title-reversal = VOID
title-sale = SALE
title-store-card = CARD STORAGE

## The action that did not happen, after a failure

not-charged = not charged
nothing-reserved = nothing reserved
nothing-more-reserved = nothing more reserved
nothing-reserved-anew = not renewed
nothing-paid-out = nothing paid out
nothing-captured = nothing captured
nothing-refunded = nothing refunded
nothing-reversed = nothing reversed
nothing-stored = no card stored
nothing-forgotten = card not deleted

## States of a transaction, for the cashier

waiting-for-card = Waiting for a card to pay { $amount }
asked-by-fleet = Payment asked by { $till }: { $text }
waiting-for-card-to-store = Waiting for a card to store; nothing is charged
being-sent = Recorded, being sent
reader-ready = The card reader is ready.
idle = Ready for the next sale.
asked-again = The bank is busy. The terminal retries automatically. You can cancel the sale.
authorising = Authorising, please wait
customer-acts = NOT DECIDED: the customer must confirm at { $url }; the terminal keeps asking the bank until it decides
compare-signature = APPROVED { $amount }, SIGNATURE NEEDED: compare it with the card, then accept or refuse it
compare-signature-first = SIGNATURE NEEDED for { $amount }: compare it with the card, then accept or refuse it; the till then confirms the payment
till-confirms = WAITING FOR THE TILL to confirm { $amount }: do not hand anything over until the till confirms
being-taken-back = { $what }UNCONFIRMED, being reversed: the shop may take a new payment immediately under a new reference; the customer may see two bookings until one is reversed. { $why }
reservation-being-taken-back = { $what }UNCONFIRMED, being reversed: the shop may make a new reservation immediately under a new reference; the customer may see two reservations until one is reversed. { $why }
being-finished = { $what }UNCONFIRMED, being completed: do not repeat it; check again later. { $why }
last-try = Latest attempt: { $why }
needs-person = { $what }UNCONFIRMED, must be resolved: wait and call the technician. { $why }
journal-cannot-be-written = UNCONFIRMED: the journal cannot be written; the terminal resolves the transaction as soon as it can write again
asking-whether-sent = UNCONFIRMED: the terminal was restarted before it sent the sale; it is asking whether the gateway has received the sale anyway
alarm = ALARM: { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }APPROVED { $amount }
ended-partially-approved = { $what }PARTIALLY APPROVED: only { $part } of { $amount }
ended-declined = { $what }DECLINED, { $nothing }. { $why }
ended-cancelled = { $what }CANCELLED, { $nothing }. { $why }
ended-not-sent = { $what }NOT SENT, { $nothing }. { $why }
ended-reversed = { $what }REVERSED, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = The customer is choosing a tip
step-present-card = Insert, tap or swipe the card
step-insert-card = Insert the card
step-swipe-card = The chip cannot be read: take the card out and swipe it
step-try-again = Try again with one card
step-type-card = The card number is being typed on the reader
step-choosing-application = The customer is choosing how to pay
step-reading-card = Reading the card, leave it in
step-pin-entry = The customer is entering the PIN
step-pin-digits = PIN { $digits }
step-pin-wrong = Wrong PIN
step-pin-no-tries = Wrong PIN, no tries left
step-pin-one-try = Wrong PIN, 1 try left
step-pin-tries = Wrong PIN, { $tries } tries left
step-pin-done = PIN entered
step-remove-card = Remove the card

## The receipt

terminal = Terminal
merchant-id = Merchant id
date = Date
sale-number = Sale number
reference = Reference
operator = Operator
supervisor = Supervisor
amount = Amount
tip = Tip
total = TOTAL
requested = Requested
approved-part = Approved
brand = Brand
application = Application
aid = AID
card = Card
entry = Entry
auth-code = Auth code
acquirer-code = Acquirer code
clearing-id = Clearing id
payment-id = Payment id
registration-id = Stored card
result-code = Result code
reason-word = Reason
original = ORIGINAL TRANSACTION
approved = APPROVED
card-stored = CARD STORED, NOTHING CHARGED
card-forgotten = CARD DELETED, NOTHING CHARGED
partially-approved = PARTIALLY APPROVED
declined = DECLINED
cancelled = CANCELLED
not-carried-out = NOT CARRIED OUT
reversed = REVERSED
taken-back = { $nothing }: REVERSED
unconfirmed-taken-back = NOT CONFIRMED, BEING REVERSED
two-bookings = TWO BOOKINGS MAY SHOW UNTIL THEN
two-reservations = TWO RESERVATIONS MAY SHOW UNTIL THEN
unconfirmed-finished = NOT CONFIRMED, BEING COMPLETED
entry-manual = MANUAL ENTRY
entry-magstripe = SWIPED
entry-fallback = SWIPED (CHIP FAILED)
entry-chip = CHIP
entry-contactless = CONTACTLESS
entry-contactless-magstripe = CONTACTLESS (MAGSTRIPE)
pin-verified = PIN VERIFIED
pin-verified-online = PIN VERIFIED ONLINE
pin-entered = PIN ENTERED
by-signature = SIGNATURE
pin-verified-and-signature = PIN VERIFIED, SIGNATURE
pin-entered-and-signature = PIN ENTERED, SIGNATURE
verified-on-device = VERIFIED ON CUSTOMER'S DEVICE
on-device = CUSTOMER'S DEVICE
no-verification = NO CARDHOLDER VERIFICATION
agree-to-pay = I agree to pay the above amount according to the terms of my card.
agree-to-reserve = I agree that the above amount is reserved on my card, according to its terms.
agree-to-credit = I agree that the above amount is paid to my card.
signature = Signature:
merchant-copy = MERCHANT COPY
customer-copy = CUSTOMER COPY
keep-receipt = PLEASE KEEP THIS RECEIPT
duplicate = DUPLICATE
training = TRAINING
training-no-payment = NOT A PAYMENT, NO MONEY MOVES

## The slip of a close of day

close-of-day = CLOSE OF DAY
close-number = Close
business-day = Day
period-from = From
beginning = the beginning
period-to = To
receipt-numbers = Receipts
taken = Taken
given = Returned
net = NET
nothing-moved = NO MONEY MOVED
tips-in-sales = Tips, in the sales
of-unknown = Voids, unknown
count-declined = Declined
count-taken-back = Reversed
count-cancelled = Cancelled
count-not-sent = Not sent
by-till = BY TILL
by-operator = BY OPERATOR
open-items = OPEN, NOT IN THE SUMS ABOVE
nothing-open = NOTHING IS OPEN
open-needs-person = TO BE RESOLVED
open-unconfirmed = UNCONFIRMED
open-awaiting-signature = SIGNATURE TO COMPARE
open-awaiting-till = TILL TO CONFIRM
open-under-way = IN PROGRESS
open-unreadable = CANNOT BE READ
open-reserved = RESERVED, NOT CAPTURED
and-more = and { $count } more

## Refusals: a command that is not carried out

refused-amount-differs = reference { $reference } already belongs to a different transaction ({ $kind } { $amount }); use a new reference
refused-busy = the terminal is busy with transaction { $reference } of till { $till }; wait for it or cancel it
refused-busy-elsewhere = the terminal is busy with a transaction of another till; try again when that transaction has ended
refused-not-ready = the request is not possible now: { $why }
refused-nothing-typed = { $why }
refused-no-signature = no signature is awaited: { $state }
refused-signature-accepted = the signature has already been accepted: { $state }
refused-signature-refused = the signature has already been refused: { $state }
refused-no-confirmation = no confirmation is awaited: { $state }
refused-all-taken = the till has already accepted the full amount: { $state }
refused-part-taken = the till has already accepted a part, { $amount }: { $state }
refused-nothing-taken = the till has already refused the payment: { $state }
refused-no-receipt = there is no receipt until the outcome is known: { $state }
refused-not-possible = { $why }
refused-parameter = { $name }: { $why }
refused-amount = { $why }
refused-tip = { $why }
refused-training-off = training mode is off at this terminal; to allow it, set allowed = true in [training]
refused-currency = { $wanted } cannot be charged: this terminal takes only { $terminal }; omit the currency, or see currency in [terminal]
refused-none-yet = till { $till } has no transaction yet
refused-no-such-sale = till { $till } has no transaction with the reference { $reference }
refused-no-close-yet = no day has been closed yet; close the day with pos-agent close
refused-close-not-made = the next close has not been made yet; make it with pos-agent close
refused-no-such-close = there is no close { $number }; to list the closes, use GET /v1/closes or pos-agent close list
refused-line = lines[{ $at }]: { $why }
refused-printer = printing is not possible: { $why }
refused-gateway = the gateway did not answer: { $why }
refused-journal = the journal cannot be used: { $why }

## Refusals: rights

denied-lacks = { $caller } needs { $rights } { $purpose }; extend { $key }
denied-nameless = { $caller } needs { $rights } { $purpose }; set PrivateUsers=no in the agent's unit, so that the system names the user
denied-not-its-till = { $caller } acts for { $tills } but not for till { $till }; omit ?till=
denied-not-its-till-of-peer = { $caller } acts for { $tills } but not for till { $till }; add that till to { $key }
denied-which-till = name the till of this request with ?till=; use one of: { $tills }
denied-operator-required = an operator must be signed in for this request: open a session (POST /v1/sessions) and send it as Pos-Session; in a shell, add --operator NAME
denied-role = { $operator } is signed in as { $role }, but this request needs the role { $needs }
one-role = { $first } or { $other }
denied-stated-operator = operator: cashiers sign in here, so the till cannot state its cashier; to let it do so, set { $key }
denied-stated-operator-of-peer = operator: cashiers sign in here, so the till cannot state its cashier; to let it do so, add the till to { $key }
denied-only-at-the-socket = a token is not sufficient for this request; send it on the terminal's Unix socket, as pos-agent does
one-right = the right { $rights }
several-rights = the rights { $rights }
one-of-rights = one of the rights { $rights }
for-this = for this request
for-other-till = for another till's transactions
for-earlier-of-other-till = to refer to another till's transaction
for-unknown-payment = to refer to a payment that this terminal does not know
for-authentication = to state how a stored card is authenticated
caller-till = till { $till }
caller-user = user { $user }
caller-nameless = a user that the system does not name
key-of-token = { $key } in the [[till.token]] table with till = "{ $till }"
key-of-peer = { $key } in the [[till.peer]] table with uid = { $user }
key-of-fleet = { $key } in the [[fleet.key]] table with till = "{ $till }"
key-of-user = { $key } in a [[till.peer]] table with uid = { $user }, or rights in [till.socket] for all users of the socket
key-of-socket = rights in [till.socket]

## Refusals: operators

operator-wrong-pin = the name or the PIN is wrong
operator-locked = too many wrong PINs; try again in { $seconds } s, or have a supervisor or technician unlock it (pos-agent operator unlock NAME)
operator-pin-under-way = another PIN is being checked; try again
operator-session-ended = no operator is signed in with this session: it has ended or belongs to another till; sign in again (POST /v1/sessions)
operator-supervisor-needed = this command needs a supervisor ({ $command }); have one approve it (POST /v1/approvals) and send the approval as Pos-Supervisor, or have a supervisor sign in
operator-not-approved = no supervisor has approved this command: { $why }
operator-no-supervisor = { $name } is not a supervisor and cannot approve this command
operator-unknown = there is no operator { $name }; run pos-agent operator list to see all operators
operator-exists = operator { $name } already exists; set a new PIN (pos-agent operator pin), or remove the operator first
operator-too-many = there are { $most } operators, the maximum; remove one first
operator-pin-length = the PIN must have { $digits } digits; see pin-digits in [operators]
approval-unknown = the approval has been used, has ended, or is older than two minutes
approval-other-till = the approval was given at a different till
approval-other-operator = the approval was given to a different operator
approval-other-command = the approval is for { $approved }, but this command is { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, reference { $reference }
command-of-transaction = , transaction { $number }
command-of-payment = , payment { $payment }
command-of-card = , stored card { $registration }
command-with-tip = , with a tip
command-typed = , card number typed

## Details of refusals: the terminal

nothing-typed = no amount was typed
reader-in-use = the reader is in use
amount-being-typed = an amount is being typed at the reader
terminal-stopping = the terminal is being stopped
no-random-numbers = the system provides no random numbers ({ $why })
command-not-resolved = the terminal could not find out which transaction and amount the command concerns; send it again
pin-not-digested = the digest of the PIN could not be computed; try again
training-busy = training mode is overloaded; send the request again
training-within = the agent is already in training mode
state-unknown = the transaction's state is unknown until the journal can be written; then send the answer again
no-printer = the terminal has no printer; see [[printer]] in the configuration
training-not-printed = receipts from training mode are shown but never printed
looks-like-card-number = the value looks like a card number, which only the reader may receive; use a different value

## Details of refusals: amounts

above-limit = { $amount } is above the terminal's limit of { $limit }; see max-amount in [terminal]
limit-of-other-currency = the terminal has a limit of { $limit } and takes no other currency; see max-amount in [terminal]
tip-above-amount = the tip of { $tip } is more than the amount of { $amount }; check the input
total-not-possible = amount and tip together: { $why }
nothing-given = no money is paid out without an earlier payment that this terminal knows; to allow such payouts, set max-credit-amount in [terminal]
given-in-other-currency = money is paid out only in { $currency }; see max-credit-amount in [terminal]
above-given-limit = { $amount } is above the limit of { $limit } for money paid out; see max-credit-amount in [terminal]

## Details of refusals: the earlier transaction

not-of-training = only training mode carries out training transactions, and it carries out no others
payment-not-of-training = payment { $payment } was not made in training mode
payment-of-training = payment { $payment } was made in training mode and moved no money; add "training" to the request
transaction-not-of-training = transaction { $number } was not made in training mode
transaction-of-training = transaction { $number } was made in training mode and moved no money
of-another-account = transaction { $number } was begun with a different account at the gateway (a different entity-id in [gateway]); no transaction with the present account can follow it
no-transaction-number = this terminal has no transaction { $number }
is-reversal = payment { $payment } is the automatic reversal of transaction { $number }; nothing can follow a reversal
amount-needed = an amount is needed, because this terminal does not know the payment
needs-more = the kind { $kind } needs more fields
no-id = { $name } must be 32 letters and digits
rest-references-used = both references for the refund of the rest are already used; accept the full amount, and refund the rest separately
no-decision-awaited = transaction { $number } is not waiting for a person's decision; run pos-agent status to see the transactions that are
transaction-ended = transaction { $number } has ended
older-than-copy = transaction { $number } was made before this journal was found to be an outdated copy: its refunds and captures may be missing here; use the gateway's back office for this request
not-compared-yet = the gateway has not yet said whether this journal is an outdated copy, which may lack refunds; try again in a moment
list-incomplete = the gateway's list by date is not complete, so this journal may be an outdated copy; only a payment that can be looked up can have a follow-up
cannot-be-looked-up = this journal may be an outdated copy, and transaction { $number } cannot be looked up ({ $why }); try again later
not-listed-by-gateway = the gateway does not list the payment
linked-unknown = transactions linked to transaction { $number } at the gateway but missing from this journal: { $count }; use the gateway's back office for this request

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = the reader is being opened; wait a moment
attention-reader-absent = { $why }
attention-reader-other-device = { $why }
attention-reader-not-listed = { $why }
attention-reader-no-keys = { $why }
attention-reader-clear-data = { $why }
attention-reader-not-encrypting = { $why }
attention-reader-flooding = { $why }
attention-reader-restarting = { $why }
attention-reader-card-left = the card from the last payment is still in the reader: take it out
attention-reader-keys-low = the reader has keys for { $count } more payments: have new keys injected

## Attention: the gateway

attention-gateway-unreachable = { $why }
attention-gateway-no-answer = { $why }
attention-gateway-out-of-order = { $why }
attention-gateway-throttles = the gateway is receiving too many requests; wait a moment
attention-gateway-refuses-request = the gateway refused the last transaction as an invalid request{ $detail }; a different card does not help; check entity-id in [gateway] and the till's fields
attention-gateway-refuses-token = { $why }
attention-gateway-untrusted-certificate = { $why }
attention-gateway-certificate-expired = { $why }
attention-gateway-own-certificate-refused = { $why }
attention-gateway-own-certificate-expired = { $why }
attention-gateway-not-usable = { $why }
attention-gateway-certificate-ends = { $why }
attention-ca-certificate-ends = { $why }
attention-own-certificate-ends = { $why }
attention-token-ends = { $why }
attention-gateway-files-unused = { $why }

## Attention: printers

attention-printer-no-paper = the printer{ $name } is { $why }
attention-printer-paper-low = the printer{ $name } is { $why }
attention-printer-cover-open = the printer{ $name } is { $why }
attention-printer-paper-jam = the printer{ $name } is { $why }
attention-printer-error = the printer{ $name } is { $why }
attention-printer-pausing = the printer{ $name } is { $why }
attention-printer-offline = the printer{ $name } is { $why }
attention-printer-absent = the printer{ $name } is { $why }
attention-printer-interrupted = the printer{ $name } is { $why }
attention-printer-silent = the printer{ $name } is { $why }

## Attention: clocks and journal

attention-clock-untrusted = neither the board's clock nor the reader's can be right; set the board's clock (timedatectl) and wait a moment
attention-clock-behind-journal = neither the board's clock nor the reader's can be right: the board's says { $board }, but the journal's latest record is from { $latest }; set the board's clock (timedatectl) and wait a moment, or, if that clock is right, see pos-agent journal set-clock-back --help
attention-clocks-differ = the gateway's clock and the board's are { $seconds } s apart; set the board's clock (timedatectl); if that clock is right, tell the gateway's operator
attention-reader-clock-differs = the gateway's clock and the reader's, which is in use here, are { $seconds } s apart; set the board's clock (timedatectl); if the reader's clock is right, tell the gateway's operator
attention-journal-full = { $why }
attention-journal-nearly-full = the journal's disk has { $free } MiB left; free space on it (df -h, journalctl --vacuum-size=50M), and never delete the journal
attention-journal-cannot-be-written = { $why }
attention-journal-old-copy = this journal is an outdated copy: { $why }; resolve each earlier open transaction with pos-agent settle NUMBER --keep or --reverse
attention-journal-was-old-copy = this journal was found to be an outdated copy: it may lack refunds, reversals and captures of transactions up to number { $number }; use the gateway's back office for these transactions
attention-journal-not-compared = the gateway has not said whether this journal is an outdated copy ({ $why }); until then, refunds, captures and credits are refused and earlier reversals wait; if the gateway cannot be asked by date, set query-by-date = false in [gateway.assumptions]
attention-journal-list-incomplete = the gateway has not said whether this journal is an outdated copy ({ $why }); until then, credits are refused, earlier reversals wait, and each follow-up of an earlier payment waits for its look-up; if the gateway cannot be asked by date, set query-by-date = false in [gateway.assumptions]
attention-journal-began-anew = this journal is new, but the gateway holds { $count } payments of this terminal from the last few days: adopt the journal of the previous board (pos-agent journal adopt FILE)
copy-lacks-references = the gateway holds { $count } references of this terminal that the journal does not know (the log shows the last one)
journal-is-old-copy = this journal is an outdated copy: { $why }
gateway-time-unknown = the gateway's time is not known: { $why }; see probe-path in [gateway.assumptions]
sold-on-another-journal = this terminal has sold with a different journal ({ $why }): nothing is charged until a person decides. Stop the agent; then put the right journal back, or adopt it (pos-agent journal adopt FILE); if it is lost, accept this one (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = all transactions were copied into the journal, and nothing is lost: restart the agent
rescued-into-file = the open and the latest transactions are in { $file }: if the journal was moved, put it back. If it is lost, stop the agent, move away the file in its place, adopt { $file } (pos-agent journal adopt { $file }) and start the agent
rescued-nothing = the journal had no transaction: restart the agent

## Attention: transactions and tills

attention-sale-unconfirmed = transaction { $reference } of till { $till }: { $state }
attention-sale-left-alone = transaction { $reference } of till { $till } is open: { $why }
attention-signature-awaited = transaction { $reference } of till { $till } is waiting: compare the signature
attention-confirmation-awaited = transaction { $reference } of till { $till } is waiting for the till to confirm the payment
attention-till-port-closed = { $why }
attention-fleet-message = message from { $author }: { $text }
attention-fleet-settings-trial = settings of the fleet, version { $version }, are being tried; the terminal goes back by itself unless they are confirmed within ten minutes
attention-fleet-settings-returned = the terminal went back from the fleet's settings, version { $version }: { $why }
attention-fleet-settings-drift = edited at the terminal, so the fleet's values are not used: { $settings }; run: pos-agent check
attention-fleet-settings-unusable = the fleet's settings are not used: { $why }; to remove them, stop the agent and delete the folder fleet beside the journal
attention-fleet-keys-unusable = the fleet's command keys cannot be used, so no command is taken: { $why }; to use those of the configuration, stop the agent and delete the folder fleet beside the journal
left-as-training = it was made in training mode and moved no money: nothing is sent to the gateway
left-to-another-account = it was begun with a different account at the gateway (a different entity-id in [gateway])
left-to-another-terminal = terminal { $theirs } made it, and terminal { $ours } cannot resolve it; if this terminal is { $theirs }, correct id in [terminal]

## The devices in the status

reader-is = { $model } { $firmware }, serial { $serial }
gateway-not-asked-yet = not asked yet
gateway-connected = connected
gateway-answers = answers
printer-is-ready = ok
printer-not-used-yet = not used yet
printer-one-waits = { $why }; 1 receipt waits
printer-some-wait = { $why }; { $count } receipts wait
clock-of-board = the board's
clock-of-reader = the reader's, because the board's cannot be right
journal-written = written

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = The bank declined{ $detail }; try another card or another way to pay.
    .customer = DECLINED BY THE BANK{ $detail }
    .technician = The issuer, or the gateway for it, declined{ $detail }; nothing is wrong with the terminal.
insert-and-pin =
    .cashier = The bank requires the PIN{ $detail }; start again and ask the customer to insert the card.
    .customer = PLEASE INSERT THE CARD
    .technician = The issuer does not accept a tap for this payment (insert-and-pin){ $detail }; nothing is wrong with the terminal.
do-not-try-again =
    .cashier = The bank declined for good{ $detail }; do not try this card again.
    .customer = DECLINED BY THE BANK{ $detail }
    .technician = The issuer will not approve this card again (do-not-try-again){ $detail }; nothing is wrong with the terminal.
card-declined =
    .cashier = The card itself declined; ask for another card.
    .customer = DECLINED BY THE CARD
    .technician = The chip declined (AAC) before anything was sent{ $detail }; nothing is wrong with the terminal.
customer-cancelled =
    .cashier = The customer cancelled or took the card away; start again if this was a mistake.
    .customer = CANCELLED BY THE CUSTOMER
    .technician = The cancel key of the reader was pressed, or the card was taken away{ $detail }; no action is needed.
till-cancelled =
    .cashier = The transaction was cancelled at the till; start again if this was a mistake.
    .customer = CANCELLED BY THE SHOP
    .technician = The till or its operator cancelled{ $detail }; no action is needed.
terminal-stopped =
    .cashier = The terminal was shutting down; start again when it is ready.
    .customer = TERMINAL SWITCHED OFF
    .technician = The agent was shutting down{ $detail }; run journalctl --unit pos-agent to see who stopped the agent.
card-timeout =
    .cashier = No card was presented in time; start again.
    .customer = NO CARD PRESENTED
    .technician = No card was presented within the card-timeout-s set in [terminal]{ $detail }; raise the value if customers need longer.
tip-timeout =
    .cashier = The customer did not choose a tip in time; start again.
    .customer = NO TIP CHOSEN IN TIME
    .technician = The cardholder neither chose nor refused a tip within the card-timeout-s set in [terminal]{ $detail }; raise the value if customers need longer.
card-unreadable =
    .cashier = The card cannot be read; ask for another card.
    .customer = CARD CANNOT BE READ
    .technician = The card could not be read in any way that it allows{ $detail }; if this happens with many cards, clean the reader.
card-gone =
    .cashier = The card was taken out before the payment could be sent; start again and leave the card in.
    .customer = CARD TAKEN OUT TOO EARLY
    .technician = The gateway was busy, and the card was removed before the agent could send the request{ $detail }; if this happens often, ask the gateway's operator for a higher limit.
card-left-in =
    .cashier = The last card was not taken out of the reader; take it out, then start again.
    .customer = TAKE YOUR LAST CARD OUT
    .technician = The card slot of the reader was not empty within 30 s{ $detail }; if no card is in it, clean the reader.
tip-not-possible =
    .cashier = The total of amount and tip cannot be charged{ $detail }; start again with a smaller tip.
    .customer = TIP NOT POSSIBLE
    .technician = The total of amount and tip cannot be charged{ $detail }; see max-amount in [terminal] and sale in [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = The card reader is not responding; check its cable and power, then start again.
    .customer = CARD READER FAULT
    .technician = The reader was disconnected or is not responding correctly{ $detail }; check its cable and power, then run pos-agent doctor.
reader-not-ready =
    .cashier = The card reader is not ready; check its cable and power, then start again.
    .customer = CARD READER NOT READY
    .technician = The reader is not ready{ $detail }; check its cable and power, then run pos-agent doctor.
reader-absent =
    .cashier = The card reader cannot be found; check its cable and power, then start again.
    .customer = CARD READER FAULT
    .technician = The reader's port cannot be opened{ $detail }; check its cable and power, and port in [reader].
reader-other-device =
    .cashier = Another device is connected instead of the card reader; connect the card reader, or call the technician.
    .customer = CARD READER FAULT
    .technician = The device at the port is not a reader of the configured kind{ $detail }; check port and protocol in [reader].
reader-not-listed =
    .cashier = This card reader does not belong to this terminal; connect the right one, or call the technician.
    .customer = CARD READER FAULT
    .technician = The reader's serial number is not listed under serials in [reader]{ $detail }; connect the right reader, or add the number if this reader belongs here.
reader-restarting =
    .cashier = The card reader is restarting; wait a moment, then start again.
    .customer = CARD READER NOT READY
    .technician = The reader is restarting after a fault{ $detail }; if this happens often, have the reader checked.
reader-flooding =
    .cashier = The card reader is not working correctly; switch it off and on, or call the technician.
    .customer = CARD READER FAULT
    .technician = The reader does not stop sending data{ $detail }; check its cable and power, and have the reader replaced if this continues.
reader-no-keys =
    .cashier = The card reader cannot read any more cards; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader has no encryption key left{ $detail }; have new keys injected.
reader-clear-data =
    .cashier = The card reader does not protect card data correctly, so the terminal does not use it; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader sends card data in clear text{ $detail }; nothing was sent or stored; have the reader replaced.
reader-not-encrypting =
    .cashier = The card reader does not protect card data correctly, so the terminal does not use it; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader stopped encrypting or used a key twice{ $detail }; nothing was sent or stored; have the reader replaced if this happens again.
reader-amount-differs =
    .cashier = The card reader used a different amount, so nothing was sent; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader signed an amount or currency that differs from the request (9F02, 5F2A){ $detail }; have the reader checked.
reader-pin-missing =
    .cashier = The card reader did not deliver the PIN; start again, and call the technician if this happens again.
    .customer = CARD READER FAULT
    .technician = The reader reported a PIN but sent no PIN block{ $detail }; have its PIN key checked.
typing-not-possible =
    .cashier = Card numbers cannot be typed at this terminal; ask for the card.
    .customer = TYPING NOT POSSIBLE
    .technician = Typed card numbers are switched off for this reader, or it does not support them{ $detail }; see manual-entry in [reader].
terminal-restarted =
    .cashier = The terminal was restarted before anything was sent; start again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before it sent anything{ $detail }; see its log from before the restart.
clock-untrusted =
    .cashier = The terminal does not know the time and cannot take payments; call the technician.
    .customer = TERMINAL NOT READY
    .technician = Neither the terminal's clock nor the reader's clock can be right{ $detail }; set the terminal's clock, and check network time or the clock's battery.
request-not-possible =
    .cashier = The terminal cannot send this request; call the technician.
    .customer = NOT POSSIBLE
    .technician = The request has a value that the gateway does not accept{ $detail }; correct it at the till or in the configuration.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = There is no connection to the bank; check the network, then start again.
    .customer = NO CONNECTION
    .technician = There is no connection to the gateway{ $detail }; check the network, the name server, the firewall and url in [gateway], then run pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = The connection to the bank is not secure, so nothing was sent; call the technician.
    .customer = NO SECURE CONNECTION
    .technician = The gateway's certificate is not trusted{ $detail }; check the clock, and ca-file and ca-pins in [gateway].
gateway-certificate-expired =
    .cashier = The connection to the bank is not secure, so nothing was sent; call the technician.
    .customer = NO SECURE CONNECTION
    .technician = The gateway's certificate has expired{ $detail }; check the terminal's clock, then tell the gateway's operator.
gateway-own-certificate-refused =
    .cashier = The bank does not accept this terminal; call the technician.
    .customer = NO CONNECTION
    .technician = The gateway does not accept the terminal's certificate, or requires one{ $detail }; check client-certificate-file in [gateway].
gateway-own-certificate-expired =
    .cashier = The bank no longer accepts this terminal; call the technician.
    .customer = NO CONNECTION
    .technician = The gateway refuses the terminal's certificate, which has expired{ $detail }; replace client-certificate-file in [gateway] and its key.
gateway-not-usable =
    .cashier = The connection to the bank does not work, so nothing was sent; call the technician.
    .customer = NO CONNECTION
    .technician = The server is not a usable gateway{ $detail }; check url and the files in [gateway], then run pos-agent doctor.
gateway-refuses-token =
    .cashier = The bank does not accept this terminal; call the technician.
    .customer = TERMINAL NOT ACCEPTED
    .technician = The gateway refuses the access token{ $detail }; get a new token, and store it in the file or credential that [gateway] names.
gateway-wrong-address =
    .cashier = The terminal cannot find the bank at the configured address; call the technician.
    .customer = SERVICE NOT AVAILABLE
    .technician = The gateway has nothing at the requested address{ $detail }; check url in [gateway] and the paths in [gateway.assumptions].
gateway-throttles =
    .cashier = The bank is busy; wait a moment, then start again.
    .customer = SERVICE BUSY
    .technician = The gateway received too many requests and did not process this one{ $detail }; if this happens often, ask its operator for a higher limit.
never-received =
    .cashier = The bank never received this request; start again.
    .customer = NOT RECEIVED BY THE BANK
    .technician = The gateway does not know the request, and the time in which it could still arrive has passed{ $detail }; check the network.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = The bank did not answer; check the network if this happens again.
    .customer = NO ANSWER FROM THE BANK
    .technician = The request was sent, but no answer came{ $detail }; check the network.
gateway-out-of-order =
    .cashier = The bank had a fault; tell the technician if this happens again.
    .customer = SERVICE FAULT
    .technician = The gateway failed{ $detail }; ask its operator.
answer-unclear =
    .cashier = The bank's answer is unclear; tell the technician if this happens again.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's answer cannot be read or contradicts itself{ $detail }; ask its operator.
code-unknown =
    .cashier = The terminal does not know the meaning of the bank's answer; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's result code is not on any list{ $detail }; ask its operator for the meaning, and add the code to [gateway.assumptions].
decline-in-doubt =
    .cashier = The bank declined in an unusual way; tell the technician if this happens again.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway declined, but not with HTTP 400{ $detail }, so the agent looked up the transaction; if this gateway usually declines in this way, see believe-declines-at-200 in [gateway.assumptions].
another-payment-answered =
    .cashier = The bank's answer is about a different payment; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's answer is about a different payment, reference or kind of transaction{ $detail }; ask its operator.
not-decided-in-time =
    .cashier = The bank took too long to decide; tell the technician if this happens again.
    .customer = BANK TOOK TOO LONG
    .technician = The gateway did not decide in time{ $detail }; ask its operator, or raise answer-timeout-ms in [gateway].
another-amount-approved =
    .cashier = The bank approved a different amount{ $detail }; tell the technician.
    .customer = WRONG AMOUNT APPROVED{ $detail }
    .technician = The gateway approved an amount or currency that differs from the request{ $detail }; ask its operator.
amount-unreadable =
    .cashier = The bank approved an amount that cannot be read; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway approved an amount that cannot be read{ $detail }; ask its operator.
chip-contradicted =
    .cashier = The bank gave the terminal and the card different answers; tell the technician if this happens again.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's result and its answer to the chip (8A) contradict each other{ $detail }; ask its operator.
partial-not-taken =
    .cashier = The bank approved only a part{ $detail }, which this till does not accept; try another card or another way to pay.
    .customer = ONLY A PART APPROVED{ $detail }
    .technician = Only a part was approved{ $detail }, and the till's request accepts no part; no action is needed.
card-refused =
    .cashier = The card refused the payment after the bank had approved it; ask for another card.
    .customer = REFUSED BY THE CARD
    .technician = The chip refused the payment (AAC) after the issuer had approved it{ $detail }; if this happens with many cards, ask the gateway's operator.
card-lost =
    .cashier = The card was taken out too early; next time, leave it in until the reader says that it can be removed.
    .customer = CARD TAKEN OUT TOO EARLY
    .technician = The card was removed or the reader was lost before the chip confirmed the approval{ $detail }; if this happens often, check the reader's cable.
restarted-before-answer =
    .cashier = The terminal was restarted before it recorded the bank's answer; tell the technician if this happens again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before it recorded the gateway's answer{ $detail }; see its log from before the restart.
restarted-before-card =
    .cashier = The terminal was restarted before the card confirmed the payment; tell the technician if this happens again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before the chip confirmed the approval{ $detail }; see its log from before the restart.
signature-refused =
    .cashier = The signature was refused at the counter; ask for another card.
    .customer = SIGNATURE NOT ACCEPTED
    .technician = The signature was refused at the counter{ $detail }; no action is needed.
signature-not-checked =
    .cashier = The signature was not compared in time; next time, accept or refuse it immediately.
    .customer = SIGNATURE NOT CHECKED
    .technician = The signature was not compared within the signature-timeout-s set in [terminal]{ $detail }; raise the value if the comparison takes longer.
not-taken =
    .cashier = The till did not accept the payment; start a new payment if one is still wanted.
    .customer = NOT ACCEPTED BY THE SHOP
    .technician = The till did not accept the approved payment{ $detail }; see the till's log.
till-silent =
    .cashier = The till did not confirm the payment in time; check the till, then start a new payment.
    .customer = NOT CONFIRMED BY THE SHOP
    .technician = The till did not say within the till-confirm-s set in [terminal] whether it accepts the payment{ $detail }; check the till and its connection, or raise the value.
taken-back-by-person =
    .cashier = The payment was reversed by hand, because the terminal's journal was an outdated copy.
    .customer = REVERSED BY THE SHOP
    .technician = The payment was reversed with pos-agent settle --reverse{ $detail }; the journal was an outdated copy.
not-sent-in-copy =
    .cashier = The terminal's journal is an outdated copy, made before this transaction was sent; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = The outdated journal copy was made before this transaction was sent{ $detail }; start from a copy only when there is no other way.
open-in-copy =
    .cashier = The terminal's journal is an outdated copy, made before this transaction was confirmed; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = The outdated journal copy was made before this transaction was confirmed{ $detail }; look it up at the gateway, because the terminal does not send it again.
signature-in-copy =
    .cashier = The terminal's journal is an outdated copy, made before the signature was compared; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = The outdated journal copy was made while the signature was being compared{ $detail }; start from a copy only when there is no other way.
till-in-copy =
    .cashier = The terminal's journal is an outdated copy, made before the till confirmed this transaction; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = The outdated journal copy was made while the till was being asked to confirm{ $detail }; start from a copy only when there is no other way.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = The bank cannot be asked for the outcome; check the network. The terminal asks again automatically.
    .customer = NO CONNECTION
    .technician = The gateway cannot be asked for the outcome{ $detail }; check the network, then run pos-agent doctor.
till-not-heard =
    .cashier = The till has not confirmed the payment yet; wait for the till.
    .customer = SHOP HAS NOT CONFIRMED YET
    .technician = The till has not yet said whether it accepts the payment{ $detail }; the limit is till-confirm-s in [terminal].
not-decided-yet =
    .cashier = The bank has not decided yet; the terminal asks again automatically.
    .customer = BANK HAS NOT DECIDED YET
    .technician = The gateway has not decided yet{ $detail }; the agent asks again.
not-listed-yet =
    .cashier = The bank does not know the transaction yet; the terminal asks again automatically.
    .customer = NOT KNOWN TO THE BANK YET
    .technician = The gateway does not know the transaction yet{ $detail }; the agent keeps asking until absence-final-after-h in [gateway.assumptions] has passed.
reversal-not-listed =
    .cashier = The bank does not show the reversal yet; the terminal asks again automatically.
    .customer = BEING REVERSED
    .technician = The gateway does not know the reversal yet{ $detail }; the agent asks again, and resends the reversal after the resend-after-s set in [gateway].
reversal-on-its-way =
    .cashier = The transaction is being reversed; the terminal asks the bank again automatically.
    .customer = BEING REVERSED
    .technician = An earlier reversal may still be carried out{ $detail }; the agent looks it up.
reversal-not-answered =
    .cashier = The transaction could not be reversed yet; the terminal retries automatically.
    .customer = BEING REVERSED
    .technician = A reversal could not be sent, or was not answered{ $detail }; the agent looks it up and retries.
reversal-held-back =
    .cashier = The transaction may already have been reversed or refunded; the terminal is checking this first.
    .customer = BEING REVERSED
    .technician = The reversal waits until it is known whether the payment was reversed or refunded in another way{ $detail }; the agent looks it up.
earlier-try-open =
    .cashier = An earlier request may still be carried out; the terminal asks the bank again automatically.
    .customer = BEING CHECKED
    .technician = One request was declined, but an earlier one may still be carried out{ $detail }; the agent looks it up.
stray-answer =
    .cashier = An answer arrived that belongs to a different request; the terminal asks the bank again automatically.
    .customer = BEING CHECKED
    .technician = An answer arrived that belongs to a different request{ $detail }; if this happens again, ask the gateway's operator.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = The bank refused the reversal; ask the technician to resolve the transaction with the bank.
    .customer = BEING CHECKED
    .technician = The gateway refused the reversal{ $detail }; have its operator reverse the payment.
another-amount-done =
    .cashier = The bank processed a different amount; ask the technician to resolve the transaction with the bank.
    .customer = BEING CHECKED
    .technician = The gateway reversed or processed an amount that differs from the request{ $detail }; resolve the rest with its operator.
reversed-in-part =
    .cashier = Only a part was reversed{ $detail }; ask the technician to resolve the transaction with the bank.
    .customer = ONLY A PART REVERSED{ $detail }
    .technician = The gateway reversed only part of the requested amount{ $detail }; resolve the rest with the gateway's operator.
another-kind-listed =
    .cashier = The bank has a different kind of transaction under this reference; ask the technician to resolve the transaction with the bank.
    .customer = BEING CHECKED
    .technician = The gateway lists the transaction as a different kind{ $detail }; ask its operator which kind is right.
list-contradicts =
    .cashier = The bank's answers contradict each other; ask the technician to resolve the transaction with the bank.
    .customer = BEING CHECKED
    .technician = The gateway's lists and answers contradict each other{ $detail }; ask its operator which is right.
not-listed-any-more =
    .cashier = The bank approved the transaction but no longer knows it; ask the technician to resolve it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway approved the transaction but no longer lists it{ $detail }; ask its operator for the outcome.
whose-is-not-said =
    .cashier = The bank does not say which payment this transaction belongs to; ask the technician to resolve it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway does not say which reference or payment this transaction belongs to{ $detail }; ask its operator.
rest-not-given-back =
    .cashier = The part that the till did not accept was not refunded{ $detail }; refund it under a new reference.
    .customer = REFUND NOT MADE
    .technician = The refund of the part that the till did not accept was declined or was not possible{ $detail }; refund the rest with pos-agent refund.
rest-given-back-in-part =
    .cashier = The till accepted only a part, and the rest was refunded only in part{ $detail }; refund the missing amount under a new reference.
    .customer = ONLY A PART REFUNDED{ $detail }
    .technician = The part that the till did not accept was refunded only in part{ $detail }; refund the missing amount with pos-agent refund.
done-twice =
    .cashier = The bank carried out the transaction twice; ask the technician to resolve it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway carried out the transaction twice{ $detail }; have its operator reverse one of the two.
second-payment =
    .cashier = The bank has a second payment for this transaction; ask the technician to resolve it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway has a second payment in addition to the one that is kept{ $detail }; reverse the second payment by its payment id.
old-copy =
    .cashier = The terminal's journal is an outdated copy without the outcome; ask the technician to resolve the transaction with the bank.
    .customer = BEING CHECKED
    .technician = The journal is an outdated copy without the outcome{ $detail }. Check at the gateway or on the receipts whether the transaction was paid, then run pos-agent settle NUMBER --keep or --reverse.
given-back-by-id =
    .cashier = The payment may already have been reversed or refunded; ask the technician to resolve it with the bank.
    .customer = BEING CHECKED
    .technician = The payment may already have been reversed or refunded by its payment id{ $detail }; look for the reversal or refund at the gateway, then resolve the rest.
not-settled-here =
    .cashier = The transaction was started with different settings of this terminal and is waiting for them; call the technician.
    .customer = BEING CHECKED
    .technician = This terminal cannot resolve the transaction with its present settings{ $detail }; the agent sends nothing until the earlier settings are restored, and then continues automatically.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = No reason is recorded; ask the technician.
    .customer = PLEASE ASK AT THE COUNTER
    .technician = An earlier version recorded no reason; see its log.
