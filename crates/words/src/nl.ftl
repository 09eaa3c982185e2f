# Dutch (Netherlands). Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = ,
date-and-time = { $day }-{ $month }-{ $year } { $time }
date-alone = { $day }-{ $month }-{ $year }
months = jan feb mrt apr mei jun jul aug sep okt nov dec

## Names of the kinds of transaction

called-capture = INNING
called-credit = UITBETALING
called-forget-card = KAARTVERWIJDERING
called-increment = VERHOGING
called-pre-authorisation = RESERVERING
called-reauthorisation = VERNIEUWING
called-refund = TERUGBETALING
called-reversal = STORNO
called-store-card = KAARTOPSLAG
title-capture = INNING RESERVERING
title-credit = UITBETALING
title-forget-card = KAARTVERWIJDERING
title-increment = VERHOGING RESERVERING
title-pre-authorisation = RESERVERING
title-reauthorisation = VERNIEUWING RESERVERING
title-refund = TERUGBETALING
title-reversal = STORNO
title-sale = BETALING
title-store-card = KAARTOPSLAG

## The action that did not happen, after a failure

not-charged = niets afgeschreven
nothing-reserved = niets gereserveerd
nothing-more-reserved = niets extra gereserveerd
nothing-reserved-anew = niet vernieuwd
nothing-paid-out = niets uitbetaald
nothing-captured = niets geïnd
nothing-refunded = niets terugbetaald
nothing-reversed = niets gestorneerd
nothing-stored = geen kaart opgeslagen
nothing-forgotten = kaart niet verwijderd

## States of a transaction, for the cashier

waiting-for-card = Wacht op kaart voor { $amount }
asked-by-fleet = Betaling gevraagd door { $till }: { $text }
waiting-for-card-to-store = Wacht op kaart om op te slaan; er wordt niets afgeschreven
being-sent = Vastgelegd, wordt verzonden
reader-ready = De kaartlezer is gereed.
idle = Gereed voor de volgende betaling.
asked-again = De bank heeft het druk. De terminal vraagt het automatisch opnieuw. U kunt de betaling afbreken.
authorising = Wordt gecontroleerd, even wachten
customer-acts = NOG NIET BESLIST: de klant moet bevestigen op { $url }; de terminal blijft het de bank vragen tot die heeft beslist
compare-signature = GOEDGEKEURD { $amount }, HANDTEKENING NODIG: vergelijk de handtekening met de kaart en kies accepteren of afwijzen
compare-signature-first = HANDTEKENING NODIG voor { $amount }: vergelijk de handtekening met de kaart en kies accepteren of afwijzen; daarna bevestigt de kassa de betaling
till-confirms = WACHT OP DE KASSA, die { $amount } moet bevestigen: geef niets mee voordat de kassa heeft bevestigd
being-taken-back = { $what }ONBEVESTIGD, wordt teruggedraaid: u kunt meteen een nieuwe betaling starten met een nieuwe referentie; de klant ziet mogelijk twee afschrijvingen tot er één is teruggedraaid. { $why }
reservation-being-taken-back = { $what }ONBEVESTIGD, wordt teruggedraaid: u kunt meteen een nieuwe reservering starten met een nieuwe referentie; de klant ziet mogelijk twee reserveringen tot er één is teruggedraaid. { $why }
being-finished = { $what }ONBEVESTIGD, wordt voltooid: herhaal dit niet, kijk later opnieuw. { $why }
last-try = Laatste poging: { $why }
needs-person = { $what }ONBEVESTIGD, moet worden opgelost: wacht en bel de technicus. { $why }
journal-cannot-be-written = ONBEVESTIGD: er kan niet in het journaal worden geschreven; zodra dat weer kan, zoekt de terminal dit uit
asking-whether-sent = ONBEVESTIGD: de terminal is herstart voordat de betaling was verzonden; de terminal vraagt de gateway of die is ontvangen
alarm = ALARM: { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }GOEDGEKEURD { $amount }
ended-partially-approved = { $what }DEELS GOEDGEKEURD: slechts { $part } van { $amount }
ended-declined = { $what }GEWEIGERD, { $nothing }. { $why }
ended-cancelled = { $what }AFGEBROKEN, { $nothing }. { $why }
ended-not-sent = { $what }NIET VERZONDEN, { $nothing }. { $why }
ended-reversed = { $what }TERUGGEDRAAID, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = De klant kiest een fooi
step-present-card = Kaart insteken, voorhouden of doorhalen
step-insert-card = Kaart insteken
step-swipe-card = Chip niet leesbaar: kaart uitnemen en doorhalen
step-try-again = Probeer opnieuw met één kaart
step-type-card = Het kaartnummer wordt op de kaartlezer ingetoetst
step-choosing-application = De klant kiest de betaalwijze
step-reading-card = Kaart wordt gelezen, laten zitten
step-pin-entry = De klant toetst de pincode in
step-pin-digits = Pincode { $digits }
step-pin-wrong = Pincode onjuist
step-pin-no-tries = Pincode onjuist, geen pogingen meer
step-pin-one-try = Pincode onjuist, nog 1 poging
step-pin-tries = Pincode onjuist, nog { $tries } pogingen
step-pin-done = Pincode ingetoetst
step-remove-card = Kaart uitnemen

## The receipt

terminal = Terminal
merchant-id = Merchant-ID
date = Datum
sale-number = Bonnummer
reference = Referentie
operator = Medewerker
supervisor = Supervisor
amount = Bedrag
tip = Fooi
total = TOTAAL
requested = Gevraagd
approved-part = Goedgekeurd
brand = Kaartsoort
application = Applicatie
aid = AID
card = Kaart
entry = Leesmethode
auth-code = Autorisatiecode
acquirer-code = Acquirercode
clearing-id = Clearing-ID
payment-id = Betalings-ID
registration-id = Opgeslagen kaart
result-code = Resultaatcode
reason-word = Reden
original = OORSPRONKELIJKE TRANSACTIE
approved = GOEDGEKEURD
card-stored = KAART OPGESLAGEN, NIETS AFGESCHREVEN
card-forgotten = KAART VERWIJDERD, NIETS AFGESCHREVEN
partially-approved = DEELS GOEDGEKEURD
declined = GEWEIGERD
cancelled = AFGEBROKEN
not-carried-out = NIET UITGEVOERD
reversed = TERUGGEDRAAID
taken-back = { $nothing }: TERUGGEDRAAID
unconfirmed-taken-back = ONBEVESTIGD, WORDT TERUGGEDRAAID
two-bookings = TOT DAN MOGELIJK TWEE AFSCHRIJVINGEN
two-reservations = TOT DAN MOGELIJK TWEE RESERVERINGEN
unconfirmed-finished = ONBEVESTIGD, WORDT VOLTOOID
entry-manual = HANDMATIGE INVOER
entry-magstripe = MAGNEETSTRIP
entry-fallback = STRIP (CHIPFOUT)
entry-chip = CHIP
entry-contactless = CONTACTLOOS
entry-contactless-magstripe = CONTACTLOOS (STRIP)
pin-verified = PIN GECONTROLEERD
pin-verified-online = PIN ONLINE GECONTROLEERD
pin-entered = PIN INGEVOERD
by-signature = HANDTEKENING
pin-verified-and-signature = PIN GECONTROLEERD, HANDTEKENING
pin-entered-and-signature = PIN INGEVOERD, HANDTEKENING
verified-on-device = GECONTROLEERD OP TOESTEL KLANT
on-device = TOESTEL VAN DE KLANT
no-verification = GEEN PIN OF HANDTEKENING
agree-to-pay = Ik ga akkoord met de betaling van bovenstaand bedrag volgens de voorwaarden van mijn kaart.
agree-to-reserve = Ik ga akkoord met de reservering van bovenstaand bedrag op mijn kaart, volgens de voorwaarden daarvan.
agree-to-credit = Ik ga akkoord met de uitbetaling van bovenstaand bedrag op mijn kaart.
signature = Handtekening:
merchant-copy = WINKELBON
customer-copy = KLANTBON
keep-receipt = BEWAAR DEZE BON GOED
duplicate = DUPLICAAT
training = TRAINING
training-no-payment = GEEN BETALING, NIETS GEBOEKT

## The slip of a close of day

close-of-day = DAGAFSLUITING
close-number = Afsluiting
business-day = Dag
period-from = Van
beginning = het begin
period-to = Tot
receipt-numbers = Bonnen
taken = Ontvangen
given = Retour
net = NETTO
nothing-moved = GEEN OMZET
tips-in-sales = Fooi, in betalingen
of-unknown = Storno, onbekend
count-declined = Geweigerd
count-taken-back = Teruggedraaid
count-cancelled = Afgebroken
count-not-sent = Niet verzonden
by-till = PER KASSA
by-operator = PER MEDEWERKER
open-items = OPEN, HIERBOVEN NIET MEEGETELD
nothing-open = NIETS STAAT OPEN
open-needs-person = OP TE LOSSEN
open-unconfirmed = ONBEVESTIGD
open-awaiting-signature = HANDTEKENING VERGELIJKEN
open-awaiting-till = KASSA MOET BEVESTIGEN
open-under-way = LOOPT NOG
open-unreadable = NIET LEESBAAR
open-reserved = GERESERVEERD, NIET GEÏND
and-more = en nog { $count }

## Refusals: a command that is not carried out

refused-amount-differs = referentie { $reference } hoort al bij een andere transactie ({ $kind } { $amount }); gebruik een nieuwe referentie
refused-busy = de terminal is bezig met transactie { $reference } van kassa { $till }; wacht tot die klaar is of breek die af
refused-busy-elsewhere = de terminal is bezig met een transactie van een andere kassa; probeer het daarna opnieuw
refused-not-ready = dit kan nu niet: { $why }
refused-nothing-typed = er is geen bedrag ingevoerd: { $why }
refused-no-signature = er is geen handtekening te vergelijken: { $state }
refused-signature-accepted = de handtekening is al geaccepteerd: { $state }
refused-signature-refused = de handtekening is al afgewezen: { $state }
refused-no-confirmation = er is niets te bevestigen: { $state }
refused-all-taken = de kassa heeft alles al geaccepteerd: { $state }
refused-part-taken = de kassa heeft hiervan al { $amount } geaccepteerd: { $state }
refused-nothing-taken = de kassa heeft dit al afgewezen: { $state }
refused-no-receipt = er is pas een bon als het resultaat bekend is: { $state }
refused-not-possible = dit is niet mogelijk: { $why }
refused-parameter = { $name } is zo niet mogelijk: { $why }
refused-amount = dit bedrag is niet mogelijk: { $why }
refused-tip = deze fooi is niet mogelijk: { $why }
refused-training-off = de trainingsmodus staat op deze terminal uit; zet allowed = true in [training] om die toe te staan
refused-currency = { $wanted } kan niet worden afgerekend: deze terminal accepteert alleen { $terminal }; laat de valuta weg, of zie currency in [terminal]
refused-none-yet = kassa { $till } heeft nog geen transactie
refused-no-such-sale = kassa { $till } heeft geen transactie met referentie { $reference }
refused-no-close-yet = er is nog geen dagafsluiting; pos-agent close maakt er een
refused-close-not-made = de volgende dagafsluiting is nog niet gemaakt; pos-agent close maakt die
refused-no-such-close = er is geen dagafsluiting { $number }; GET /v1/closes of pos-agent close list toont ze
refused-line = lines[{ $at }] kan niet worden geprint: { $why }
refused-printer = dit kan niet worden geprint: { $why }
refused-gateway = de gateway antwoordt niet: { $why }
refused-journal = het journaal is niet bruikbaar: { $why }

## Refusals: rights

denied-lacks = { $caller } heeft { $rights } nodig { $purpose }; voeg dit toe aan { $key }
denied-nameless = { $caller } heeft { $rights } nodig { $purpose }; zet PrivateUsers=no in de unit van de agent, dan noemt het systeem de gebruiker
denied-not-its-till = { $caller } is bevoegd voor { $tills } en niet voor kassa { $till }; laat ?till= weg
denied-not-its-till-of-peer = { $caller } is bevoegd voor { $tills } en niet voor kassa { $till }; voeg die toe aan { $key }
denied-which-till = geef met ?till= de kassa van deze opdracht op, een van: { $tills }
denied-operator-required = hiervoor moet een medewerker zijn aangemeld: open een sessie (POST /v1/sessions) en stuur die mee als Pos-Session; voeg in een shell --operator NAAM toe
denied-role = { $operator } is aangemeld als { $role }, en dit vereist de rol { $needs }
one-role = { $first } of { $other }
denied-stated-operator = operator: medewerkers melden zich hier aan, dus de kassa kan er geen opgeven; stel { $key } in om dat toe te staan
denied-stated-operator-of-peer = operator: medewerkers melden zich hier aan, dus de kassa kan er geen opgeven; om dat toe te staan, voeg de kassa toe aan { $key }
denied-only-at-the-socket = een token is hiervoor niet genoeg; vraag het op de terminal via de Unix-socket, zoals pos-agent doet
one-right = het recht { $rights }
several-rights = de rechten { $rights }
one-of-rights = een van de rechten { $rights }
for-this = voor deze opdracht
for-other-till = voor transacties van een andere kassa
for-earlier-of-other-till = om te verwijzen naar een transactie van een andere kassa
for-unknown-payment = om te verwijzen naar een betaling die deze terminal niet kent
for-authentication = om op te geven hoe een opgeslagen kaart is geverifieerd
caller-till = kassa { $till }
caller-user = gebruiker { $user }
caller-nameless = een gebruiker die het systeem niet noemt
key-of-token = { $key } van de [[till.token]] met till = "{ $till }"
key-of-peer = { $key } van de [[till.peer]] met uid = { $user }
key-of-fleet = { $key } van de [[fleet.key]] met till = "{ $till }"
key-of-user = { $key } van een [[till.peer]] met uid = { $user }, of aan rights van [till.socket] voor alle gebruikers van de socket
key-of-socket = rights van [till.socket]

## Refusals: operators

operator-wrong-pin = de naam of de pincode is onjuist
operator-locked = te veel onjuiste pincodes; probeer het over { $seconds } s opnieuw, of laat een supervisor of technicus deblokkeren (pos-agent operator unlock NAAM)
operator-pin-under-way = er wordt al een andere pincode gecontroleerd; probeer het opnieuw
operator-session-ended = met deze sessie is geen medewerker aangemeld: de sessie is beëindigd of hoort bij een andere kassa; meld u opnieuw aan (POST /v1/sessions)
operator-supervisor-needed = hiervoor is een supervisor nodig ({ $command }); laat die bevestigen (POST /v1/approvals) en stuur de bevestiging mee als Pos-Supervisor, of laat de supervisor zich aanmelden
operator-not-approved = geen supervisor heeft deze opdracht bevestigd: { $why }
operator-no-supervisor = { $name } is geen supervisor en kan dit niet bevestigen
operator-unknown = er is geen medewerker { $name }; pos-agent operator list toont ze allemaal
operator-exists = medewerker { $name } bestaat al; stel een andere pincode in (pos-agent operator pin), of verwijder de medewerker eerst
operator-too-many = er zijn al { $most } medewerkers, het maximum; verwijder er eerst een
operator-pin-length = de pincode moet { $digits } cijfers hebben; zie pin-digits van [operators]
approval-unknown = de bevestiging is al gebruikt, is beëindigd of is ouder dan twee minuten
approval-other-till = de bevestiging is op een andere kassa gegeven
approval-other-operator = de bevestiging is aan een andere medewerker gegeven
approval-other-command = de bevestiging geldt voor { $approved }, en dit is { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, referentie { $reference }
command-of-transaction = , transactie { $number }
command-of-payment = , betaling { $payment }
command-of-card = , opgeslagen kaart { $registration }
command-with-tip = , met fooi
command-typed = , kaartnummer ingetoetst

## Details of refusals: the terminal

nothing-typed = de invoer was leeg
reader-in-use = de kaartlezer is in gebruik
amount-being-typed = op de kaartlezer wordt een bedrag ingetoetst
terminal-stopping = de terminal wordt afgesloten
no-random-numbers = het systeem levert geen willekeurige getallen ({ $why })
command-not-resolved = de opdracht is niet afgehandeld; vraag het opnieuw
pin-not-digested = de hash van de pincode kon niet worden berekend; probeer het opnieuw
training-busy = de trainingsmodus heeft te veel te doen; vraag het opnieuw
training-within = dit is al de trainingsmodus
state-unknown = de status van de transactie is pas bekend als er weer in het journaal kan worden geschreven; antwoord dan opnieuw
no-printer = de terminal heeft geen printer; zie [[printer]] in de configuratie
training-not-printed = bonnen van de trainingsmodus worden getoond en nooit geprint
looks-like-card-number = dit lijkt op een kaartnummer, en dat hoort alleen in de kaartlezer; gebruik een andere waarde

## Details of refusals: amounts

above-limit = { $amount } is hoger dan de limiet van { $limit } van deze terminal; zie max-amount in [terminal]
limit-of-other-currency = de terminal heeft een limiet van { $limit } en accepteert geen andere valuta; zie max-amount in [terminal]
tip-above-amount = de fooi van { $tip } is hoger dan het bedrag van { $amount }; controleer de invoer
total-not-possible = bedrag en fooi samen: { $why }
nothing-given = zonder eerdere betaling die deze terminal kent, wordt niets uitbetaald; stel max-credit-amount in [terminal] in om dat toe te staan
given-in-other-currency = uitbetalen kan alleen in { $currency }; zie max-credit-amount in [terminal]
above-given-limit = { $amount } is hoger dan de limiet van { $limit } voor uitbetalingen; zie max-credit-amount in [terminal]

## Details of refusals: the earlier transaction

not-of-training = de trainingsmodus voert transacties van de trainingsmodus uit, en alleen die
payment-not-of-training = betaling { $payment } is niet van de trainingsmodus
payment-of-training = betaling { $payment } is van de trainingsmodus en er is geen geld geboekt; voeg "training" toe aan de opdracht
transaction-not-of-training = transactie { $number } is niet van de trainingsmodus
transaction-of-training = transactie { $number } is van de trainingsmodus en er is geen geld geboekt
of-another-account = transactie { $number } is gestart met een ander account bij de gateway (een andere entity-id in [gateway]); met dit account is geen vervolg mogelijk
no-transaction-number = deze terminal heeft geen transactie { $number }
is-reversal = betaling { $payment } is de automatische terugdraaiing van transactie { $number }; daarop is geen vervolg mogelijk
amount-needed = een bedrag is nodig, omdat deze terminal de betaling niet kent
needs-more = de soort { $kind } heeft meer velden nodig
no-id = { $name } moet uit 32 letters en cijfers bestaan
rest-references-used = beide referenties voor de terugbetaling van de rest zijn gebruikt; accepteer alles en betaal de rest apart terug
no-decision-awaited = transactie { $number } wacht niet op een beslissing; pos-agent status toont welke dat wel doen
transaction-ended = transactie { $number } is beëindigd
older-than-copy = transactie { $number } dateert van voordat bleek dat dit journaal een verouderde kopie is: terugbetalingen en inningen ervan kunnen hier ontbreken; gebruik de backoffice van de gateway
not-compared-yet = de gateway heeft nog niet gemeld of dit journaal een verouderde kopie is waarin terugbetalingen kunnen ontbreken; probeer het zo meteen opnieuw
list-incomplete = de lijst op datum van de gateway is niet volledig, dus dit journaal kan een verouderde kopie zijn; een vervolg kan alleen op een betaling die kan worden opgezocht
cannot-be-looked-up = dit journaal kan een verouderde kopie zijn, en transactie { $number } kan niet worden opgezocht ({ $why }); probeer het later opnieuw
not-listed-by-gateway = de gateway vermeldt die niet
linked-unknown = de gateway heeft { $count } transacties bij transactie { $number } die dit journaal niet kent; gebruik de backoffice van de gateway

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = de kaartlezer wordt geopend; even wachten
attention-reader-absent = de kaartlezer is niet te vinden: { $why }
attention-reader-other-device = in plaats van de kaartlezer is een ander apparaat aangesloten: { $why }
attention-reader-not-listed = deze kaartlezer hoort niet bij deze terminal: { $why }
attention-reader-no-keys = de kaartlezer heeft geen sleutels meer: { $why }
attention-reader-clear-data = de kaartlezer verstuurt kaartgegevens onversleuteld en wordt niet gebruikt: { $why }
attention-reader-not-encrypting = de kaartlezer versleutelt niet zoals het moet en wordt niet gebruikt: { $why }
attention-reader-flooding = de kaartlezer blijft gegevens sturen: { $why }
attention-reader-restarting = de kaartlezer start opnieuw op: { $why }
attention-reader-card-left = de kaart van de vorige betaling zit nog in de kaartlezer: neem die eruit
attention-reader-keys-low = de kaartlezer heeft nog sleutels voor { $count } betalingen: laat nieuwe laden

## Attention: the gateway

attention-gateway-unreachable = de gateway is niet bereikbaar: { $why }
attention-gateway-no-answer = de gateway antwoordt niet: { $why }
attention-gateway-out-of-order = de gateway heeft een storing: { $why }
attention-gateway-throttles = de gateway krijgt te veel aanvragen; even wachten
attention-gateway-refuses-request = de gateway heeft de laatste transactie afgewezen als ongeldige aanvraag{ $detail }; een andere kaart helpt niet; controleer entity-id in [gateway] en de velden van de kassa
attention-gateway-refuses-token = de gateway accepteert ons token niet: { $why }
attention-gateway-untrusted-certificate = het certificaat van de gateway is niet vertrouwd: { $why }
attention-gateway-certificate-expired = het certificaat van de gateway is verlopen: { $why }
attention-gateway-own-certificate-refused = de gateway accepteert ons certificaat niet: { $why }
attention-gateway-own-certificate-expired = ons certificaat voor de gateway is verlopen: { $why }
attention-gateway-not-usable = de gateway is niet bruikbaar: { $why }
attention-gateway-certificate-ends = het certificaat van de gateway verloopt binnenkort: { $why }
attention-ca-certificate-ends = het CA-certificaat verloopt binnenkort: { $why }
attention-own-certificate-ends = ons certificaat verloopt binnenkort: { $why }
attention-token-ends = ons token verloopt binnenkort: { $why }
attention-gateway-files-unused = gewijzigde bestanden voor de gateway zijn niet bruikbaar, de vorige blijven in gebruik: { $why }

## Attention: printers

attention-printer-no-paper = de printer{ $name } heeft geen papier: { $why }
attention-printer-paper-low = de printer{ $name } heeft bijna geen papier: { $why }
attention-printer-cover-open = de printer{ $name } staat open: { $why }
attention-printer-paper-jam = de printer{ $name } heeft een papierstoring: { $why }
attention-printer-error = de printer{ $name } heeft een storing: { $why }
attention-printer-pausing = de printer{ $name } pauzeert: { $why }
attention-printer-offline = de printer{ $name } is offline: { $why }
attention-printer-absent = de printer{ $name } is niet bereikbaar: { $why }
attention-printer-interrupted = de printer{ $name } stopte midden in een bon: { $why }
attention-printer-silent = de printer{ $name } meldt zijn status niet: { $why }

## Attention: clocks and journal

attention-clock-untrusted = noch de klok van de terminal noch die van de kaartlezer kan kloppen; zet de klok van de terminal gelijk (timedatectl) en wacht even
attention-clock-behind-journal = noch de klok van de terminal noch die van de kaartlezer kan kloppen: die van de terminal geeft { $board } aan, en de laatste regel van het journaal is van { $latest }; zet de klok van de terminal gelijk (timedatectl) en wacht even, of zie, als die klopt, pos-agent journal set-clock-back --help
attention-clocks-differ = de klok van de gateway en die van de terminal lopen { $seconds } s uiteen; zet die van de terminal gelijk (timedatectl); meld het aan de gatewaybeheerder als die klopt
attention-reader-clock-differs = de klok van de gateway en die van de kaartlezer, die hier geldt, lopen { $seconds } s uiteen; zet die van de terminal gelijk (timedatectl); meld het aan de gatewaybeheerder als die van de kaartlezer klopt
attention-journal-full = het journaal is vol: { $why }
attention-journal-nearly-full = de schijf van het journaal heeft nog { $free } MiB vrij; maak ruimte vrij (df -h, journalctl --vacuum-size=50M) en verwijder nooit het journaal
attention-journal-cannot-be-written = er kan niet in het journaal worden geschreven: { $why }
attention-journal-old-copy = dit journaal is een verouderde kopie: { $why }; eerdere open transacties wachten op pos-agent settle NUMMER --keep of --reverse
attention-journal-was-old-copy = dit journaal bleek een verouderde kopie: terugbetalingen, storno's en inningen van transacties tot en met nummer { $number } kunnen ontbreken; gebruik daarvoor de backoffice van de gateway
attention-journal-not-compared = de gateway heeft niet gemeld of dit journaal een verouderde kopie is ({ $why }); tot dan zijn terugbetalingen, inningen en uitbetalingen niet mogelijk en wachten eerdere terugdraaiingen; als opvragen op datum niet kan, zet query-by-date = false in [gateway.assumptions]
attention-journal-list-incomplete = de gateway heeft niet gemeld of dit journaal een verouderde kopie is ({ $why }); tot dan zijn uitbetalingen niet mogelijk, wachten eerdere terugdraaiingen, en wacht elk vervolg op een eerdere betaling tot die is opgezocht; als opvragen op datum niet kan, zet query-by-date = false in [gateway.assumptions]
attention-journal-began-anew = dit journaal is nieuw, en de gateway heeft { $count } betalingen van deze terminal van de laatste dagen: neem het journaal van de vorige terminal over (pos-agent journal adopt BESTAND)
copy-lacks-references = de gateway heeft { $count } referenties van deze terminal die het journaal niet kent (de laatste staat in de log)
journal-is-old-copy = dit journaal is een verouderde kopie: { $why }
gateway-time-unknown = de tijd ervan is niet bekend: { $why }; zie probe-path in [gateway.assumptions]
sold-on-another-journal = deze terminal heeft met een ander journaal afgerekend ({ $why }): er wordt niets afgeschreven tot iemand beslist. Stop de agent; zet dan het juiste journaal terug of neem het over (pos-agent journal adopt BESTAND); als het verloren is, accepteer dit journaal (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = alles is naar het journaal gekopieerd: herstart de agent, dan is er niets verloren
rescued-into-file = open transacties en de laatste staan in { $file }: zet het journaal terug als het is verplaatst. Als het verloren is: stop de agent, verplaats het bestand op die plek, neem { $file } over (pos-agent journal adopt { $file }) en start de agent
rescued-nothing = het journaal had geen transactie: herstart de agent

## Attention: transactions and tills

attention-sale-unconfirmed = transactie { $reference } van kassa { $till }: { $state }
attention-sale-left-alone = transactie { $reference } van kassa { $till } staat open: { $why }
attention-signature-awaited = transactie { $reference } van kassa { $till } wacht: vergelijk de handtekening
attention-confirmation-awaited = transactie { $reference } wacht tot kassa { $till } bevestigt dat die de betaling accepteert
attention-till-port-closed = kassa's met een token kunnen geen verbinding maken: { $why }
attention-fleet-message = bericht van { $author }: { $text }
attention-fleet-settings-trial = instellingen van de vloot, versie { $version }, worden geprobeerd; de terminal gaat vanzelf terug als ze niet binnen tien minuten zijn bevestigd
attention-fleet-settings-returned = de terminal is teruggegaan van de instellingen van de vloot, versie { $version }: { $why }
attention-fleet-settings-drift = op de terminal gewijzigd, dus de waarden van de vloot gelden niet: { $settings }; voer uit: pos-agent check
attention-fleet-settings-unusable = de instellingen van de vloot worden niet gebruikt: { $why }; stop de agent en verwijder de map fleet naast het journaal om ze te verwijderen
attention-fleet-keys-unusable = de opdrachtsleutels van de vloot zijn onbruikbaar, dus er wordt geen opdracht aangenomen: { $why }; stop de agent en verwijder de map fleet naast het journaal om die van de configuratie te gebruiken
left-as-training = dit is van de trainingsmodus en er is geen geld geboekt: er gaat niets van naar de gateway
left-to-another-account = dit is gestart met een ander account bij de gateway (een andere entity-id in [gateway])
left-to-another-terminal = dit is van terminal { $theirs }, en deze terminal is { $ours }: hier kan het niet worden opgelost; corrigeer id in [terminal] als dit { $theirs } is

## The devices in the status

reader-is = { $model } { $firmware }, serienummer { $serial }
gateway-not-asked-yet = nog geen contact
gateway-connected = verbonden
gateway-answers = antwoordt
printer-is-ready = ok
printer-not-used-yet = nog niet gebruikt
printer-one-waits = { $why }; 1 bon wacht
printer-some-wait = { $why }; { $count } bonnen wachten
clock-of-board = die van de terminal
clock-of-reader = die van de kaartlezer, omdat die van de terminal niet kan kloppen
journal-written = wordt geschreven

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = De bank heeft de transactie geweigerd{ $detail }; probeer een andere kaart of betaalwijze.
    .customer = GEWEIGERD DOOR DE BANK{ $detail }
    .technician = De kaartuitgever, of de gateway namens die, heeft geweigerd{ $detail }; er is niets mis met de terminal.
insert-and-pin =
    .cashier = De bank vraagt om de pincode{ $detail }; begin opnieuw en vraag de klant de kaart in te steken.
    .customer = STEEK DE KAART IN
    .technician = De kaartuitgever staat voor deze betaling geen contactloos toe (insert-and-pin){ $detail }; er is niets mis met de terminal.
do-not-try-again =
    .cashier = De bank heeft definitief geweigerd{ $detail }; probeer deze kaart niet opnieuw.
    .customer = GEWEIGERD DOOR DE BANK{ $detail }
    .technician = De kaartuitgever keurt deze kaart niet meer goed (do-not-try-again){ $detail }; er is niets mis met de terminal.
card-declined =
    .cashier = De kaart zelf heeft de transactie geweigerd; vraag om een andere kaart.
    .customer = GEWEIGERD DOOR DE KAART
    .technician = De chip heeft geweigerd (AAC) voordat er iets was verzonden{ $detail }; er is niets mis met de terminal.
customer-cancelled =
    .cashier = De klant heeft afgebroken of de kaart weggehaald; begin opnieuw als dat een vergissing was.
    .customer = AFGEBROKEN DOOR DE KLANT
    .technician = Op de kaartlezer is op stop gedrukt, of de kaart is weggehaald{ $detail }; geen actie nodig.
till-cancelled =
    .cashier = De transactie is op de kassa afgebroken; begin opnieuw als dat een vergissing was.
    .customer = AFGEBROKEN DOOR DE WINKEL
    .technician = De kassa of de medewerker heeft afgebroken{ $detail }; geen actie nodig.
terminal-stopped =
    .cashier = De terminal werd net uitgeschakeld; begin opnieuw zodra de terminal gereed is.
    .customer = TERMINAL UITGESCHAKELD
    .technician = De agent werd net afgesloten{ $detail }; journalctl --unit pos-agent toont door wie.
card-timeout =
    .cashier = Er is niet op tijd een kaart aangeboden; begin opnieuw.
    .customer = GEEN KAART AANGEBODEN
    .technician = Binnen card-timeout-s in [terminal] is geen kaart aangeboden{ $detail }; verhoog de waarde als klanten meer tijd nodig hebben.
tip-timeout =
    .cashier = De klant heeft niet op tijd een fooi gekozen; begin opnieuw.
    .customer = FOOIVRAAG NIET BEANTWOORD
    .technician = De kaarthouder heeft de fooivraag niet binnen card-timeout-s in [terminal] beantwoord{ $detail }; verhoog de waarde als klanten meer tijd nodig hebben.
card-unreadable =
    .cashier = De kaart kan niet worden gelezen; vraag om een andere kaart.
    .customer = KAART NIET LEESBAAR
    .technician = De kaart was op geen enkele toegestane manier leesbaar{ $detail }; maak de kaartlezer schoon als dit bij veel kaarten gebeurt.
card-gone =
    .cashier = De kaart is uitgenomen voordat de betaling kon worden verzonden; begin opnieuw en laat de kaart zitten.
    .customer = KAART TE VROEG UITGENOMEN
    .technician = De gateway was bezet, en de kaart was weg voordat de agent de aanvraag kon verzenden{ $detail }; vraag de gatewaybeheerder om een hogere limiet als dit vaak gebeurt.
card-left-in =
    .cashier = De vorige kaart zat nog in de kaartlezer; neem die eruit en begin dan opnieuw.
    .customer = NEEM DE VORIGE KAART UIT
    .technician = De kaartsleuf van de kaartlezer was na 30 s nog niet leeg{ $detail }; maak de kaartlezer schoon als er geen kaart in zit.
tip-not-possible =
    .cashier = Bedrag en fooi samen kunnen niet worden afgerekend{ $detail }; begin opnieuw met een lagere fooi.
    .customer = FOOI NIET MOGELIJK
    .technician = Bedrag en fooi samen kunnen niet worden afgerekend{ $detail }; zie max-amount in [terminal] en sale in [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = De kaartlezer reageert niet; controleer de kabel en de stroom en begin dan opnieuw.
    .customer = STORING KAARTLEZER
    .technician = De verbinding met de kaartlezer is weg of de kaartlezer reageert niet goed{ $detail }; controleer de kabel en de stroom en voer dan pos-agent doctor uit.
reader-not-ready =
    .cashier = De kaartlezer is niet gereed; controleer de kabel en de stroom en begin dan opnieuw.
    .customer = KAARTLEZER NIET GEREED
    .technician = De kaartlezer is niet gereed{ $detail }; controleer de kabel en de stroom en voer dan pos-agent doctor uit.
reader-absent =
    .cashier = De kaartlezer is niet te vinden; controleer de kabel en de stroom en begin dan opnieuw.
    .customer = STORING KAARTLEZER
    .technician = De poort van de kaartlezer kan niet worden geopend{ $detail }; controleer de kabel, de stroom en port in [reader].
reader-other-device =
    .cashier = In plaats van de kaartlezer is een ander apparaat aangesloten; sluit de kaartlezer aan of bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = Het apparaat op de poort is geen kaartlezer van dit type{ $detail }; controleer port en protocol in [reader].
reader-not-listed =
    .cashier = Deze kaartlezer hoort niet bij deze terminal; sluit de juiste aan of bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = Het serienummer van de kaartlezer staat niet in serials in [reader]{ $detail }; sluit de juiste kaartlezer aan, of voeg het nummer toe als deze hier hoort.
reader-restarting =
    .cashier = De kaartlezer start opnieuw op; wacht even en begin dan opnieuw.
    .customer = KAARTLEZER NIET GEREED
    .technician = De kaartlezer start na een storing opnieuw op{ $detail }; laat hem nakijken als dit vaak gebeurt.
reader-flooding =
    .cashier = De kaartlezer werkt niet goed; zet hem uit en weer aan, of bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer blijft gegevens sturen{ $detail }; controleer de kabel en de stroom, en vervang hem als dit aanhoudt.
reader-no-keys =
    .cashier = De kaartlezer kan geen kaarten meer lezen; bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer heeft geen sleutels meer{ $detail }; laat nieuwe sleutels laden.
reader-clear-data =
    .cashier = De kaartlezer beveiligt kaartgegevens niet goed en wordt niet gebruikt; bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer verstuurt kaartgegevens onversleuteld{ $detail }; er is niets verzonden of opgeslagen; laat hem vervangen.
reader-not-encrypting =
    .cashier = De kaartlezer beveiligt kaartgegevens niet goed en wordt niet gebruikt; bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer versleutelt niet meer of heeft een sleutel twee keer gebruikt{ $detail }; er is niets verzonden of opgeslagen; laat hem vervangen als dit opnieuw gebeurt.
reader-amount-differs =
    .cashier = De kaartlezer gebruikte een ander bedrag, dus er is niets verzonden; bel de technicus.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer heeft een ander bedrag of een andere valuta ondertekend dan gevraagd (9F02, 5F2A){ $detail }; laat de kaartlezer nakijken.
reader-pin-missing =
    .cashier = De kaartlezer heeft de pincode niet doorgegeven; begin opnieuw, en bel de technicus als dit opnieuw gebeurt.
    .customer = STORING KAARTLEZER
    .technician = De kaartlezer meldde een pincode maar stuurde geen PIN-block{ $detail }; laat de PIN-sleutel nakijken.
typing-not-possible =
    .cashier = Op deze terminal kunnen geen kaartnummers worden ingetoetst; vraag om de kaart.
    .customer = INTOETSEN NIET MOGELIJK
    .technician = Kaartnummers intoetsen staat uit voor deze kaartlezer, of hij kan het niet{ $detail }; zie manual-entry in [reader].
terminal-restarted =
    .cashier = De terminal is herstart voordat er iets was verzonden; begin opnieuw.
    .customer = TERMINAL HERSTART
    .technician = De agent is herstart voordat er iets was verzonden{ $detail }; de log van voor de herstart toont waarom.
clock-untrusted =
    .cashier = De terminal weet niet hoe laat het is en kan geen betalingen aannemen; bel de technicus.
    .customer = TERMINAL NIET GEREED
    .technician = Noch de klok van de terminal noch die van de kaartlezer kan kloppen{ $detail }; zet de klok gelijk, en controleer de netwerktijd of de batterij van de klok.
request-not-possible =
    .cashier = De terminal kan dit niet verzenden; bel de technicus.
    .customer = NIET MOGELIJK
    .technician = De aanvraag bevat een waarde die de gateway niet accepteert{ $detail }; corrigeer die op de kassa of in de configuratie.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = Er is geen verbinding met de bank; controleer het netwerk en begin dan opnieuw.
    .customer = GEEN VERBINDING
    .technician = Geen verbinding met de gateway{ $detail }; controleer netwerk, DNS, firewall en url in [gateway] en voer dan pos-agent doctor uit.
gateway-untrusted-certificate =
    .cashier = De verbinding met de bank is niet veilig, dus er is niets verzonden; bel de technicus.
    .customer = GEEN VEILIGE VERBINDING
    .technician = Het certificaat van de gateway is niet vertrouwd{ $detail }; controleer de klok, en ca-file en ca-pins in [gateway].
gateway-certificate-expired =
    .cashier = De verbinding met de bank is niet veilig, dus er is niets verzonden; bel de technicus.
    .customer = GEEN VEILIGE VERBINDING
    .technician = Het certificaat van de gateway is verlopen{ $detail }; controleer de klok van de terminal en meld het dan aan de gatewaybeheerder.
gateway-own-certificate-refused =
    .cashier = De bank accepteert deze terminal niet; bel de technicus.
    .customer = GEEN VERBINDING
    .technician = De gateway accepteert ons certificaat niet, of vereist er een{ $detail }; controleer client-certificate-file in [gateway].
gateway-own-certificate-expired =
    .cashier = De bank accepteert deze terminal niet meer; bel de technicus.
    .customer = GEEN VERBINDING
    .technician = De gateway accepteert ons verlopen certificaat niet{ $detail }; vervang client-certificate-file in [gateway] en de bijbehorende sleutel.
gateway-not-usable =
    .cashier = De verbinding met de bank werkt niet, dus er is niets verzonden; bel de technicus.
    .customer = GEEN VERBINDING
    .technician = De server is geen bruikbare gateway{ $detail }; controleer url en de bestanden in [gateway] en voer dan pos-agent doctor uit.
gateway-refuses-token =
    .cashier = De bank accepteert deze terminal niet; bel de technicus.
    .customer = TERMINAL NIET TOEGELATEN
    .technician = De gateway accepteert het toegangstoken niet{ $detail }; vraag een nieuw token aan en zet het waar [gateway] het verwacht.
gateway-wrong-address =
    .cashier = De terminal vindt de bank niet op het ingestelde adres; bel de technicus.
    .customer = DIENST NIET BESCHIKBAAR
    .technician = De gateway heeft niets op het gevraagde adres{ $detail }; controleer url in [gateway] en de paden in [gateway.assumptions].
gateway-throttles =
    .cashier = De bank heeft het druk; wacht even en begin dan opnieuw.
    .customer = DIENST BEZET
    .technician = De gateway krijgt te veel aanvragen en heeft deze niet verwerkt{ $detail }; vraag de gatewaybeheerder om een hogere limiet als dit vaak gebeurt.
never-received =
    .cashier = De bank heeft deze aanvraag nooit ontvangen; begin opnieuw.
    .customer = NIET ONTVANGEN DOOR DE BANK
    .technician = De gateway kent de aanvraag niet, en de tijd waarin die nog kon aankomen is voorbij{ $detail }; controleer het netwerk.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = De bank heeft niet geantwoord; controleer het netwerk als dit opnieuw gebeurt.
    .customer = GEEN ANTWOORD VAN DE BANK
    .technician = De aanvraag is verzonden, maar er kwam geen antwoord{ $detail }; controleer het netwerk.
gateway-out-of-order =
    .cashier = De bank had een storing; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = STORING BIJ DE DIENST
    .technician = De gateway had een storing{ $detail }; vraag het de gatewaybeheerder.
answer-unclear =
    .cashier = Het antwoord van de bank is onduidelijk; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = Het antwoord van de gateway is onleesbaar of spreekt zichzelf tegen{ $detail }; vraag het de gatewaybeheerder.
code-unknown =
    .cashier = De terminal weet niet wat het antwoord van de bank betekent; meld het aan de technicus.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = De resultaatcode van de gateway staat op geen enkele lijst{ $detail }; vraag de gatewaybeheerder wat die betekent en voeg de code toe aan [gateway.assumptions].
decline-in-doubt =
    .cashier = Het antwoord van de bank lijkt een ongebruikelijke weigering; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = De gateway heeft geweigerd, maar niet met HTTP 400{ $detail }, dus de agent heeft het opgezocht; als dit gebruikelijk is, zie believe-declines-at-200 in [gateway.assumptions].
another-payment-answered =
    .cashier = Het antwoord van de bank gaat over een andere betaling; meld het aan de technicus.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = Het antwoord van de gateway gaat over een andere betaling, referentie of soort transactie{ $detail }; vraag het de gatewaybeheerder.
not-decided-in-time =
    .cashier = De bank deed te lang over de beslissing; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = BANK BESLISTE NIET OP TIJD
    .technician = De gateway heeft niet op tijd beslist{ $detail }; vraag het de gatewaybeheerder, of verhoog answer-timeout-ms in [gateway].
another-amount-approved =
    .cashier = De bank heeft een ander bedrag goedgekeurd{ $detail }; meld het aan de technicus.
    .customer = VERKEERD BEDRAG GOEDGEKEURD{ $detail }
    .technician = De gateway heeft een ander bedrag of een andere valuta goedgekeurd dan gevraagd{ $detail }; vraag het de gatewaybeheerder.
amount-unreadable =
    .cashier = De bank heeft een bedrag goedgekeurd dat niet leesbaar is; meld het aan de technicus.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = De gateway heeft een bedrag goedgekeurd dat niet leesbaar is{ $detail }; vraag het de gatewaybeheerder.
chip-contradicted =
    .cashier = De bank gaf de terminal en de kaart verschillende antwoorden; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = ONDUIDELIJK ANTWOORD VAN DE BANK
    .technician = Het resultaat van de gateway en het antwoord aan de chip (8A) spreken elkaar tegen{ $detail }; vraag het de gatewaybeheerder.
partial-not-taken =
    .cashier = De bank heeft maar een deel goedgekeurd{ $detail }, en dat accepteert deze kassa niet; probeer een andere kaart of betaalwijze.
    .customer = SLECHTS EEN DEEL GOEDGEKEURD{ $detail }
    .technician = Er is maar een deel goedgekeurd{ $detail }, en de opdracht van de kassa accepteert geen deel; geen actie nodig.
card-refused =
    .cashier = De kaart heeft de betaling afgewezen nadat de bank had goedgekeurd; vraag om een andere kaart.
    .customer = AFGEWEZEN DOOR DE KAART
    .technician = De chip heeft afgewezen (AAC) nadat de kaartuitgever had goedgekeurd{ $detail }; vraag het de gatewaybeheerder als dit bij veel kaarten gebeurt.
card-lost =
    .cashier = De kaart is te vroeg uitgenomen; laat die de volgende keer zitten tot de kaartlezer erom vraagt.
    .customer = KAART TE VROEG UITGENOMEN
    .technician = De kaart of de kaartlezer was weg voordat de chip de goedkeuring had bevestigd{ $detail }; controleer de kabel van de kaartlezer als dit vaak gebeurt.
restarted-before-answer =
    .cashier = De terminal is herstart voordat het antwoord van de bank was vastgelegd; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = TERMINAL HERSTART
    .technician = De agent is herstart voordat het antwoord van de gateway was vastgelegd{ $detail }; de log van voor de herstart toont waarom.
restarted-before-card =
    .cashier = De terminal is herstart voordat de kaart de betaling had bevestigd; meld het aan de technicus als dit opnieuw gebeurt.
    .customer = TERMINAL HERSTART
    .technician = De agent is herstart voordat de chip de goedkeuring had bevestigd{ $detail }; de log van voor de herstart toont waarom.
signature-refused =
    .cashier = De handtekening is aan de kassa afgewezen; vraag om een andere kaart.
    .customer = HANDTEKENING AFGEWEZEN
    .technician = De handtekening is aan de kassa afgewezen{ $detail }; geen actie nodig.
signature-not-checked =
    .cashier = De handtekening is niet op tijd vergeleken; kies de volgende keer meteen accepteren of afwijzen.
    .customer = HANDTEKENING NIET VERGELEKEN
    .technician = De handtekening is niet binnen signature-timeout-s in [terminal] vergeleken{ $detail }; verhoog de waarde als het vergelijken langer duurt.
not-taken =
    .cashier = De kassa heeft de betaling niet geaccepteerd; start een nieuwe als die nog gewenst is.
    .customer = NIET GEACCEPTEERD DOOR DE WINKEL
    .technician = De kassa heeft de goedgekeurde betaling niet geaccepteerd{ $detail }; de log van de kassa toont waarom.
till-silent =
    .cashier = De kassa heeft de betaling niet op tijd bevestigd; controleer de kassa en start dan een nieuwe betaling.
    .customer = NIET BEVESTIGD DOOR DE WINKEL
    .technician = De kassa heeft niet binnen till-confirm-s in [terminal] gemeld of die de betaling accepteert{ $detail }; controleer de kassa en de verbinding, of verhoog de waarde.
taken-back-by-person =
    .cashier = De betaling is handmatig teruggedraaid, omdat het journaal van de terminal een verouderde kopie was.
    .customer = TERUGGEDRAAID DOOR DE WINKEL
    .technician = Teruggedraaid met pos-agent settle --reverse{ $detail }; het journaal was een verouderde kopie.
not-sent-in-copy =
    .cashier = Het journaal van de terminal is een verouderde kopie van voordat dit was verzonden; vraag het de technicus.
    .customer = TERMINAL IS HERSTELD
    .technician = De verouderde kopie van het journaal is van voordat dit was verzonden{ $detail }; start alleen met een kopie als het niet anders kan.
open-in-copy =
    .cashier = Het journaal van de terminal is een verouderde kopie van voordat dit was bevestigd; vraag het de technicus.
    .customer = TERMINAL IS HERSTELD
    .technician = De verouderde kopie van het journaal is van voordat dit was bevestigd{ $detail }; zoek het op bij de gateway, want de terminal verzendt het niet opnieuw.
signature-in-copy =
    .cashier = Het journaal van de terminal is een verouderde kopie van voordat de handtekening was vergeleken; vraag het de technicus.
    .customer = TERMINAL IS HERSTELD
    .technician = De verouderde kopie van het journaal is gemaakt terwijl de handtekening werd vergeleken{ $detail }; start alleen met een kopie als het niet anders kan.
till-in-copy =
    .cashier = Het journaal van de terminal is een verouderde kopie van voordat de kassa dit had bevestigd; vraag het de technicus.
    .customer = TERMINAL IS HERSTELD
    .technician = De verouderde kopie van het journaal is gemaakt terwijl de kassa om bevestiging werd gevraagd{ $detail }; start alleen met een kopie als het niet anders kan.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = De bank is niet te bereiken; controleer het netwerk. De terminal vraagt het automatisch opnieuw.
    .customer = GEEN VERBINDING
    .technician = De gateway kan niet naar het resultaat worden gevraagd{ $detail }; controleer het netwerk en voer dan pos-agent doctor uit.
till-not-heard =
    .cashier = De kassa heeft het nog niet bevestigd; wacht op de kassa.
    .customer = WINKEL HEEFT NOG NIET BEVESTIGD
    .technician = De kassa heeft nog niet gemeld of die de betaling accepteert{ $detail }; daarvoor geldt till-confirm-s in [terminal].
not-decided-yet =
    .cashier = De bank heeft nog niet beslist; de terminal vraagt het automatisch opnieuw.
    .customer = BANK HEEFT NOG NIET BESLIST
    .technician = De gateway heeft nog niet beslist{ $detail }; de agent vraagt het opnieuw.
not-listed-yet =
    .cashier = De bank kent het nog niet; de terminal vraagt het automatisch opnieuw.
    .customer = NOG NIET BEKEND BIJ DE BANK
    .technician = De gateway kent het nog niet{ $detail }; de agent vraagt het opnieuw, zolang als absence-final-after-h in [gateway.assumptions] aangeeft.
reversal-not-listed =
    .cashier = De bank toont de terugdraaiing nog niet; de terminal vraagt het automatisch opnieuw.
    .customer = WORDT TERUGGEDRAAID
    .technician = De gateway kent de terugdraaiing nog niet{ $detail }; de agent vraagt het opnieuw en verzendt die opnieuw na resend-after-s in [gateway].
reversal-on-its-way =
    .cashier = Het wordt teruggedraaid; de terminal vraagt het de bank automatisch opnieuw.
    .customer = WORDT TERUGGEDRAAID
    .technician = Een eerdere terugdraaiing kan nog worden uitgevoerd{ $detail }; de agent zoekt het op.
reversal-not-answered =
    .cashier = Het kon nog niet worden teruggedraaid; de terminal probeert het automatisch opnieuw.
    .customer = WORDT TERUGGEDRAAID
    .technician = Een terugdraaiing kon niet worden verzonden of heeft geen antwoord{ $detail }; de agent zoekt het op en probeert het opnieuw.
reversal-held-back =
    .cashier = Het is misschien al teruggedraaid of terugbetaald; de terminal controleert dat eerst.
    .customer = WORDT TERUGGEDRAAID
    .technician = De terugdraaiing wacht tot bekend is of de betaling al op een andere manier is teruggedraaid of terugbetaald{ $detail }; de agent zoekt het op.
earlier-try-open =
    .cashier = Een eerdere aanvraag kan nog worden uitgevoerd; de terminal vraagt het de bank automatisch opnieuw.
    .customer = WORDT GECONTROLEERD
    .technician = Eén aanvraag is geweigerd, maar een eerdere kan nog worden uitgevoerd{ $detail }; de agent zoekt het op.
stray-answer =
    .cashier = Er kwam een antwoord dat bij een andere aanvraag hoort; de terminal vraagt het de bank automatisch opnieuw.
    .customer = WORDT GECONTROLEERD
    .technician = Er kwam een antwoord dat bij een andere aanvraag hoort{ $detail }; vraag het de gatewaybeheerder als dit opnieuw gebeurt.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = De bank staat het terugdraaien niet toe; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway staat de terugdraaiing niet toe{ $detail }; laat de gatewaybeheerder de betaling terugdraaien.
another-amount-done =
    .cashier = De bank heeft een ander bedrag verwerkt; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway heeft een ander bedrag teruggedraaid of verwerkt dan gevraagd{ $detail }; los de rest op met de gatewaybeheerder.
reversed-in-part =
    .cashier = Er is maar een deel teruggedraaid{ $detail }; de technicus lost dit op met de bank.
    .customer = SLECHTS EEN DEEL TERUGGEDRAAID{ $detail }
    .technician = De gateway heeft maar een deel van het gevraagde bedrag teruggedraaid{ $detail }; los de rest op met de gatewaybeheerder.
another-kind-listed =
    .cashier = De bank heeft onder deze referentie een andere soort transactie; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway vermeldt het als een andere soort transactie{ $detail }; vraag de gatewaybeheerder wat het is.
list-contradicts =
    .cashier = De antwoorden van de bank spreken elkaar tegen; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De lijsten en antwoorden van de gateway spreken elkaar tegen{ $detail }; vraag de gatewaybeheerder wat klopt.
not-listed-any-more =
    .cashier = De bank heeft het goedgekeurd maar kent het niet meer; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway heeft het goedgekeurd maar vermeldt het niet meer{ $detail }; vraag de gatewaybeheerder naar het resultaat.
whose-is-not-said =
    .cashier = De bank meldt niet bij welke betaling het hoort; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway meldt niet van wie de transactie is of bij welke betaling die hoort{ $detail }; vraag het de gatewaybeheerder.
rest-not-given-back =
    .cashier = Het deel dat de kassa niet heeft geaccepteerd, is niet terugbetaald{ $detail }; betaal het terug met een nieuwe referentie.
    .customer = REST NIET TERUGBETAALD
    .technician = De terugbetaling van het deel dat de kassa niet heeft geaccepteerd, is geweigerd of was niet mogelijk{ $detail }; betaal de rest terug met pos-agent refund.
rest-given-back-in-part =
    .cashier = De kassa heeft maar een deel geaccepteerd, en de rest is maar deels terugbetaald{ $detail }; betaal het ontbrekende bedrag terug met een nieuwe referentie.
    .customer = SLECHTS EEN DEEL TERUGBETAALD{ $detail }
    .technician = Het deel dat de kassa niet heeft geaccepteerd, is maar deels terugbetaald{ $detail }; betaal het ontbrekende bedrag terug met pos-agent refund.
done-twice =
    .cashier = De bank heeft het twee keer uitgevoerd; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway heeft het twee keer uitgevoerd{ $detail }; laat de gatewaybeheerder er een terugdraaien.
second-payment =
    .cashier = De bank heeft een tweede betaling; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De gateway heeft naast de betaling die blijft staan nog een tweede{ $detail }; draai die terug via het betalings-ID.
old-copy =
    .cashier = Het journaal van de terminal is een verouderde kopie zonder het resultaat; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = Het journaal is een verouderde kopie zonder het resultaat{ $detail }. Controleer bij de gateway of op de bonnen of de transactie is betaald en voer dan pos-agent settle NUMMER --keep of --reverse uit.
given-back-by-id =
    .cashier = Het is misschien al teruggedraaid of terugbetaald; de technicus lost dit op met de bank.
    .customer = WORDT GECONTROLEERD
    .technician = De betaling is misschien al via het betalings-ID teruggedraaid of terugbetaald{ $detail }; zoek die op bij de gateway en los dan de rest op.
not-settled-here =
    .cashier = Dit is gestart met andere instellingen van deze terminal en wacht daarop; bel de technicus.
    .customer = WORDT GECONTROLEERD
    .technician = Deze terminal kan dit met de huidige instellingen niet oplossen{ $detail }; de agent verzendt niets en gaat automatisch verder als de eerdere instellingen terug zijn.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = Er is geen reden vastgelegd; vraag het de technicus.
    .customer = VRAAG HET AAN DE KASSA
    .technician = Een eerdere versie heeft geen reden vastgelegd; zie de log daarvan.
