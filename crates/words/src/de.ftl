# Deutsch. In jeder Sprache stehen dieselben Texte in derselben Reihenfolge; wer was liest, steht in lib.rs.
# Kassenpersonal: ein Satz, was geschah und was zu tun ist. Kunde: Großbuchstaben wie auf Belegen, kein Punkt, nichts Technisches,
# kein Wort über 21 Buchstaben. Technik: Ursache und Abhilfe. Absagen und Status, für beide: am Anfang klein, ohne Punkt.

decimal-separator = ,
date-and-time = { $day }.{ $month }.{ $year } { $time }
date-alone = { $day }.{ $month }.{ $year }
months = Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.

## Wie ein Vorgang heißt

called-capture = ABRECHNUNG
called-credit = GUTSCHRIFT
called-forget-card = KARTENLÖSCHUNG
called-increment = ERHÖHUNG
called-pre-authorisation = RESERVIERUNG
called-reauthorisation = ERNEUERUNG
called-refund = ERSTATTUNG
called-reversal = STORNO
called-store-card = KARTENSPEICHERUNG
title-capture = ABRECHNUNG DER RESERVIERUNG
title-credit = GUTSCHRIFT
title-forget-card = KARTENLÖSCHUNG
title-increment = ERHÖHUNG DER RESERVIERUNG
title-pre-authorisation = RESERVIERUNG
title-reauthorisation = ERNEUERUNG DER RESERVIERUNG
title-refund = ERSTATTUNG
title-reversal = STORNO
title-sale = KARTENZAHLUNG
title-store-card = KARTENSPEICHERUNG

## Was nicht geschehen ist, wenn es nicht ging

not-charged = nicht belastet
nothing-reserved = nichts reserviert
nothing-more-reserved = nicht erhöht
nothing-reserved-anew = nicht erneuert
nothing-paid-out = nicht gutgeschrieben
nothing-captured = nicht abgerechnet
nothing-refunded = nicht erstattet
nothing-reversed = nicht storniert
nothing-stored = keine Karte gespeichert
nothing-forgotten = Karte nicht gelöscht

## Wie ein Vorgang steht, für das Kassenpersonal

waiting-for-card = Bitte Karte für { $amount }
asked-by-fleet = Zahlung von { $till } verlangt: { $text }
waiting-for-card-to-store = Bitte Karte zum Speichern; es wird nichts belastet
being-sent = Erfasst, wird gesendet
reader-ready = Der Kartenleser ist bereit.
idle = Bereit für die nächste Zahlung.
asked-again = Die Bank ist überlastet und wird von selbst wieder gefragt. Die Zahlung kann abgebrochen werden.
authorising = Wird geprüft, bitte warten
customer-acts = NICHT ENTSCHIEDEN: der Kunde muss auf { $url } handeln; die Bank wird von selbst gefragt, bis sie entschieden hat
compare-signature = GENEHMIGT { $amount }, BITTE UNTERSCHRIFT VERGLEICHEN: stimmt sie mit der Karte überein, annehmen, sonst ablehnen
compare-signature-first = BITTE UNTERSCHRIFT VERGLEICHEN für { $amount }: stimmt sie mit der Karte überein, annehmen, sonst ablehnen; danach bestätigt die Kasse die Zahlung
till-confirms = WARTET AUF DIE KASSE: sie muss { $amount } bestätigen; vorher nichts herausgeben
being-taken-back = { $what }UNBESTÄTIGT, wird zurückgenommen: Eine neue Zahlung ist sofort unter neuer Referenz möglich; der Kunde sieht vielleicht zwei Buchungen, bis eine zurückgenommen ist. { $why }
reservation-being-taken-back = { $what }UNBESTÄTIGT, wird zurückgenommen: Eine neue Reservierung ist sofort unter neuer Referenz möglich; der Kunde sieht vielleicht zwei Reservierungen, bis eine zurückgenommen ist. { $why }
being-finished = { $what }UNBESTÄTIGT, wird zu Ende geführt: nicht wiederholen, später nachsehen. { $why }
last-try = Letzter Versuch: { $why }
needs-person = { $what }UNBESTÄTIGT, muss geklärt werden: warten und den Techniker rufen. { $why }
journal-cannot-be-written = UNBESTÄTIGT: Das Journal ist nicht beschreibbar; sobald es geht, wird der Vorgang geklärt
asking-whether-sent = UNBESTÄTIGT: Das Terminal ist vor dem Senden neu gestartet; die Bank wird gefragt, ob sie etwas davon weiß
alarm = ALARM: { $why }

## Wie ein Vorgang endete, für das Kassenpersonal

ended-approved = { $what }GENEHMIGT { $amount }
ended-partially-approved = { $what }TEILWEISE GENEHMIGT: nur { $part } von { $amount }
ended-declined = { $what }ABGELEHNT, { $nothing }. { $why }
ended-cancelled = { $what }ABGEBROCHEN, { $nothing }. { $why }
ended-not-sent = { $what }NICHT GESENDET, { $nothing }. { $why }
ended-reversed = { $what }ZURÜCKGENOMMEN, { $nothing }. { $why }

## Die Schritte am Kartenleser, für das Kassenpersonal

step-choosing-tip = Der Kunde wählt ein Trinkgeld
step-present-card = Karte stecken, auflegen oder durchziehen
step-insert-card = Karte stecken
step-swipe-card = Chip nicht lesbar: Karte herausnehmen und durchziehen
step-try-again = Nochmals mit nur einer Karte
step-type-card = Die Kartennummer wird am Leser eingetippt
step-choosing-application = Der Kunde wählt die Zahlungsart
step-reading-card = Karte wird gelesen, bitte stecken lassen
step-pin-entry = Der Kunde gibt die PIN ein
step-pin-digits = PIN { $digits }
step-pin-wrong = PIN falsch
step-pin-no-tries = PIN falsch, kein Versuch mehr
step-pin-one-try = PIN falsch, noch 1 Versuch
step-pin-tries = PIN falsch, noch { $tries } Versuche
step-pin-done = PIN eingegeben
step-remove-card = Karte entnehmen

## Der Beleg

terminal = Terminal
merchant-id = VU-Nr.
date = Datum
sale-number = Beleg-Nr.
reference = Referenz
operator = Bediener
supervisor = Aufsicht
amount = Betrag
tip = Trinkgeld
total = GESAMT
requested = Gefordert
approved-part = Genehmigt
brand = Kartenart
application = Anwendung
aid = AID
card = Karte
entry = Erfassung
auth-code = Genehm.-Nr.
acquirer-code = Acquirer-Code
clearing-id = Clearing-Nr.
payment-id = Zahlungs-ID
registration-id = Gespeicherte Karte
result-code = Ergebniscode
reason-word = Grund
original = URSPRÜNGLICHER VORGANG
approved = GENEHMIGT
card-stored = KARTE GESPEICHERT, NICHTS BELASTET
card-forgotten = KARTE GELÖSCHT, NICHTS BELASTET
partially-approved = TEILWEISE GENEHMIGT
declined = ABGELEHNT
cancelled = ABGEBROCHEN
not-carried-out = NICHT AUSGEFÜHRT
reversed = ZURÜCKGENOMMEN
taken-back = { $nothing }: ZURÜCKGENOMMEN
unconfirmed-taken-back = UNBESTÄTIGT, WIRD ZURÜCKGENOMMEN
two-bookings = ZWEI BUCHUNGEN SIND MÖGLICH, BIS EINE ZURÜCKGENOMMEN IST
two-reservations = ZWEI RESERVIERUNGEN SIND MÖGLICH, BIS EINE ZURÜCKGENOMMEN IST
unconfirmed-finished = UNBESTÄTIGT, WIRD ZU ENDE GEFÜHRT
entry-manual = MANUELL
entry-magstripe = MAGNETSTREIFEN
entry-fallback = STREIFEN (CHIP DEFEKT)
entry-chip = CHIP
entry-contactless = KONTAKTLOS
entry-contactless-magstripe = KONTAKTLOS (STREIFEN)
pin-verified = PIN GEPRÜFT
pin-verified-online = PIN ONLINE GEPRÜFT
pin-entered = PIN EINGEGEBEN
by-signature = UNTERSCHRIFT
pin-verified-and-signature = PIN GEPRÜFT, UNTERSCHRIFT
pin-entered-and-signature = PIN EINGEGEBEN, UNTERSCHRIFT
verified-on-device = AUF DEM KUNDENGERÄT GEPRÜFT
on-device = KUNDENGERÄT
no-verification = OHNE PIN UND UNTERSCHRIFT
agree-to-pay = Ich bin mit der Zahlung des oben genannten Betrags gemäß den Bedingungen meiner Karte einverstanden.
agree-to-reserve = Ich bin mit der Reservierung des oben genannten Betrags auf meiner Karte einverstanden.
agree-to-credit = Ich bin mit der Gutschrift des oben genannten Betrags auf meine Karte einverstanden.
signature = Unterschrift:
merchant-copy = HÄNDLERBELEG
customer-copy = KUNDENBELEG
keep-receipt = BELEG BITTE AUFBEWAHREN
duplicate = KOPIE
training = SCHULUNG
training-no-payment = KEINE ZAHLUNG, KEIN GELD BEWEGT

## Der Beleg eines Tagesabschlusses

close-of-day = TAGESABSCHLUSS
close-number = Abschluss
business-day = Tag
period-from = Von
beginning = Beginn
period-to = Bis
receipt-numbers = Belege
taken = Eingenommen
given = Ausgezahlt
net = SALDO
nothing-moved = KEIN UMSATZ
tips-in-sales = Trinkgeld, enthalten
of-unknown = Storno, unbekannt
count-declined = Abgelehnt
count-taken-back = Zurückgenommen
count-cancelled = Abgebrochen
count-not-sent = Nicht gesendet
by-till = NACH KASSE
by-operator = NACH BEDIENER
open-items = OFFEN, NICHT MITGEZÄHLT
nothing-open = NICHTS IST OFFEN
open-needs-person = ZU KLÄREN
open-unconfirmed = UNBESTÄTIGT
open-awaiting-signature = UNTERSCHRIFT PRÜFEN
open-awaiting-till = BESTÄTIGUNG DER KASSE FEHLT
open-under-way = NOCH NICHT FERTIG
open-unreadable = NICHT LESBAR
open-reserved = RESERVIERT, NICHT GEBUCHT
and-more = und { $count } weitere

## Warum ein Auftrag nicht ausgeführt wird

refused-amount-differs = die Referenz { $reference } gehört schon zu einem anderen Vorgang ({ $kind } { $amount }); eine neue Referenz verwenden
refused-busy = das Terminal ist mit dem Vorgang { $reference } der Kasse { $till } beschäftigt; warten oder ihn abbrechen
refused-busy-elsewhere = das Terminal ist mit dem Vorgang einer anderen Kasse beschäftigt; danach nochmals versuchen
refused-not-ready = das geht jetzt nicht: { $why }
refused-nothing-typed = es wurde kein Betrag eingegeben: { $why }
refused-no-signature = es ist keine Unterschrift zu vergleichen: { $state }
refused-signature-accepted = die Unterschrift wurde schon angenommen: { $state }
refused-signature-refused = die Unterschrift wurde schon abgelehnt: { $state }
refused-no-confirmation = es ist nichts zu bestätigen: { $state }
refused-all-taken = die Kasse hat schon alles angenommen: { $state }
refused-part-taken = die Kasse hat davon schon { $amount } angenommen: { $state }
refused-nothing-taken = die Kasse hat schon abgelehnt: { $state }
refused-no-receipt = vor dem Ergebnis gibt es keinen Beleg: { $state }
refused-not-possible = das ist nicht möglich: { $why }
refused-parameter = { $name } ist so nicht möglich: { $why }
refused-amount = dieser Betrag ist nicht möglich: { $why }
refused-tip = dieses Trinkgeld ist nicht möglich: { $why }
refused-training-off = der Schulungsmodus ist an diesem Terminal ausgeschaltet; um ihn zu erlauben, allowed = true in [training] setzen
refused-currency = { $wanted } kann nicht belastet werden: dieses Terminal nimmt nur { $terminal }; die Währung weglassen, oder siehe currency in [terminal]
refused-none-yet = die Kasse { $till } hat noch keinen Vorgang
refused-no-such-sale = die Kasse { $till } hat keinen Vorgang mit der Referenz { $reference }
refused-no-close-yet = es gibt noch keinen Tagesabschluss; pos-agent close macht einen
refused-close-not-made = der nächste Tagesabschluss ist noch nicht gemacht; pos-agent close macht ihn
refused-no-such-close = es gibt keinen Tagesabschluss { $number }; GET /v1/closes oder pos-agent close list nennt sie
refused-line = lines[{ $at }] kann nicht gedruckt werden: { $why }
refused-printer = das kann nicht gedruckt werden: { $why }
refused-gateway = das Gateway antwortet nicht: { $why }
refused-journal = das Journal ist nicht benutzbar: { $why }

## Wozu ein Recht fehlt

denied-lacks = { $caller } braucht { $purpose } { $rights }; ergänzen in { $key }
denied-nameless = { $caller } braucht { $purpose } { $rights }; PrivateUsers=no in der Unit des Agenten setzen, dann nennt das System den Benutzer
denied-not-its-till = { $caller } handelt für { $tills } und nicht für die Kasse { $till }; ?till= weglassen
denied-not-its-till-of-peer = { $caller } handelt für { $tills } und nicht für die Kasse { $till }; ergänzen in { $key }
denied-which-till = die Kasse mit ?till= nennen, eine von: { $tills }
denied-operator-required = dafür muss ein Bediener angemeldet sein: eine Sitzung öffnen (POST /v1/sessions) und als Pos-Session senden; in der Shell --operator NAME anfügen
denied-role = { $operator } ist als { $role } angemeldet; das braucht die Rolle { $needs }
one-role = { $first } oder { $other }
denied-stated-operator = operator: hier melden sich Bediener an, die Kasse kann keinen nennen; um das zu erlauben, setzen: { $key }
denied-stated-operator-of-peer = operator: hier melden sich Bediener an, die Kasse kann keinen nennen; um das zu erlauben, die Kasse ergänzen in { $key }
denied-only-at-the-socket = dafür reicht kein Token; am Terminal über den Unix-Socket anfragen, wie pos-agent es tut
one-right = das Recht { $rights }
several-rights = die Rechte { $rights }
one-of-rights = eines der Rechte { $rights }
for-this = dafür
for-other-till = für die Vorgänge einer anderen Kasse
for-earlier-of-other-till = für den Bezug auf den Vorgang einer anderen Kasse
for-unknown-payment = für den Bezug auf eine Zahlung, die dieses Terminal nicht kennt,
for-authentication = für die Angabe, wie eine gespeicherte Karte geprüft ist,
caller-till = die Kasse { $till }
caller-user = der Benutzer { $user }
caller-nameless = ein Benutzer, den das System nicht nennt,
key-of-token = { $key } der [[till.token]] mit till = "{ $till }"
key-of-peer = { $key } der [[till.peer]] mit uid = { $user }
key-of-fleet = { $key } der [[fleet.key]] mit till = "{ $till }"
key-of-user = { $key } einer [[till.peer]] mit uid = { $user }, oder für alle Benutzer des Sockets in rights von [till.socket]
key-of-socket = rights von [till.socket]

## Warum ein Auftrag an der Anmeldung scheitert

operator-wrong-pin = der Name oder die PIN ist falsch
operator-locked = zu viele falsche PINs; in { $seconds } s nochmals versuchen, oder Aufsicht oder Techniker entsperren lassen (pos-agent operator unlock NAME)
operator-pin-under-way = eine andere PIN wird gerade geprüft; nochmals versuchen
operator-session-ended = mit dieser Sitzung ist kein Bediener angemeldet: sie ist beendet oder gehört einer anderen Kasse; neu anmelden (POST /v1/sessions)
operator-supervisor-needed = das muss die Aufsicht bestätigen ({ $command }): bestätigen lassen (POST /v1/approvals) und als Pos-Supervisor senden, oder die Aufsicht meldet sich an
operator-not-approved = die Aufsicht hat diesen Auftrag nicht bestätigt: { $why }
operator-no-supervisor = { $name } gehört nicht zur Aufsicht und kann das nicht bestätigen
operator-unknown = es gibt keinen Bediener { $name }; pos-agent operator list zeigt alle
operator-exists = den Bediener { $name } gibt es schon; eine andere PIN setzen (pos-agent operator pin), oder den Bediener zuerst entfernen
operator-too-many = es gibt { $most } Bediener, mehr sind nicht möglich; zuerst einen entfernen
operator-pin-length = die PIN muss { $digits } Ziffern haben; siehe pin-digits in [operators]
approval-unknown = die Bestätigung ist verbraucht, beendet oder älter als zwei Minuten
approval-other-till = die Bestätigung wurde an einer anderen Kasse gegeben
approval-other-operator = die Bestätigung gilt für einen anderen Bediener
approval-other-command = die Bestätigung gilt für { $approved }, und dies ist { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, Referenz { $reference }
command-of-transaction = , Vorgang { $number }
command-of-payment = , Zahlung { $payment }
command-of-card = , gespeicherte Karte { $registration }
command-with-tip = , mit Trinkgeld
command-typed = , Kartennummer eingetippt

## Einzelheiten: das Terminal

nothing-typed = die Eingabe war leer
reader-in-use = der Kartenleser ist in Gebrauch
amount-being-typed = am Kartenleser wird ein Betrag eingegeben
terminal-stopping = das Terminal wird beendet
no-random-numbers = das System liefert keine Zufallszahlen ({ $why })
command-not-resolved = der Auftrag wurde nicht aufgelöst; nochmals anfragen
pin-not-digested = der Prüfwert der PIN ließ sich nicht berechnen; nochmals versuchen
training-busy = der Schulungsmodus hat zu viel zu tun; nochmals anfragen
training-within = dies ist schon der Schulungsmodus
state-unknown = wie der Vorgang steht, ist erst bekannt, wenn das Journal beschreibbar ist; dann nochmals antworten
no-printer = das Terminal hat keinen Drucker; siehe [[printer]] in der Konfiguration
training-not-printed = Belege des Schulungsmodus werden gezeigt und nie gedruckt
looks-like-card-number = das sieht wie eine Kartennummer aus, die nur in den Kartenleser gehört; einen anderen Wert verwenden

## Einzelheiten: Beträge

above-limit = { $amount } ist über der Grenze des Terminals von { $limit }; siehe max-amount in [terminal]
limit-of-other-currency = das Terminal hat eine Grenze von { $limit } und nimmt keine andere Währung; siehe max-amount in [terminal]
tip-above-amount = das Trinkgeld von { $tip } ist höher als der Betrag von { $amount }; die Eingabe prüfen
total-not-possible = Betrag und Trinkgeld zusammen: { $why }
nothing-given = ohne eine frühere Zahlung, die dieses Terminal kennt, wird nichts ausgezahlt; um es zu erlauben, max-credit-amount in [terminal] setzen
given-in-other-currency = ausgezahlt wird nur in { $currency }; siehe max-credit-amount in [terminal]
above-given-limit = { $amount } ist über der Grenze von { $limit } für Auszahlungen; siehe max-credit-amount in [terminal]

## Einzelheiten: der frühere Vorgang

not-of-training = der Schulungsmodus führt Vorgänge des Schulungsmodus aus, und nur diese
payment-not-of-training = die Zahlung { $payment } ist nicht aus dem Schulungsmodus
payment-of-training = die Zahlung { $payment } ist aus dem Schulungsmodus und hat kein Geld bewegt; "training" in der Anfrage ergänzen
transaction-not-of-training = der Vorgang { $number } ist nicht aus dem Schulungsmodus
transaction-of-training = der Vorgang { $number } ist aus dem Schulungsmodus und hat kein Geld bewegt
of-another-account = der Vorgang { $number } begann mit einem anderen Konto beim Gateway (anderes entity-id in [gateway]); mit diesem Konto kann ihm keiner folgen
no-transaction-number = dieses Terminal hat keinen Vorgang { $number }
is-reversal = die Zahlung { $payment } ist die selbsttätige Rücknahme des Vorgangs { $number }; ihr kann nichts folgen
amount-needed = ein Betrag ist nötig, weil dieses Terminal die Zahlung nicht kennt
needs-more = die Art { $kind } braucht mehr Felder
no-id = { $name } muss aus 32 Buchstaben und Ziffern bestehen
rest-references-used = beide Referenzen für die Erstattung des Rests sind vergeben; alles annehmen und den Rest einzeln erstatten
no-decision-awaited = der Vorgang { $number } wartet auf keine Entscheidung; pos-agent status nennt die, die warten
transaction-ended = der Vorgang { $number } ist beendet
older-than-copy = Vorgang { $number } ist älter als der Befund, dass dieses Journal eine alte Kopie ist: seine Erstattungen und Abrechnungen können hier fehlen; im Back-Office des Gateways erledigen
not-compared-yet = das Gateway hat noch nicht gesagt, ob dieses Journal eine alte Kopie ist, in der Erstattungen fehlen; gleich nochmals versuchen
list-incomplete = die Liste des Gateways ist nicht vollständig, das Journal kann eine alte Kopie sein; nur einer Zahlung, die nachgefragt werden kann, kann etwas folgen
cannot-be-looked-up = das Journal kann eine alte Kopie sein, und der Vorgang { $number } kann nicht nachgefragt werden ({ $why }); später nochmals versuchen
not-listed-by-gateway = das Gateway führt ihn nicht auf
linked-unknown = das Gateway hat { $count } Vorgänge zum Vorgang { $number }, die dieses Journal nicht kennt; im Back-Office des Gateways erledigen

## Was der Status meldet: der Kartenleser; { $why } ist der Satz des Geräts mit der Abhilfe

attention-reader-opening = der Kartenleser wird geöffnet; kurz warten
attention-reader-absent = der Kartenleser ist nicht zu finden: { $why }
attention-reader-other-device = statt des Kartenlesers ist ein anderes Gerät angeschlossen: { $why }
attention-reader-not-listed = dieser Kartenleser gehört nicht zu diesem Terminal: { $why }
attention-reader-no-keys = der Kartenleser hat keine Schlüssel: { $why }
attention-reader-clear-data = der Kartenleser sendet Kartendaten unverschlüsselt und wird nicht benutzt: { $why }
attention-reader-not-encrypting = der Kartenleser verschlüsselt nicht, wie er muss, und wird nicht benutzt: { $why }
attention-reader-flooding = der Kartenleser sendet ohne Ende: { $why }
attention-reader-restarting = der Kartenleser startet neu: { $why }
attention-reader-card-left = die Karte der letzten Zahlung steckt noch im Leser: herausnehmen
attention-reader-keys-low = der Kartenleser hat Schlüssel für noch { $count } Zahlungen: neue einspielen lassen

## Was der Status meldet: das Gateway

attention-gateway-unreachable = das Gateway ist nicht erreichbar: { $why }
attention-gateway-no-answer = das Gateway antwortet nicht: { $why }
attention-gateway-out-of-order = das Gateway hat eine Störung: { $why }
attention-gateway-throttles = das Gateway hat zu viele Anfragen; kurz warten
attention-gateway-refuses-request = das Gateway hat den letzten Vorgang als ungültig abgelehnt{ $detail }; eine andere Karte hilft nicht; entity-id in [gateway] und die Felder der Kasse prüfen
attention-gateway-refuses-token = das Gateway nimmt unser Token nicht an: { $why }
attention-gateway-untrusted-certificate = dem Zertifikat des Gateways ist nicht zu trauen: { $why }
attention-gateway-certificate-expired = das Zertifikat des Gateways ist abgelaufen: { $why }
attention-gateway-own-certificate-refused = das Gateway nimmt unser Zertifikat nicht an: { $why }
attention-gateway-own-certificate-expired = unser Zertifikat für das Gateway ist abgelaufen: { $why }
attention-gateway-not-usable = das Gateway ist nicht zu gebrauchen: { $why }
attention-gateway-certificate-ends = das Zertifikat des Gateways läuft ab: { $why }
attention-ca-certificate-ends = das Zertifikat der CA läuft ab: { $why }
attention-own-certificate-ends = unser Zertifikat läuft ab: { $why }
attention-token-ends = unser Token läuft ab: { $why }
attention-gateway-files-unused = geänderte Dateien für das Gateway passen nicht, die früheren gelten weiter: { $why }

## Was der Status meldet: Drucker

attention-printer-no-paper = der Drucker{ $name } hat kein Papier: { $why }
attention-printer-paper-low = der Drucker{ $name } hat fast kein Papier mehr: { $why }
attention-printer-cover-open = der Drucker{ $name } ist offen: { $why }
attention-printer-paper-jam = der Drucker{ $name } hat einen Papierstau: { $why }
attention-printer-error = der Drucker{ $name } ist gestört: { $why }
attention-printer-pausing = der Drucker{ $name } macht Pause: { $why }
attention-printer-offline = der Drucker{ $name } ist offline: { $why }
attention-printer-absent = der Drucker{ $name } ist nicht erreichbar: { $why }
attention-printer-interrupted = der Drucker{ $name } brach in einem Beleg ab: { $why }
attention-printer-silent = der Drucker{ $name } meldet seinen Zustand nicht: { $why }

## Was der Status meldet: Uhren und Journal

attention-clock-untrusted = weder die Uhr des Terminals noch die des Lesers kann stimmen; die Uhr des Terminals stellen (timedatectl) und kurz warten
attention-clock-behind-journal = weder die Uhr des Terminals noch die des Lesers kann stimmen: die des Terminals zeigt { $board }, und der letzte Eintrag des Journals ist von { $latest }; die Uhr des Terminals stellen (timedatectl) und kurz warten, oder, wenn sie stimmt, siehe pos-agent journal set-clock-back --help
attention-clocks-differ = die Uhren von Gateway und Terminal gehen { $seconds } s auseinander; die des Terminals stellen (timedatectl); wenn sie stimmt, dem Betreiber des Gateways sagen
attention-reader-clock-differs = die Uhren von Gateway und Kartenleser, dessen Uhr hier gilt, gehen { $seconds } s auseinander; die des Terminals stellen (timedatectl); wenn die des Kartenlesers stimmt, dem Betreiber des Gateways sagen
attention-journal-full = das Journal ist voll: { $why }
attention-journal-nearly-full = der Datenträger des Journals hat noch { $free } MiB frei; Platz schaffen (df -h, journalctl --vacuum-size=50M) und nie das Journal löschen
attention-journal-cannot-be-written = das Journal ist nicht beschreibbar: { $why }
attention-journal-old-copy = dieses Journal ist eine alte Kopie: { $why }; frühere offene Vorgänge warten auf pos-agent settle NUMMER --keep oder --reverse
attention-journal-was-old-copy = dieses Journal war eine alte Kopie: von Vorgängen bis Nummer { $number } können Erstattungen, Stornos und Abrechnungen fehlen; diese im Back-Office des Gateways erledigen
attention-journal-not-compared = das Gateway hat nicht gesagt, ob dieses Journal eine alte Kopie ist ({ $why }); bis dahin gibt es keine Erstattung, Abrechnung und Gutschrift, und frühere Rücknahmen warten; kann es nicht nach Datum gefragt werden, query-by-date = false in [gateway.assumptions] setzen
attention-journal-list-incomplete = das Gateway hat nicht gesagt, ob dieses Journal eine alte Kopie ist ({ $why }); bis dahin gibt es keine Gutschrift, frühere Rücknahmen warten, und was einer früheren Zahlung folgt, wartet auf deren Nachfrage; kann es nicht nach Datum gefragt werden, query-by-date = false in [gateway.assumptions] setzen
attention-journal-began-anew = dieses Journal ist neu, und das Gateway hat { $count } Zahlungen dieses Terminals aus den letzten Tagen: das Journal des früheren Terminals übernehmen (pos-agent journal adopt DATEI)
copy-lacks-references = das Gateway hat { $count } Referenzen dieses Terminals, die das Journal nicht kennt (die letzte steht im Log)
journal-is-old-copy = dieses Journal ist eine alte Kopie: { $why }
gateway-time-unknown = seine Uhrzeit ist nicht bekannt: { $why }; siehe probe-path in [gateway.assumptions]
sold-on-another-journal = dieses Terminal hat mit einem anderen Journal kassiert ({ $why }): bis jemand entscheidet, wird nichts belastet. Den Agenten anhalten; dann das richtige Journal zurücklegen oder übernehmen (pos-agent journal adopt DATEI); ist es verloren, dieses annehmen (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = alles wurde in das Journal kopiert: den Agenten neu starten, dann ist nichts verloren
rescued-into-file = offene Vorgänge und die letzten sind in { $file }: das Journal zurücklegen, wenn es verschoben wurde. Ist es verloren, den Agenten anhalten, die Datei an seiner Stelle wegräumen, { $file } übernehmen (pos-agent journal adopt { $file }) und den Agenten starten
rescued-nothing = das Journal hatte keinen Vorgang: den Agenten neu starten

## Was der Status meldet: Vorgänge und Kassen

attention-sale-unconfirmed = Vorgang { $reference } der Kasse { $till }: { $state }
attention-sale-left-alone = der Vorgang { $reference } der Kasse { $till } ist offen: { $why }
attention-signature-awaited = der Vorgang { $reference } der Kasse { $till } wartet: seine Unterschrift vergleichen
attention-confirmation-awaited = der Vorgang { $reference } wartet, bis die Kasse { $till } ihn bestätigt
attention-till-port-closed = Kassen mit Token können sich nicht verbinden: { $why }
attention-fleet-message = Nachricht von { $author }: { $text }
attention-fleet-settings-trial = Einstellungen der Flotte, Version { $version }, werden erprobt; das Terminal kehrt von selbst zurück, wenn sie nicht in zehn Minuten bestätigt sind
attention-fleet-settings-returned = das Terminal ist von den Einstellungen der Flotte, Version { $version }, zurückgekehrt: { $why }
attention-fleet-settings-drift = am Terminal geändert, daher gelten die Werte der Flotte nicht: { $settings }; ausführen: pos-agent check
attention-fleet-settings-unusable = die Einstellungen der Flotte werden nicht benutzt: { $why }; um sie zu entfernen, den Agenten anhalten und den Ordner fleet neben dem Journal löschen
attention-fleet-keys-unusable = die Befehlsschlüssel der Flotte sind nicht benutzbar, daher wird kein Befehl angenommen: { $why }; für die der Konfiguration den Agenten anhalten und den Ordner fleet neben dem Journal löschen
left-as-training = er ist aus dem Schulungsmodus und hat kein Geld bewegt: nichts davon geht an das Gateway
left-to-another-account = er begann mit einem anderen Konto beim Gateway (anderes entity-id in [gateway])
left-to-another-terminal = er ist vom Terminal { $theirs }, und dies ist { $ours }: hier kann er nicht geklärt werden; id in [terminal] berichtigen, wenn dies { $theirs } ist

## Die Geräte im Status

reader-is = { $model } { $firmware }, Seriennummer { $serial }
gateway-not-asked-yet = noch nicht gefragt
gateway-connected = verbunden
gateway-answers = antwortet
printer-is-ready = in Ordnung
printer-not-used-yet = noch nicht benutzt
printer-one-waits = { $why }; 1 Beleg wartet
printer-some-wait = { $why }; { $count } Belege warten
clock-of-board = die des Terminals
clock-of-reader = die des Kartenlesers, weil die des Terminals nicht stimmen kann
journal-written = wird geschrieben

## Gründe: Karte, Kunde und Geschäft

bank-declined =
    .cashier = Die Bank hat abgelehnt{ $detail }; andere Karte oder anderen Weg versuchen.
    .customer = VON DER BANK ABGELEHNT{ $detail }
    .technician = Die Bank oder das Gateway für sie hat abgelehnt{ $detail }; am Terminal fehlt nichts.
insert-and-pin =
    .cashier = Die Bank will die PIN{ $detail }; neu beginnen und die Karte stecken lassen.
    .customer = BITTE KARTE STECKEN
    .technician = Der Herausgeber nimmt für diese Zahlung kein Auflegen (insert-and-pin){ $detail }; am Terminal fehlt nichts.
do-not-try-again =
    .cashier = Die Bank hat endgültig abgelehnt{ $detail }; diese Karte nicht noch einmal versuchen.
    .customer = VON DER BANK ABGELEHNT{ $detail }
    .technician = Der Herausgeber genehmigt diese Karte nicht mehr (do-not-try-again){ $detail }; am Terminal fehlt nichts.
card-declined =
    .cashier = Die Karte selbst hat abgelehnt; um eine andere Karte bitten.
    .customer = VON DER KARTE ABGELEHNT
    .technician = Der Chip hat von sich aus abgelehnt (AAC), bevor etwas gesendet wurde{ $detail }; am Terminal fehlt nichts.
customer-cancelled =
    .cashier = Der Kunde hat abgebrochen oder die Karte weggenommen; war das nicht gewollt, neu beginnen.
    .customer = ABBRUCH DURCH KUNDEN
    .technician = Abbruchtaste am Leser gedrückt oder Karte weggenommen{ $detail }; nichts zu tun.
till-cancelled =
    .cashier = An der Kasse abgebrochen; war das nicht gewollt, neu beginnen.
    .customer = ABBRUCH DURCH GESCHÄFT
    .technician = Die Kasse oder jemand an ihr hat abgebrochen{ $detail }; nichts zu tun.
terminal-stopped =
    .cashier = Das Terminal wurde gerade abgeschaltet; neu beginnen, wenn es wieder läuft.
    .customer = TERMINAL ABGESCHALTET
    .technician = Der Agent wurde gerade angehalten{ $detail }; journalctl --unit pos-agent zeigt, von wem.
card-timeout =
    .cashier = Es kam rechtzeitig keine Karte; neu beginnen.
    .customer = KEINE KARTE VORGELEGT
    .technician = Innerhalb von card-timeout-s in [terminal] kam keine Karte{ $detail }; erhöhen, wenn Kunden länger brauchen.
tip-timeout =
    .cashier = Kein Trinkgeld gewählt; neu beginnen.
    .customer = TRINKGELD NICHT BEANTWORTET
    .technician = Die Frage nach dem Trinkgeld wurde nicht innerhalb von card-timeout-s aus [terminal] beantwortet{ $detail }; erhöhen, wenn Kunden länger brauchen.
card-unreadable =
    .cashier = Die Karte ist nicht lesbar; um eine andere Karte bitten.
    .customer = KARTE NICHT LESBAR
    .technician = Die Karte war auf keinem erlaubten Weg lesbar{ $detail }; bei vielen Karten den Leser reinigen.
card-gone =
    .cashier = Die Karte wurde vor dem Senden herausgenommen; neu beginnen und die Karte stecken lassen.
    .customer = KARTE ZU FRÜH ENTNOMMEN
    .technician = Das Gateway hatte zu viele Anfragen, und die Karte war weg, bevor es Zeit hatte{ $detail }; wenn oft, beim Betreiber mehr beantragen.
card-left-in =
    .cashier = Die Karte der letzten Zahlung steckte noch im Leser; herausnehmen, dann neu beginnen.
    .customer = KARTE STECKT NOCH
    .technician = Der Kartenschlitz wurde nicht in 30 s leer{ $detail }; steckt keine Karte, den Leser reinigen.
tip-not-possible =
    .cashier = Betrag und Trinkgeld zusammen gehen nicht{ $detail }; mit kleinerem Trinkgeld neu beginnen.
    .customer = TRINKGELD NICHT MÖGLICH
    .technician = Betrag und Trinkgeld zusammen sind nicht möglich{ $detail }; siehe max-amount in [terminal] und sale in [operators.supervisor-above].

## Gründe: das Terminal

reader-lost =
    .cashier = Der Kartenleser ist weg; Kabel und Strom prüfen, dann neu beginnen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser ist weg oder tut nicht, was er muss{ $detail }; Kabel und Strom prüfen, dann pos-agent doctor.
reader-not-ready =
    .cashier = Der Kartenleser ist nicht bereit; Kabel und Strom prüfen, dann neu beginnen.
    .customer = LESER NICHT BEREIT
    .technician = Der Leser ist nicht bereit{ $detail }; Kabel und Strom prüfen, dann pos-agent doctor.
reader-absent =
    .cashier = Der Kartenleser ist nicht zu finden; Kabel und Strom prüfen, dann neu beginnen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Anschluss des Lesers lässt sich nicht öffnen{ $detail }; Kabel, Strom und port in [reader] prüfen.
reader-other-device =
    .cashier = Statt des Kartenlesers ist ein anderes Gerät angeschlossen; den Leser anschließen oder den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Was am Anschluss antwortet, ist kein solcher Leser{ $detail }; port und protocol in [reader] prüfen.
reader-not-listed =
    .cashier = Dieser Kartenleser gehört nicht zu diesem Terminal; den richtigen anschließen oder den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser steht nicht in serials von [reader]{ $detail }; den richtigen anschließen oder, wenn er hierher gehört, seine Nummer eintragen.
reader-restarting =
    .cashier = Der Kartenleser startet neu; kurz warten, dann neu beginnen.
    .customer = KARTENLESER NICHT BEREIT
    .technician = Der Leser startet nach einer Störung neu{ $detail }; wenn oft, prüfen lassen.
reader-flooding =
    .cashier = Der Kartenleser arbeitet nicht, wie er muss; aus- und einschalten oder den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser sendet ohne Ende{ $detail }; Kabel und Strom prüfen, sonst austauschen.
reader-no-keys =
    .cashier = Der Kartenleser nimmt keine Karten mehr an; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser hat keinen Schlüssel mehr{ $detail }; neue Schlüssel einspielen lassen.
reader-clear-data =
    .cashier = Der Kartenleser schützt Karten nicht, wie er muss, und wird nicht benutzt; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser schickt Kartendaten im Klartext{ $detail }; gesendet und behalten wurde nichts: austauschen lassen.
reader-not-encrypting =
    .cashier = Der Kartenleser schützt Karten nicht, wie er muss, und wird nicht benutzt; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser verschlüsselt nicht mehr oder benutzt einen Schlüssel zweimal{ $detail }; gesendet und behalten wurde nichts: wenn wieder, austauschen lassen.
reader-amount-differs =
    .cashier = Der Kartenleser hat mit einem anderen Betrag gearbeitet, es wurde nichts gesendet; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser hat einen anderen Betrag oder eine andere Währung signiert als verlangt (9F02, 5F2A){ $detail }; den Leser prüfen lassen.
reader-pin-missing =
    .cashier = Der Kartenleser hat die PIN nicht geliefert; neu beginnen und, wenn es wieder geschieht, den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser meldet eine PIN-Eingabe und liefert keinen PIN-Block{ $detail }; seinen PIN-Schlüssel prüfen lassen.
typing-not-possible =
    .cashier = Kartennummern lassen sich an diesem Terminal nicht eintippen; um die Karte bitten.
    .customer = EINTIPPEN NICHT MÖGLICH
    .technician = Kartennummern dürfen oder können an diesem Leser nicht eingetippt werden{ $detail }; siehe manual-entry in [reader].
terminal-restarted =
    .cashier = Das Terminal ist vor dem Senden neu gestartet; neu beginnen.
    .customer = TERMINAL NEU GESTARTET
    .technician = Der Agent ist neu gestartet, bevor etwas gesendet wurde{ $detail }; das Log davor zeigt, warum.
clock-untrusted =
    .cashier = Das Terminal kennt die Uhrzeit nicht und nimmt keine Zahlungen an; den Techniker rufen.
    .customer = TERMINAL NICHT BEREIT
    .technician = Weder die Uhr der Platine noch die des Lesers kann stimmen{ $detail }; Uhr stellen, Netzwerkzeit oder Batterie prüfen.
request-not-possible =
    .cashier = Das Terminal kann das nicht senden; den Techniker rufen.
    .customer = NICHT MÖGLICH
    .technician = Ein Wert der Anfrage passt nicht zur Schnittstelle des Gateways{ $detail }; an der Kasse oder in der Konfiguration berichtigen.

## Gründe: der Weg zum Gateway

gateway-unreachable =
    .cashier = Keine Verbindung zur Bank; das Netzwerk prüfen, dann neu beginnen.
    .customer = KEINE VERBINDUNG
    .technician = Keine Verbindung zum Gateway{ $detail }; Netzwerk, Nameserver, Firewall und url in [gateway] prüfen, dann pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = Die Verbindung zur Bank ist nicht sicher, es wurde nichts gesendet; den Techniker rufen.
    .customer = KEINE SICHERE VERBINDUNG
    .technician = Dem Zertifikat des Gateways ist nicht zu trauen{ $detail }; Uhr sowie ca-file und ca-pins in [gateway] prüfen.
gateway-certificate-expired =
    .cashier = Die Verbindung zur Bank ist nicht sicher, es wurde nichts gesendet; den Techniker rufen.
    .customer = KEINE SICHERE VERBINDUNG
    .technician = Das Zertifikat des Gateways ist abgelaufen{ $detail }; die Uhr prüfen, dann dem Betreiber sagen.
gateway-own-certificate-refused =
    .cashier = Die Bank nimmt dieses Terminal nicht an; den Techniker rufen.
    .customer = KEINE VERBINDUNG
    .technician = Das Gateway nimmt unser Zertifikat nicht oder verlangt eines{ $detail }; client-certificate-file in [gateway] prüfen.
gateway-own-certificate-expired =
    .cashier = Die Bank nimmt dieses Terminal nicht mehr an; den Techniker rufen.
    .customer = KEINE VERBINDUNG
    .technician = Das Gateway lehnt unser Zertifikat ab, es ist abgelaufen{ $detail }; client-certificate-file in [gateway] und den Schlüssel ersetzen.
gateway-not-usable =
    .cashier = Die Verbindung zur Bank funktioniert nicht, es wurde nichts gesendet; den Techniker rufen.
    .customer = KEINE VERBINDUNG
    .technician = Der Server ist als Gateway nicht zu gebrauchen{ $detail }; url und die Dateien in [gateway] prüfen, dann pos-agent doctor.
gateway-refuses-token =
    .cashier = Die Bank nimmt dieses Terminal nicht an; den Techniker rufen.
    .customer = TERMINAL NICHT ZUGELASSEN
    .technician = Das Gateway weist das Zugangstoken ab{ $detail }; ein neues ausstellen lassen und dort ablegen, wo [gateway] es erwartet.
gateway-wrong-address =
    .cashier = Die Bank ist dort nicht zu finden, wo dieses Terminal sie sucht; den Techniker rufen.
    .customer = DIENST NICHT VERFÜGBAR
    .technician = Unter der gefragten Adresse hat das Gateway nichts{ $detail }; url in [gateway] und die Pfade in [gateway.assumptions] prüfen.
gateway-throttles =
    .cashier = Die Bank ist überlastet; kurz warten, dann neu beginnen.
    .customer = DIENST ÜBERLASTET
    .technician = Das Gateway hat zu viele Anfragen und diese nicht bearbeitet{ $detail }; wenn oft, beim Betreiber mehr beantragen.
never-received =
    .cashier = Bei der Bank ist nichts angekommen; neu beginnen.
    .customer = NICHT BEI DER BANK ANGEKOMMEN
    .technician = Das Gateway kennt den Vorgang nicht, auch nach aller Zeit, in der er hätte kommen können{ $detail }; das Netzwerk prüfen.

## Gründe: womit ein Zweifel am Geld begann

gateway-no-answer =
    .cashier = Die Bank hat nicht geantwortet; geschieht es wieder, das Netzwerk prüfen.
    .customer = KEINE ANTWORT DER BANK
    .technician = Die Anfrage wurde gesendet, es kam keine Antwort{ $detail }; das Netzwerk prüfen.
gateway-out-of-order =
    .cashier = Bei der Bank gab es eine Störung; geschieht es wieder, dem Techniker sagen.
    .customer = DIENST GESTÖRT
    .technician = Das Gateway hat versagt{ $detail }; den Betreiber fragen.
answer-unclear =
    .cashier = Die Antwort der Bank ist unklar; geschieht es wieder, dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Die Antwort des Gateways ist nicht lesbar oder widerspricht sich{ $detail }; den Betreiber fragen.
code-unknown =
    .cashier = Dieses Terminal kennt die Antwort der Bank nicht; dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Der Ergebniscode des Gateways steht auf keiner Liste{ $detail }; beim Betreiber erfragen und in [gateway.assumptions] ergänzen.
decline-in-doubt =
    .cashier = Die Bank hat auf ungewöhnliche Art abgelehnt; geschieht es wieder, dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Das Gateway hat abgelehnt, aber nicht mit HTTP 400{ $detail }, und wurde deshalb gefragt; lehnt es immer so ab, siehe believe-declines-at-200 in [gateway.assumptions].
another-payment-answered =
    .cashier = Die Bank hat zu einer anderen Zahlung geantwortet; dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Das Gateway hat zu einer anderen Zahlung, Referenz oder Vorgangsart geantwortet{ $detail }; den Betreiber fragen.
not-decided-in-time =
    .cashier = Die Bank hat zu lange gebraucht; geschieht es wieder, dem Techniker sagen.
    .customer = BANK ZU LANGSAM
    .technician = Das Gateway hat nicht rechtzeitig entschieden{ $detail }; den Betreiber fragen oder answer-timeout-ms in [gateway] erhöhen.
another-amount-approved =
    .cashier = Die Bank hat einen anderen Betrag genehmigt{ $detail }; dem Techniker sagen.
    .customer = FALSCHER BETRAG GENEHMIGT{ $detail }
    .technician = Das Gateway hat einen anderen Betrag oder eine andere Währung genehmigt als verlangt{ $detail }; den Betreiber fragen.
amount-unreadable =
    .cashier = Die Bank hat einen Betrag genehmigt, der nicht lesbar ist; dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Das Gateway hat einen Betrag genehmigt, der nicht lesbar ist{ $detail }; den Betreiber fragen.
chip-contradicted =
    .cashier = Die Bank hat dem Terminal etwas anderes gesagt als der Karte; geschieht es wieder, dem Techniker sagen.
    .customer = UNKLARE ANTWORT DER BANK
    .technician = Ergebnis des Gateways und seine Antwort an den Chip (8A) widersprechen sich{ $detail }; den Betreiber fragen.
partial-not-taken =
    .cashier = Die Bank hat nur einen Teil genehmigt{ $detail }, den diese Kasse nicht annimmt; andere Karte oder anderen Weg versuchen.
    .customer = NUR EIN TEIL GENEHMIGT{ $detail }
    .technician = Nur ein Teil wurde genehmigt{ $detail }, und die Kasse nimmt keinen Teil an; nichts zu tun.
card-refused =
    .cashier = Die Karte hat abgelehnt, obwohl die Bank genehmigt hatte; um eine andere Karte bitten.
    .customer = VON DER KARTE ABGELEHNT
    .technician = Der Chip hat nach der Genehmigung der Bank abgelehnt (AAC){ $detail }; bei vielen Karten den Betreiber des Gateways fragen.
card-lost =
    .cashier = Die Karte wurde zu früh herausgenommen; nächstes Mal stecken lassen, bis der Leser es sagt.
    .customer = KARTE ZU FRÜH ENTNOMMEN
    .technician = Karte oder Leser waren weg, bevor der Chip die Genehmigung bestätigt hat{ $detail }; wenn oft, das Kabel des Lesers prüfen.
restarted-before-answer =
    .cashier = Das Terminal ist neu gestartet, bevor die Antwort der Bank gesichert war; geschieht es wieder, dem Techniker sagen.
    .customer = TERMINAL NEU GESTARTET
    .technician = Der Agent ist neu gestartet, bevor die Antwort des Gateways gesichert war{ $detail }; das Log davor zeigt, warum.
restarted-before-card =
    .cashier = Das Terminal ist neu gestartet, bevor die Karte bestätigt hat; geschieht es wieder, dem Techniker sagen.
    .customer = TERMINAL NEU GESTARTET
    .technician = Der Agent ist neu gestartet, bevor der Chip die Genehmigung bestätigt hat{ $detail }; das Log davor zeigt, warum.
signature-refused =
    .cashier = Die Unterschrift wurde an der Kasse abgelehnt; um eine andere Karte bitten.
    .customer = UNTERSCHRIFT NICHT AKZEPTIERT
    .technician = Die Unterschrift wurde an der Kasse abgelehnt{ $detail }; nichts zu tun.
signature-not-checked =
    .cashier = Niemand hat die Unterschrift rechtzeitig verglichen; nächstes Mal gleich annehmen oder ablehnen.
    .customer = UNTERSCHRIFT NICHT GEPRÜFT
    .technician = Innerhalb von signature-timeout-s in [terminal] hat niemand die Unterschrift verglichen{ $detail }; erhöhen, wenn es länger dauert.
not-taken =
    .cashier = Die Kasse hat die Zahlung nicht angenommen; neu beginnen, wenn sie noch gewünscht ist.
    .customer = VOM GESCHÄFT NICHT ANGENOMMEN
    .technician = Die Kasse hat gemeldet, dass sie das Genehmigte nicht annimmt{ $detail }; warum, steht in ihrem Protokoll.
till-silent =
    .cashier = Die Kasse hat die Zahlung nicht rechtzeitig bestätigt; nach der Kasse sehen, dann neu beginnen.
    .customer = VOM GESCHÄFT NICHT BESTÄTIGT
    .technician = Die Kasse hat nicht innerhalb von till-confirm-s in [terminal] gesagt, ob sie annimmt{ $detail }; Kasse und Leitung prüfen oder die Zeit erhöhen.
taken-back-by-person =
    .cashier = Von Hand zurückgenommen, weil das Journal eine alte Kopie ist.
    .customer = VOM GESCHÄFT ZURÜCKGENOMMEN
    .technician = Mit pos-agent settle --reverse zurückgenommen{ $detail }; das Journal war eine alte Kopie.
not-sent-in-copy =
    .cashier = Als eine alte Kopie des Journals entstand, war noch nichts gesendet; den Techniker fragen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, war noch nichts gesendet{ $detail }; nie ohne Not mit einer Kopie starten.
open-in-copy =
    .cashier = In alter Journalkopie unbestätigt; Techniker holen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, war es noch nicht bestätigt{ $detail }; beim Gateway nachsehen, denn das Terminal sendet es nicht noch einmal.
signature-in-copy =
    .cashier = Als eine alte Kopie des Journals entstand, wurde die Unterschrift gerade verglichen; den Techniker fragen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, wurde die Unterschrift gerade verglichen{ $detail }; nie ohne Not mit einer Kopie starten.
till-in-copy =
    .cashier = Als eine alte Kopie des Journals entstand, wurde gerade die Kasse gefragt; den Techniker fragen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, wurde gerade die Kasse gefragt, ob sie annimmt{ $detail }; nie ohne Not mit einer Kopie starten.

## Gründe: warum ein Zweifel noch nicht geklärt ist

gateway-cannot-be-asked =
    .cashier = Die Bank ist nicht erreichbar; das Netzwerk prüfen, sie wird wieder gefragt.
    .customer = KEINE VERBINDUNG
    .technician = Das Gateway kann nicht gefragt werden, was daraus wurde{ $detail }; das Netzwerk prüfen, dann pos-agent doctor.
till-not-heard =
    .cashier = Die Kasse hat noch nicht bestätigt; auf die Kasse warten.
    .customer = GESCHÄFT BESTÄTIGT NOCH
    .technician = Die Kasse hat noch nicht gesagt, ob sie annimmt{ $detail }; sie hat dafür till-confirm-s in [terminal].
not-decided-yet =
    .cashier = Die Bank hat noch nicht entschieden; sie wird wieder gefragt.
    .customer = BANK ENTSCHEIDET NOCH
    .technician = Das Gateway hat noch nicht entschieden{ $detail }; es wird wieder gefragt.
not-listed-yet =
    .cashier = Die Bank weiß noch nichts davon; sie wird wieder gefragt.
    .customer = DER BANK NOCH NICHT BEKANNT
    .technician = Das Gateway kennt den Vorgang (noch) nicht{ $detail }; es wird gefragt, so lange absence-final-after-h in [gateway.assumptions] sagt.
reversal-not-listed =
    .cashier = Die Rücknahme ist bei der Bank noch nicht zu sehen; sie wird wieder gefragt.
    .customer = WIRD ZURÜCKGENOMMEN
    .technician = Das Gateway kennt die Rücknahme (noch) nicht{ $detail }; nach resend-after-s in [gateway] wird sie wieder gesendet.
reversal-on-its-way =
    .cashier = Es wird gerade zurückgenommen; die Bank wird wieder gefragt.
    .customer = WIRD ZURÜCKGENOMMEN
    .technician = Eine früher gesendete Rücknahme kann noch ausgeführt werden{ $detail }; das wird nachgesehen.
reversal-not-answered =
    .cashier = Die Rücknahme ging noch nicht; sie wird wieder versucht.
    .customer = WIRD ZURÜCKGENOMMEN
    .technician = Eine Rücknahme ließ sich nicht senden oder hat keine Antwort{ $detail }; sie wird gesucht und wieder versucht.
reversal-held-back =
    .cashier = Vielleicht ist es schon zurückgegeben; das wird zuerst nachgesehen.
    .customer = WIRD ZURÜCKGENOMMEN
    .technician = Die Rücknahme wartet, bis klar ist, ob die Zahlung anders zurückgegeben wurde{ $detail }; das wird nachgesehen.
earlier-try-open =
    .cashier = Ein früherer Versuch kann noch ausgeführt werden; die Bank wird wieder gefragt.
    .customer = WIRD GEKLÄRT
    .technician = Ein Versuch wurde abgelehnt, und ein früherer kann noch ausgeführt werden{ $detail }; das wird nachgesehen.
stray-answer =
    .cashier = Es kam eine Antwort, die zu etwas anderem gehört; die Bank wird wieder gefragt.
    .customer = WIRD GEKLÄRT
    .technician = Es kam eine Antwort, die zu einer anderen Anfrage gehört{ $detail }; geschieht es wieder, den Betreiber des Gateways fragen.

## Gründe: warum ein Mensch nachsehen muss

reversal-refused =
    .cashier = Die Bank weigert sich, es zurückzunehmen; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway lehnt die Rücknahme ab{ $detail }; den Betreiber die Zahlung zurücknehmen lassen.
another-amount-done =
    .cashier = Die Bank hat einen anderen Betrag ausgeführt; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway hat einen anderen Betrag ausgeführt oder zurückgenommen als verlangt{ $detail }; den Rest mit dem Betreiber klären.
reversed-in-part =
    .cashier = Nur ein Teil wurde zurückgenommen{ $detail }; der Techniker klärt es mit der Bank.
    .customer = NUR TEILWEISE ZURÜCKGENOMMEN{ $detail }
    .technician = Das Gateway hat nur einen Teil zurückgenommen{ $detail }; den Rest mit dem Betreiber klären.
another-kind-listed =
    .cashier = Bei der Bank steht unter dieser Referenz etwas anderes; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway führt den Vorgang als andere Art{ $detail }; den Betreiber fragen, was es ist.
list-contradicts =
    .cashier = Die Auskünfte der Bank widersprechen sich; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Listen und Antworten des Gateways widersprechen sich{ $detail }; den Betreiber fragen, was stimmt.
not-listed-any-more =
    .cashier = Die Bank hat genehmigt und weiß nichts mehr davon; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway hat genehmigt und führt den Vorgang nicht mehr{ $detail }; den Betreiber fragen, was daraus wurde.
whose-is-not-said =
    .cashier = Die Bank sagt nicht, zu welcher Zahlung es gehört; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway sagt nicht, wem oder zu welcher Zahlung ein Vorgang gehört{ $detail }; den Betreiber fragen.
rest-not-given-back =
    .cashier = Der Teil, den die Kasse nicht angenommen hat, ist nicht erstattet{ $detail }; selbst erstatten, unter neuer Referenz.
    .customer = NICHT ERSTATTET
    .technician = Die Erstattung dessen, was die Kasse nicht annahm, wurde abgelehnt oder war nicht möglich{ $detail }; den Rest mit pos-agent refund erstatten.
rest-given-back-in-part =
    .cashier = Was die Kasse nicht angenommen hat, ist nur zum Teil erstattet{ $detail }; was fehlt, selbst erstatten, unter neuer Referenz.
    .customer = NUR TEILWEISE ERSTATTET{ $detail }
    .technician = Die Erstattung dessen, was die Kasse nicht annahm, wurde nur zum Teil genehmigt{ $detail }; was fehlt, mit pos-agent refund erstatten.
done-twice =
    .cashier = Die Bank hat es zweimal ausgeführt; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway hat es zweimal ausgeführt{ $detail }; eines beim Betreiber rückgängig machen lassen.
second-payment =
    .cashier = Bei der Bank steht eine zweite Zahlung; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Gateway führt neben der behaltenen eine zweite Zahlung{ $detail }; sie mit ihrer ID stornieren.
old-copy =
    .cashier = Das Terminal läuft mit einer alten Kopie seines Journals und weiß nicht, was daraus wurde; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Das Journal ist eine alte Kopie und weiß nicht, was aus dieser Transaktion wurde{ $detail }; beim Gateway oder auf den Belegen herausfinden, ob bezahlt wurde, dann pos-agent settle NUMMER --keep oder --reverse.
given-back-by-id =
    .cashier = Vielleicht ist es schon zurückgegeben; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Die Zahlung wurde vielleicht schon mit ihrer ID zurückgegeben{ $detail }; beim Gateway nachsehen, dann den Rest klären.
not-settled-here =
    .cashier = Es wurde mit anderen Einstellungen dieses Terminals begonnen und wartet auf sie; den Techniker rufen.
    .customer = WIRD GEKLÄRT
    .technician = Das Terminal kann es mit den Einstellungen von heute nicht klären{ $detail }; nichts davon wird gesendet, und es geht von selbst weiter, sobald die von damals zurück sind.

## Aufzeichnungen früherer Programme ohne Satz

recorded =
    .cashier = Kein Grund aufgezeichnet; den Techniker fragen.
    .customer = BITTE AN DER KASSE FRAGEN
    .technician = Ein früheres Programm hat keinen Grund aufgezeichnet; siehe sein Log.
