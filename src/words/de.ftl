# Deutsch. In jeder Sprache stehen dieselben Texte in derselben Reihenfolge; wer was liest, steht in mod.rs.
# Kassenpersonal: ein Satz, was geschah und was zu tun ist. Kunde: Großbuchstaben wie auf Belegen, kein Punkt, nichts Technisches,
# kein Wort über 21 Buchstaben. Technik: Ursache und Abhilfe.

decimal-separator = ,
date-and-time = { $day }.{ $month }.{ $year } { $time }
months = Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.

## Wie ein Vorgang heißt

called-capture = ABRECHNUNG
called-credit = GUTSCHRIFT
called-increment = ERHÖHUNG
called-pre-authorisation = RESERVIERUNG
called-reauthorisation = ERNEUERUNG
called-refund = ERSTATTUNG
called-reversal = STORNO
title-capture = ABRECHNUNG DER RESERVIERUNG
title-credit = GUTSCHRIFT
title-increment = ERHÖHUNG DER RESERVIERUNG
title-pre-authorisation = RESERVIERUNG
title-reauthorisation = ERNEUERUNG DER RESERVIERUNG
title-refund = ERSTATTUNG
title-reversal = STORNO
title-sale = KARTENZAHLUNG

## Was nicht geschehen ist, wenn es nicht ging

not-charged = nicht belastet
nothing-reserved = nichts reserviert
nothing-more-reserved = nicht erhöht
nothing-reserved-anew = nicht erneuert
nothing-paid-out = nicht gutgeschrieben
nothing-captured = nicht abgerechnet
nothing-refunded = nicht erstattet
nothing-reversed = nicht storniert

## Wie ein Vorgang steht, für das Kassenpersonal

waiting-for-card = Bitte Karte für { $amount }
being-sent = Erfasst, wird gesendet
authorising = Wird geprüft, bitte warten
compare-signature = GENEHMIGT { $amount }, BITTE UNTERSCHRIFT VERGLEICHEN: stimmt sie mit der Karte überein, annehmen, sonst ablehnen
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
result-code = Ergebniscode
reason-word = Grund
original = URSPRÜNGLICHER VORGANG
approved = GENEHMIGT
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

## Gründe: Karte, Kunde und Geschäft

bank-declined =
    .cashier = Die Bank hat abgelehnt{ $detail }; andere Karte oder anderen Weg versuchen.
    .customer = VON DER BANK ABGELEHNT{ $detail }
    .technician = Die Bank oder das Gateway für sie hat abgelehnt{ $detail }; am Terminal fehlt nichts.
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
card-unreadable =
    .cashier = Die Karte ist nicht lesbar; um eine andere Karte bitten.
    .customer = KARTE NICHT LESBAR
    .technician = Die Karte war auf keinem erlaubten Weg lesbar{ $detail }; bei vielen Karten den Leser reinigen.
card-gone =
    .cashier = Die Karte wurde vor dem Senden herausgenommen; neu beginnen und die Karte stecken lassen.
    .customer = KARTE ZU FRÜH ENTNOMMEN
    .technician = Das Gateway hatte zu viele Anfragen, und die Karte war weg, bevor es Zeit hatte{ $detail }; wenn oft, beim Betreiber mehr beantragen.
tip-not-possible =
    .cashier = Betrag und Trinkgeld zusammen gehen nicht{ $detail }; mit kleinerem Trinkgeld neu beginnen.
    .customer = TRINKGELD NICHT MÖGLICH
    .technician = Betrag und Trinkgeld zusammen sind nicht möglich{ $detail }; siehe max-amount in [terminal].

## Gründe: das Terminal

reader-lost =
    .cashier = Der Kartenleser ist weg; Kabel und Strom prüfen, dann neu beginnen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser ist weg oder tut nicht, was er muss{ $detail }; Kabel und Strom prüfen, dann pos-agent doctor.
reader-not-ready =
    .cashier = Der Kartenleser ist nicht bereit; Kabel und Strom prüfen, dann neu beginnen.
    .customer = LESER NICHT BEREIT
    .technician = Der Leser ist nicht bereit{ $detail }; Kabel und Strom prüfen, dann pos-agent doctor.
reader-keys-used-up =
    .cashier = Der Kartenleser nimmt keine Karten mehr an; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser hat keinen Schlüssel mehr{ $detail }; neue Schlüssel einspielen lassen.
reader-not-secure =
    .cashier = Der Kartenleser schützt Karten nicht, wie er muss, und wird nicht benutzt; den Techniker rufen.
    .customer = KARTENLESER GESTÖRT
    .technician = Der Leser schickt Kartendaten im Klartext oder benutzt einen Schlüssel zweimal{ $detail }; gesendet und behalten wurde nichts: austauschen lassen.
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
gateway-not-trusted =
    .cashier = Die Verbindung zur Bank ist nicht sicher, es wurde nichts gesendet; den Techniker rufen.
    .customer = KEINE SICHERE VERBINDUNG
    .technician = Dem Zertifikat des Gateways ist nicht zu trauen{ $detail }; Uhr sowie ca-file und ca-pins in [gateway] prüfen.
gateway-refuses-token =
    .cashier = Die Bank nimmt dieses Terminal nicht an; den Techniker rufen.
    .customer = TERMINAL NICHT ZUGELASSEN
    .technician = Das Gateway weist das Zugangstoken ab{ $detail }; ein neues ausstellen lassen und dort ablegen, wo [gateway] es erwartet.
gateway-wrong-address =
    .cashier = Die Bank ist dort nicht zu finden, wo dieses Terminal sie sucht; den Techniker rufen.
    .customer = DIENST NICHT VERFÜGBAR
    .technician = Unter der gefragten Adresse hat das Gateway nichts{ $detail }; url in [gateway] und die Pfade in [gateway.assumptions] prüfen.
gateway-busy =
    .cashier = Die Bank ist überlastet; kurz warten, dann neu beginnen.
    .customer = DIENST ÜBERLASTET
    .technician = Das Gateway hat zu viele Anfragen und diese nicht bearbeitet{ $detail }; wenn oft, beim Betreiber mehr beantragen.
never-received =
    .cashier = Bei der Bank ist nichts angekommen; neu beginnen.
    .customer = NICHT BEI DER BANK ANGEKOMMEN
    .technician = Das Gateway kennt den Vorgang nicht, auch nach aller Zeit, in der er hätte kommen können{ $detail }; das Netzwerk prüfen.

## Gründe: womit ein Zweifel am Geld begann

no-answer =
    .cashier = Die Bank hat nicht geantwortet; geschieht es wieder, das Netzwerk prüfen.
    .customer = KEINE ANTWORT DER BANK
    .technician = Die Anfrage wurde gesendet, es kam keine Antwort{ $detail }; das Netzwerk prüfen.
gateway-failed =
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
taken-back-by-person =
    .cashier = Jemand hat entschieden, dass sie zurückgenommen wird, weil das Journal eine alte Kopie ist.
    .customer = VOM GESCHÄFT ZURÜCKGENOMMEN
    .technician = Mit pos-agent settle --reverse zurückgenommen{ $detail }; das Journal war eine alte Kopie.
not-sent-in-copy =
    .cashier = Als eine alte Kopie des Journals entstand, war noch nichts gesendet; den Techniker fragen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, war noch nichts gesendet{ $detail }; nie ohne Not mit einer Kopie starten.
signature-in-copy =
    .cashier = Als eine alte Kopie des Journals entstand, wurde die Unterschrift gerade verglichen; den Techniker fragen.
    .customer = TERMINAL WURDE ERSETZT
    .technician = Als eine alte Kopie des Journals entstand, wurde die Unterschrift gerade verglichen{ $detail }; nie ohne Not mit einer Kopie starten.

## Gründe: warum ein Zweifel noch nicht geklärt ist

gateway-cannot-be-asked =
    .cashier = Die Bank ist nicht erreichbar; das Netzwerk prüfen, sie wird wieder gefragt.
    .customer = KEINE VERBINDUNG
    .technician = Das Gateway kann nicht gefragt werden, was daraus wurde{ $detail }; das Netzwerk prüfen, dann pos-agent doctor.
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
    .technician = Das Journal ist eine alte Kopie und weiß nicht, was daraus wurde{ $detail }; den Betreiber fragen, dann pos-agent settle.
given-back-by-id =
    .cashier = Vielleicht ist es schon zurückgegeben; der Techniker klärt es mit der Bank.
    .customer = WIRD GEKLÄRT
    .technician = Die Zahlung wurde vielleicht schon mit ihrer ID zurückgegeben{ $detail }; beim Gateway nachsehen, dann den Rest klären.

## Aufzeichnungen früherer Programme ohne Satz

recorded =
    .cashier = Kein Grund aufgezeichnet; den Techniker fragen.
    .customer = BITTE AN DER KASSE FRAGEN
    .technician = Ein früheres Programm hat keinen Grund aufgezeichnet; siehe sein Log.
