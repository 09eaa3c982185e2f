# English. The same messages stand in each language's file, in the same order; see mod.rs for who reads what.
# A message is text and { $arguments }. { $detail } is what was said from outside, with a colon before it, or nothing.
# For the cashier: one sentence, what happened and what to do now. For the customer: capitals, no full stop, no technical word,
# no word of more than 21 letters (a row of the reader's display). For the technician: cause and remedy.

decimal-separator = .
date-and-time = { $day } { $month-name } { $year } { $time }
months = Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec

## What a transaction is called

called-capture = CAPTURE
called-credit = CREDIT
called-increment = INCREMENT
called-pre-authorisation = PRE-AUTHORISATION
called-reauthorisation = REAUTHORISATION
called-refund = REFUND
called-reversal = REVERSAL
title-capture = COMPLETION
title-credit = CREDIT
title-increment = PRE-AUTHORISATION INCREMENT
title-pre-authorisation = PRE-AUTHORISATION
title-reauthorisation = REAUTHORISATION
title-refund = REFUND
title-reversal = VOID
title-sale = SALE

## What has not happened, when it failed

not-charged = not charged
nothing-reserved = nothing reserved
nothing-more-reserved = nothing more reserved
nothing-reserved-anew = nothing reserved anew
nothing-paid-out = nothing paid out
nothing-captured = nothing captured
nothing-refunded = nothing refunded
nothing-reversed = nothing reversed

## How a transaction stands, for the cashier

waiting-for-card = Waiting for a card to pay { $amount }
being-sent = Recorded, being sent
authorising = Authorising, please wait
compare-signature = APPROVED { $amount }, SIGNATURE NEEDED: compare it with the card, then accept or refuse it
being-taken-back = { $what }UNCONFIRMED, being taken back: the shop may take a new payment under a new reference at once; the customer may see two bookings until one is taken back. { $why }
reservation-being-taken-back = { $what }UNCONFIRMED, being taken back: the shop may make a new reservation under a new reference at once; the customer may see two reservations until one is taken back. { $why }
being-finished = { $what }UNCONFIRMED, being finished: do not repeat it, ask again. { $why }
last-try = Last try: { $why }
needs-person = { $what }UNCONFIRMED, needs a person: wait and call the technician. { $why }
journal-cannot-be-written = UNCONFIRMED: the journal cannot be written; it is settled as soon as it can be
asking-whether-sent = UNCONFIRMED: the terminal was restarted before the sale was sent; the gateway is being asked whether it holds it
alarm = ALARM: { $why }

## How a transaction ended, for the cashier

ended-approved = { $what }APPROVED { $amount }
ended-partially-approved = { $what }PARTIALLY APPROVED: only { $part } of { $amount }
ended-declined = { $what }DECLINED, { $nothing }. { $why }
ended-cancelled = { $what }CANCELLED, { $nothing }. { $why }
ended-not-sent = { $what }NOT SENT, { $nothing }. { $why }
ended-reversed = { $what }REVERSED, { $nothing }: taken back. { $why }

## The steps at the reader, for the cashier

step-present-card = Insert, tap or swipe the card
step-insert-card = Insert the card
step-swipe-card = The chip cannot be read: take the card out and swipe it
step-try-again = Try again with one card
step-type-card = The card number is typed on the reader
step-choosing-application = The customer chooses how to pay
step-reading-card = Reading the card, leave it in
step-pin-entry = The customer enters the PIN
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
result-code = Result code
reason-word = Reason
original = ORIGINAL TRANSACTION
approved = APPROVED
partially-approved = PARTIALLY APPROVED
declined = DECLINED
cancelled = CANCELLED
not-carried-out = NOT CARRIED OUT
reversed = REVERSED
taken-back = { $nothing }: TAKEN BACK
unconfirmed-taken-back = NOT CONFIRMED, BEING TAKEN BACK
two-bookings = TWO BOOKINGS MAY SHOW UNTIL ONE IS TAKEN BACK
two-reservations = TWO RESERVATIONS MAY SHOW UNTIL ONE IS TAKEN BACK
unconfirmed-finished = NOT CONFIRMED, BEING FINISHED
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

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = The bank declined{ $detail }; try another card or another way.
    .customer = DECLINED BY THE BANK{ $detail }
    .technician = The bank, or the gateway for it, declined{ $detail }; nothing is wrong with the terminal.
card-declined =
    .cashier = The card itself declined; ask for another card.
    .customer = DECLINED BY THE CARD
    .technician = The chip declined by itself (AAC) before anything was sent{ $detail }; nothing is wrong with the terminal.
customer-cancelled =
    .cashier = The customer cancelled or took the card away; start again if that was not meant.
    .customer = CANCELLED BY THE CUSTOMER
    .technician = The cancel key of the reader was pressed, or the card was taken away{ $detail }; nothing to do.
till-cancelled =
    .cashier = It was cancelled at the till; start again if that was not meant.
    .customer = CANCELLED BY THE SHOP
    .technician = The till, or somebody at it, cancelled{ $detail }; nothing to do.
terminal-stopped =
    .cashier = The terminal was being switched off; start again when it is back.
    .customer = TERMINAL SWITCHED OFF
    .technician = The agent was being stopped{ $detail }; journalctl --unit pos-agent tells by whom.
card-timeout =
    .cashier = No card was presented in time; start again.
    .customer = NO CARD PRESENTED
    .technician = No card was presented within card-timeout-s of [terminal]{ $detail }; raise it if customers need longer.
card-unreadable =
    .cashier = The card cannot be read; ask for another card.
    .customer = CARD CANNOT BE READ
    .technician = The card could not be read by any way that it allows{ $detail }; if it happens with many cards, clean the reader.
card-gone =
    .cashier = The card was taken out before the payment could be sent; start again and leave the card in.
    .customer = CARD TAKEN OUT TOO EARLY
    .technician = The gateway had too many requests, and the card was gone before it had time{ $detail }; if it happens often, ask its operator for more.
tip-not-possible =
    .cashier = Amount and tip together cannot be charged{ $detail }; start again with a smaller tip.
    .customer = TIP NOT POSSIBLE
    .technician = Amount and tip together cannot be charged{ $detail }; see max-amount of [terminal].

## Reasons: the terminal

reader-lost =
    .cashier = The card reader is gone; see to its cable and power, then start again.
    .customer = CARD READER FAULT
    .technician = The reader went away, or does not do what it must{ $detail }; see to its cable and power, then run pos-agent doctor.
reader-not-ready =
    .cashier = The card reader is not ready; see to its cable and power, then start again.
    .customer = CARD READER NOT READY
    .technician = The reader is not ready{ $detail }; see to its cable and power, then run pos-agent doctor.
reader-keys-used-up =
    .cashier = The card reader can take no more cards; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader has no key left to encrypt with{ $detail }; have new keys injected.
reader-not-secure =
    .cashier = The card reader does not protect cards as it must, so it is not used; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader sends card data in clear, or uses a key twice{ $detail }; nothing was sent or kept: have it replaced.
reader-amount-differs =
    .cashier = The card reader worked with another amount, so nothing was sent; call the technician.
    .customer = CARD READER FAULT
    .technician = The reader signed another amount or currency than was asked for (9F02, 5F2A){ $detail }; have the reader checked.
reader-pin-missing =
    .cashier = The card reader did not give the PIN; start again, and call the technician if it happens again.
    .customer = CARD READER FAULT
    .technician = The reader says that a PIN was entered, and gave no PIN block{ $detail }; have its PIN key checked.
typing-not-possible =
    .cashier = Card numbers cannot be typed at this terminal; ask for the card.
    .customer = TYPING NOT POSSIBLE
    .technician = Card numbers may not, or cannot, be typed on this reader{ $detail }; see manual-entry of [reader].
terminal-restarted =
    .cashier = The terminal was restarted before anything was sent; start again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before anything was sent{ $detail }; its log before the restart tells why.
clock-untrusted =
    .cashier = The terminal does not know the time and takes no payments; call the technician.
    .customer = TERMINAL NOT READY
    .technician = Neither the board's clock nor the reader's can be right{ $detail }; set the clock, and see to network time or its battery.
request-not-possible =
    .cashier = The terminal cannot send this; call the technician.
    .customer = NOT POSSIBLE
    .technician = The request has a value that the gateway does not take{ $detail }; correct it at the till or in the configuration.

## Reasons: the way to the gateway

gateway-unreachable =
    .cashier = There is no connection to the bank; see to the network, then start again.
    .customer = NO CONNECTION
    .technician = No connection to the gateway{ $detail }; see to network, name server, firewall and url of [gateway], then run pos-agent doctor.
gateway-not-trusted =
    .cashier = The connection to the bank is not secure, so nothing was sent; call the technician.
    .customer = NO SECURE CONNECTION
    .technician = The gateway's certificate is not trusted{ $detail }; see to the clock, and to ca-file and ca-pins of [gateway].
gateway-refuses-token =
    .cashier = The bank does not accept this terminal; call the technician.
    .customer = TERMINAL NOT ACCEPTED
    .technician = The gateway refuses the access token{ $detail }; have a new one issued, and put it where [gateway] says.
gateway-wrong-address =
    .cashier = The bank cannot be found where this terminal looks for it; call the technician.
    .customer = SERVICE NOT AVAILABLE
    .technician = The gateway has nothing at the address that was asked{ $detail }; see url of [gateway] and the paths of [gateway.assumptions].
gateway-busy =
    .cashier = The bank has too much to do; wait a moment, then start again.
    .customer = SERVICE BUSY
    .technician = The gateway has too many requests and did not process this one{ $detail }; if it happens often, ask its operator for more.
never-received =
    .cashier = The bank has never received it; start again.
    .customer = NOT RECEIVED BY THE BANK
    .technician = The gateway does not know it, after all the time in which it could still have come{ $detail }; see to the network.

## Reasons: what began a doubt about the money

no-answer =
    .cashier = The bank did not answer; see to the network if it happens again.
    .customer = NO ANSWER FROM THE BANK
    .technician = The request was sent, and no answer came{ $detail }; see to the network.
gateway-failed =
    .cashier = The bank had a fault; tell the technician if it happens again.
    .customer = SERVICE FAULT
    .technician = The gateway failed{ $detail }; ask its operator.
answer-unclear =
    .cashier = The bank's answer is unclear; tell the technician if it happens again.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's answer cannot be read, or contradicts itself{ $detail }; ask its operator.
code-unknown =
    .cashier = The bank's answer is unknown to this terminal; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's result code is on no list{ $detail }; ask its operator what it means, and add it to [gateway.assumptions].
another-payment-answered =
    .cashier = The bank answered about another payment; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway answered about another payment, reference or kind of transaction{ $detail }; ask its operator.
not-decided-in-time =
    .cashier = The bank took too long to decide; tell the technician if it happens again.
    .customer = BANK TOOK TOO LONG
    .technician = The gateway did not decide in time{ $detail }; ask its operator, or raise answer-timeout-ms of [gateway].
another-amount-approved =
    .cashier = The bank approved another amount{ $detail }; tell the technician.
    .customer = WRONG AMOUNT APPROVED{ $detail }
    .technician = The gateway approved another amount or currency than was asked for{ $detail }; ask its operator.
amount-unreadable =
    .cashier = The bank approved an amount that cannot be read; tell the technician.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway approved an amount that cannot be read{ $detail }; ask its operator.
chip-contradicted =
    .cashier = The bank told the terminal and the card different things; tell the technician if it happens again.
    .customer = UNCLEAR ANSWER FROM THE BANK
    .technician = The gateway's result and its answer to the chip (8A) contradict each other{ $detail }; ask its operator.
partial-not-taken =
    .cashier = The bank approved only a part{ $detail }, which this till does not take; try another card or another way.
    .customer = ONLY A PART APPROVED{ $detail }
    .technician = Only a part was approved{ $detail }, and the till's request takes no part; nothing to do.
card-refused =
    .cashier = The card refused although the bank had approved; ask for another card.
    .customer = REFUSED BY THE CARD
    .technician = The chip refused (AAC) after the bank had approved{ $detail }; if it happens with many cards, ask the gateway's operator.
card-lost =
    .cashier = The card was taken out too early; leave it in next time until the reader asks for it.
    .customer = CARD TAKEN OUT TOO EARLY
    .technician = The card or the reader was gone before the chip confirmed the approval{ $detail }; if it happens often, see to the reader's cable.
restarted-before-answer =
    .cashier = The terminal was restarted before the bank's answer was kept; tell the technician if it happens again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before the gateway's answer was kept{ $detail }; its log before the restart tells why.
restarted-before-card =
    .cashier = The terminal was restarted before the card confirmed; tell the technician if it happens again.
    .customer = TERMINAL RESTARTED
    .technician = The agent was restarted before the chip confirmed the approval{ $detail }; its log before the restart tells why.
signature-refused =
    .cashier = The signature was refused at the counter; ask for another card.
    .customer = SIGNATURE NOT ACCEPTED
    .technician = The signature was refused at the counter{ $detail }; nothing to do.
signature-not-checked =
    .cashier = Nobody compared the signature in time; next time accept or refuse it at once.
    .customer = SIGNATURE NOT CHECKED
    .technician = Nobody compared the signature within signature-timeout-s of [terminal]{ $detail }; raise it if it takes longer.
taken-back-by-person =
    .cashier = Somebody decided that it is taken back, in the place of a journal that is an old copy.
    .customer = TAKEN BACK BY THE SHOP
    .technician = It was taken back with pos-agent settle --reverse{ $detail }; the journal was an old copy.
not-sent-in-copy =
    .cashier = It had not been sent when an old copy of the journal was made; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = It had not been sent when an old copy of the journal was made{ $detail }; never start from a copy without need.
signature-in-copy =
    .cashier = Its signature was being compared when an old copy of the journal was made; ask the technician.
    .customer = TERMINAL WAS RESTORED
    .technician = Its signature was being compared when an old copy of the journal was made{ $detail }; never start from a copy without need.

## Reasons: why a doubt is not settled yet

gateway-cannot-be-asked =
    .cashier = The bank cannot be asked; see to the network, it is asked again.
    .customer = NO CONNECTION
    .technician = The gateway cannot be asked what became of it{ $detail }; see to the network, then run pos-agent doctor.
not-decided-yet =
    .cashier = The bank has not decided yet; it is asked again.
    .customer = BANK HAS NOT DECIDED YET
    .technician = The gateway has not decided yet{ $detail }; it is asked again.
not-listed-yet =
    .cashier = The bank does not know it yet; it is asked again.
    .customer = NOT KNOWN TO THE BANK YET
    .technician = The gateway does not know it (yet){ $detail }; it is asked again, for absence-final-after-h of [gateway.assumptions].
reversal-not-listed =
    .cashier = The bank does not show yet that it goes back; it is asked again.
    .customer = BEING TAKEN BACK
    .technician = The gateway does not know the reversal (yet){ $detail }; it is asked, and sent again after resend-after-s of [gateway].
reversal-on-its-way =
    .cashier = It is being taken back; the bank is asked again.
    .customer = BEING TAKEN BACK
    .technician = A reversal that was sent before may still be carried out{ $detail }; it is looked up.
reversal-not-answered =
    .cashier = It could not be taken back yet; it is tried again.
    .customer = BEING TAKEN BACK
    .technician = A reversal could not be sent, or has no answer{ $detail }; it is looked up and tried again.
reversal-held-back =
    .cashier = It may have gone back already; that is looked at first.
    .customer = BEING TAKEN BACK
    .technician = The reversal is held back until it is known whether something else gave the payment back{ $detail }; it is looked up.
earlier-try-open =
    .cashier = An earlier try may still be carried out; the bank is asked again.
    .customer = BEING CHECKED
    .technician = One try was declined, and an earlier one may still be carried out{ $detail }; it is looked up.
stray-answer =
    .cashier = An answer came that belongs to something else; the bank is asked again.
    .customer = BEING CHECKED
    .technician = An answer came that belongs to another request{ $detail }; if it happens again, ask the gateway's operator.

## Reasons: why a person must look

reversal-refused =
    .cashier = The bank refuses to take it back; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway refuses the reversal{ $detail }; have its operator reverse the payment.
another-amount-done =
    .cashier = The bank carried out another amount; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway reversed, or carried out, another amount than was asked for{ $detail }; settle the rest with its operator.
reversed-in-part =
    .cashier = Only a part went back{ $detail }; the technician settles it with the bank.
    .customer = ONLY A PART TAKEN BACK{ $detail }
    .technician = The gateway reversed a part of what it was asked for{ $detail }; settle the rest with its operator.
another-kind-listed =
    .cashier = The bank holds something else under this reference; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway lists it as another kind of transaction{ $detail }; ask its operator what it is.
list-contradicts =
    .cashier = The bank's answers contradict each other; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway's lists and answers contradict each other{ $detail }; ask its operator which is right.
not-listed-any-more =
    .cashier = The bank approved it and does not know it any more; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway approved it and does not list it any more{ $detail }; ask its operator what became of it.
whose-is-not-said =
    .cashier = The bank does not say to which payment it belongs; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway does not say whose, or of which payment, a transaction is{ $detail }; ask its operator.
done-twice =
    .cashier = The bank carried it out twice; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway carried it out twice{ $detail }; have its operator undo one.
second-payment =
    .cashier = The bank holds a second payment; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The gateway holds a second payment besides the one that is kept{ $detail }; reverse it by its id.
old-copy =
    .cashier = The terminal runs on an old copy of its journal and does not know what became of it; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The journal is an old copy and does not know what became of it{ $detail }; ask the gateway's operator, then run pos-agent settle.
given-back-by-id =
    .cashier = It may have been given back already; the technician settles it with the bank.
    .customer = BEING CHECKED
    .technician = The payment may have been given back by its id already{ $detail }; look for it at the gateway, then settle the rest.

## Records of earlier programs, which hold a sentence; this is for those without one

recorded =
    .cashier = No reason is recorded; ask the technician.
    .customer = PLEASE ASK AT THE COUNTER
    .technician = An earlier program recorded no reason; see its log.
