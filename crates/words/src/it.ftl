# Italian. Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = ,
date-and-time = { $day }/{ $month }/{ $year } { $time }
date-alone = { $day }/{ $month }/{ $year }
months = gen feb mar apr mag giu lug ago set ott nov dic

## Names of the kinds of transaction

called-capture = INCASSO:
called-credit = ACCREDITO:
called-forget-card = ELIMINAZIONE CARTA:
called-increment = INTEGRAZIONE:
called-pre-authorisation = PREAUTORIZZAZIONE:
called-reauthorisation = RINNOVO:
called-refund = RIMBORSO:
called-reversal = STORNO:
called-store-card = MEMORIZZAZIONE CARTA:
title-capture = INCASSO PREAUTORIZZAZIONE
title-credit = ACCREDITO
title-forget-card = ELIMINAZIONE CARTA
title-increment = INTEGRAZIONE PREAUTORIZZAZIONE
title-pre-authorisation = PREAUTORIZZAZIONE
title-reauthorisation = RINNOVO PREAUTORIZZAZIONE
title-refund = RIMBORSO
title-reversal = STORNO
title-sale = PAGAMENTO
title-store-card = MEMORIZZAZIONE CARTA

## The action that did not happen, after a failure

not-charged = nessun addebito
nothing-reserved = nessun importo preautorizzato
nothing-more-reserved = nessuna integrazione
nothing-reserved-anew = nessun rinnovo
nothing-paid-out = nessun accredito
nothing-captured = nessun incasso
nothing-refunded = nessun rimborso
nothing-reversed = nessuno storno
nothing-stored = nessuna carta memorizzata
nothing-forgotten = carta non eliminata

## States of a transaction, for the cashier

waiting-for-card = In attesa della carta per pagare { $amount }
asked-by-fleet = Pagamento chiesto da { $till }: { $text }
waiting-for-card-to-store = In attesa della carta da memorizzare; nessun addebito
being-sent = Registrata, invio in corso
reader-ready = Il lettore di carte è pronto.
idle = Pronto per il prossimo pagamento.
asked-again = La banca è sovraccarica. Il terminale riprova automaticamente. Il pagamento può essere annullato.
authorising = Autorizzazione in corso, attendere
customer-acts = IN ATTESA DI DECISIONE: il cliente deve confermare su { $url }; il terminale interroga la banca finché non ha deciso
compare-signature = OPERAZIONE APPROVATA { $amount }, FIRMA RICHIESTA: confrontarla con quella sulla carta, poi accettarla o rifiutarla
compare-signature-first = FIRMA RICHIESTA per { $amount }: confrontarla con quella sulla carta, poi accettarla o rifiutarla; in seguito la cassa conferma il pagamento
till-confirms = IN ATTESA DELLA CASSA, che deve confermare { $amount }: non consegnare nulla prima della conferma
being-taken-back = { $what }ESITO NON CONFERMATO, storno in corso: il negozio può avviare subito un nuovo pagamento con un nuovo riferimento; il cliente può vedere due movimenti finché uno non viene stornato. { $why }
reservation-being-taken-back = { $what }ESITO NON CONFERMATO, storno in corso: il negozio può avviare subito una nuova preautorizzazione con un nuovo riferimento; il cliente può vedere due preautorizzazioni finché una non viene stornata. { $why }
being-finished = { $what }ESITO NON CONFERMATO, completamento in corso: non ripetere l'operazione, ricontrollare più tardi. { $why }
last-try = Ultimo tentativo: { $why }
needs-person = { $what }ESITO NON CONFERMATO, da chiarire: attendere e chiamare il tecnico. { $why }
journal-cannot-be-written = ESITO NON CONFERMATO: impossibile scrivere nel registro; il terminale chiarisce l'esito appena può di nuovo scrivere
asking-whether-sent = ESITO NON CONFERMATO: il terminale si è riavviato prima di inviare il pagamento; chiede al gateway se lo ha ricevuto
alarm = ALLARME: { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }OPERAZIONE APPROVATA { $amount }
ended-partially-approved = { $what }APPROVAZIONE PARZIALE: solo { $part } su { $amount }
ended-declined = { $what }OPERAZIONE RIFIUTATA, { $nothing }. { $why }
ended-cancelled = { $what }OPERAZIONE ANNULLATA, { $nothing }. { $why }
ended-not-sent = { $what }OPERAZIONE NON INVIATA, { $nothing }. { $why }
ended-reversed = { $what }OPERAZIONE STORNATA, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = Il cliente sceglie la mancia
step-present-card = Inserire, avvicinare o strisciare la carta
step-insert-card = Inserire la carta
step-swipe-card = Chip non leggibile: estrarre la carta e strisciarla
step-try-again = Riprovare con una sola carta
step-type-card = Il numero di carta viene digitato sul lettore
step-choosing-application = Il cliente sceglie come pagare
step-reading-card = Lettura in corso, non estrarre la carta
step-pin-entry = Il cliente digita il PIN
step-pin-digits = PIN { $digits }
step-pin-wrong = PIN errato
step-pin-no-tries = PIN errato, tentativi esauriti
step-pin-one-try = PIN errato, ancora 1 tentativo
step-pin-tries = PIN errato, ancora { $tries } tentativi
step-pin-done = PIN digitato
step-remove-card = Estrarre la carta

## The receipt

terminal = Terminale
merchant-id = Cod. esercente
date = Data
sale-number = N. operazione
reference = Riferimento
operator = Operatore
supervisor = Responsabile
amount = Importo
tip = Mancia
total = TOTALE
requested = Richiesto
approved-part = Approvato
brand = Circuito
application = Applicazione
aid = AID
card = Carta
entry = Lettura
auth-code = Cod. autorizz.
acquirer-code = Cod. acquirer
clearing-id = ID clearing
payment-id = ID pagamento
registration-id = Carta memorizzata
result-code = Codice esito
reason-word = Motivo
original = OPERAZIONE ORIGINALE
approved = OPERAZIONE APPROVATA
card-stored = CARTA MEMORIZZATA, NESSUN ADDEBITO
card-forgotten = CARTA ELIMINATA, NESSUN ADDEBITO
partially-approved = APPROVAZIONE PARZIALE
declined = OPERAZIONE RIFIUTATA
cancelled = OPERAZIONE ANNULLATA
not-carried-out = OPERAZIONE NON ESEGUITA
reversed = OPERAZIONE STORNATA
taken-back = { $nothing }: OPERAZIONE STORNATA
unconfirmed-taken-back = ESITO NON CONFERMATO, STORNO IN CORSO
two-bookings = FINO ALLO STORNO POSSONO RISULTARE DUE MOVIMENTI
two-reservations = FINO ALLO STORNO POSSONO RISULTARE DUE PREAUTORIZZAZIONI
unconfirmed-finished = ESITO NON CONFERMATO, COMPLETAMENTO IN CORSO
entry-manual = MANUALE
entry-magstripe = BANDA MAGNETICA
entry-fallback = BANDA (CHIP NON LETTO)
entry-chip = CHIP
entry-contactless = CONTACTLESS
entry-contactless-magstripe = CONTACTLESS (BANDA)
pin-verified = PIN VERIFICATO
pin-verified-online = PIN VERIFICATO ONLINE
pin-entered = PIN DIGITATO
by-signature = FIRMA
pin-verified-and-signature = PIN VERIFICATO, FIRMA
pin-entered-and-signature = PIN DIGITATO, FIRMA
verified-on-device = VERIFICA SUL DISPOSITIVO CLIENTE
on-device = DISPOSITIVO CLIENTE
no-verification = SENZA PIN NÉ FIRMA
agree-to-pay = Accetto di pagare l'importo sopra indicato secondo le condizioni della mia carta.
agree-to-reserve = Accetto la preautorizzazione dell'importo sopra indicato secondo le condizioni della mia carta.
agree-to-credit = Accetto l'accredito dell'importo sopra indicato sulla mia carta.
signature = Firma:
merchant-copy = COPIA ESERCENTE
customer-copy = COPIA CLIENTE
keep-receipt = CONSERVARE LA RICEVUTA
duplicate = DUPLICATO
training = PROVA
training-no-payment = NON È UN PAGAMENTO, NESSUN MOVIMENTO DI DENARO

## The slip of a close of day

close-of-day = CHIUSURA GIORNALIERA
close-number = Chiusura
business-day = Giornata
period-from = Dal
beginning = primo utilizzo
period-to = Al
receipt-numbers = Ricevute
taken = Incassato
given = Restituito
net = SALDO
nothing-moved = NESSUN MOVIMENTO DI DENARO
tips-in-sales = Mance, incluse
of-unknown = Storni, orig. n/d
count-declined = Rifiutate
count-taken-back = Stornate
count-cancelled = Annullate
count-not-sent = Non inviate
by-till = PER CASSA
by-operator = PER OPERATORE
open-items = IN SOSPESO, ESCLUSE DAI TOTALI
nothing-open = NESSUNA OPERAZIONE IN SOSPESO
open-needs-person = DA CHIARIRE
open-unconfirmed = ESITO NON CONFERMATO
open-awaiting-signature = FIRMA DA CONFRONTARE
open-awaiting-till = ATTESA CONFERMA CASSA
open-under-way = IN CORSO
open-unreadable = NON LEGGIBILE
open-reserved = PREAUTORIZZATO, NON INCASSATO
and-more = e altre { $count }

## Refusals: a command that is not carried out

refused-amount-differs = il riferimento { $reference } appartiene già a un'altra operazione ({ $kind } { $amount }); usare un nuovo riferimento
refused-busy = il terminale è occupato con l'operazione { $reference } della cassa { $till }; attendere o annullarla
refused-busy-elsewhere = il terminale è occupato con un'operazione di un'altra cassa; riprovare quando è conclusa
refused-not-ready = al momento non è possibile: { $why }
refused-nothing-typed = nessun importo acquisito: { $why }
refused-no-signature = nessuna firma in attesa: { $state }
refused-signature-accepted = la firma è già stata accettata: { $state }
refused-signature-refused = la firma è già stata rifiutata: { $state }
refused-no-confirmation = nessuna conferma in attesa: { $state }
refused-all-taken = la cassa ha già accettato l'intero importo: { $state }
refused-part-taken = la cassa ha già accettato una parte, { $amount }: { $state }
refused-nothing-taken = la cassa ha già comunicato di non accettarla: { $state }
refused-no-receipt = nessuna ricevuta prima dell'esito: { $state }
refused-not-possible = non è possibile: { $why }
refused-parameter = { $name } non valido: { $why }
refused-amount = importo non possibile: { $why }
refused-tip = mancia non possibile: { $why }
refused-training-off = la modalità di prova è disattivata su questo terminale; per consentirla impostare allowed = true in [training]
refused-currency = impossibile addebitare { $wanted }: questo terminale accetta solo { $terminal }; omettere la valuta, o vedere currency in [terminal]
refused-none-yet = la cassa { $till } non ha ancora operazioni
refused-no-such-sale = la cassa { $till } non ha operazioni con il riferimento { $reference }
refused-no-close-yet = non c'è ancora nessuna chiusura giornaliera; pos-agent close ne esegue una
refused-close-not-made = la prossima chiusura non è ancora stata eseguita; pos-agent close la esegue
refused-no-such-close = la chiusura { $number } non esiste; GET /v1/closes o pos-agent close list le elenca
refused-line = lines[{ $at }] non può essere stampato: { $why }
refused-printer = stampa non possibile: { $why }
refused-gateway = il gateway non risponde: { $why }
refused-journal = il registro non è utilizzabile: { $why }

## Refusals: rights

denied-lacks = { $caller } deve avere { $rights } { $purpose }; aggiungere in { $key }
denied-nameless = { $caller } deve avere { $rights } { $purpose }; impostare PrivateUsers=no nella unit dell'agente, così il sistema indica l'utente
denied-not-its-till = { $caller } agisce per { $tills } e non per la cassa { $till }; omettere ?till=
denied-not-its-till-of-peer = { $caller } agisce per { $tills } e non per la cassa { $till }; aggiungerla in { $key }
denied-which-till = indicare la cassa di questa richiesta con ?till=, una tra: { $tills }
denied-operator-required = per questo un operatore deve aver effettuato l'accesso: aprire una sessione (POST /v1/sessions) e inviarla come Pos-Session; nella shell aggiungere --operator NAME
denied-role = { $operator } ha effettuato l'accesso come { $role }, ma serve il ruolo { $needs }
one-role = { $first } o { $other }
denied-stated-operator = operator: qui gli operatori effettuano l'accesso, quindi la cassa non può indicarne uno; per consentirlo, impostare { $key }
denied-stated-operator-of-peer = operator: qui gli operatori effettuano l'accesso, quindi la cassa non può indicarne uno; per consentirlo, aggiungere la cassa in { $key }
denied-only-at-the-socket = un token non basta per questo; fare la richiesta sul terminale, tramite il suo socket Unix, come fa pos-agent
one-right = il permesso { $rights }
several-rights = i permessi { $rights }
one-of-rights = uno dei permessi { $rights }
for-this = per questo
for-other-till = per le operazioni di un'altra cassa
for-earlier-of-other-till = per fare riferimento all'operazione di un'altra cassa
for-unknown-payment = per fare riferimento a un pagamento che questo terminale non conosce
for-authentication = per indicare come è autenticata una carta memorizzata
caller-till = la cassa { $till }
caller-user = l'utente { $user }
caller-nameless = un utente che il sistema non indica
key-of-token = { $key } del [[till.token]] con till = "{ $till }"
key-of-peer = { $key } del [[till.peer]] con uid = { $user }
key-of-fleet = { $key } del [[fleet.key]] con till = "{ $till }"
key-of-user = { $key } di un [[till.peer]] con uid = { $user }, o in rights di [till.socket] per tutti gli utenti del socket
key-of-socket = rights di [till.socket]

## Refusals: operators

operator-wrong-pin = il nome o il PIN è errato
operator-locked = troppi PIN errati; riprovare tra { $seconds } s, o far sbloccare l'operatore da un responsabile o da un tecnico (pos-agent operator unlock NAME)
operator-pin-under-way = è in corso la verifica di un altro PIN; riprovare
operator-session-ended = con questa sessione non risulta alcun operatore: è terminata o appartiene a un'altra cassa; effettuare di nuovo l'accesso (POST /v1/sessions)
operator-supervisor-needed = serve un responsabile ({ $command }): far autorizzare il comando (POST /v1/approvals) e inviare l'autorizzazione come Pos-Supervisor, o far accedere il responsabile
operator-not-approved = nessun responsabile ha autorizzato questo comando: { $why }
operator-no-supervisor = { $name } non è un responsabile e non può autorizzare questo comando
operator-unknown = l'operatore { $name } non esiste; pos-agent operator list li elenca tutti
operator-exists = l'operatore { $name } esiste già; impostare un altro PIN (pos-agent operator pin), o prima rimuovere l'operatore
operator-too-many = ci sono già { $most } operatori, il massimo; prima rimuoverne uno
operator-pin-length = il PIN deve avere { $digits } cifre; vedere pin-digits di [operators]
approval-unknown = l'autorizzazione è già stata usata, è terminata o risale a più di due minuti fa
approval-other-till = l'autorizzazione è stata data su un'altra cassa
approval-other-operator = l'autorizzazione è stata data a un altro operatore
approval-other-command = l'autorizzazione vale per { $approved }, mentre questo è { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, riferimento { $reference }
command-of-transaction = , operazione { $number }
command-of-payment = , pagamento { $payment }
command-of-card = , carta memorizzata { $registration }
command-with-tip = , con mancia
command-typed = , numero di carta digitato

## Details of refusals: the terminal

nothing-typed = non è stato digitato nessun importo
reader-in-use = il lettore è in uso
amount-being-typed = sul lettore si sta digitando un importo
terminal-stopping = il terminale è in fase di arresto
no-random-numbers = il sistema non fornisce numeri casuali ({ $why })
command-not-resolved = il comando non è stato risolto; ripetere la richiesta
pin-not-digested = impossibile calcolare il digest del PIN; riprovare
training-busy = la modalità di prova è sovraccarica; ripetere la richiesta
training-within = la modalità di prova è già attiva
state-unknown = lo stato dell'operazione sarà noto solo quando si potrà scrivere nel registro; a quel punto rispondere di nuovo
no-printer = il terminale non ha una stampante; vedere [[printer]] nella configurazione
training-not-printed = le ricevute della modalità di prova vengono visualizzate e mai stampate
looks-like-card-number = sembra un numero di carta, che solo il lettore può ricevere; usare un altro valore

## Details of refusals: amounts

above-limit = { $amount } supera il limite del terminale di { $limit }; vedere max-amount in [terminal]
limit-of-other-currency = il terminale ha un limite di { $limit } e non accetta altre valute; vedere max-amount in [terminal]
tip-above-amount = la mancia di { $tip } supera l'importo di { $amount }; controllare i dati inseriti
total-not-possible = importo e mancia insieme: { $why }
nothing-given = senza un pagamento precedente noto a questo terminale non si effettuano accrediti; per consentirli impostare max-credit-amount in [terminal]
given-in-other-currency = gli accrediti si effettuano solo in { $currency }; vedere max-credit-amount in [terminal]
above-given-limit = { $amount } supera il limite di { $limit } per gli accrediti; vedere max-credit-amount in [terminal]

## Details of refusals: the earlier transaction

not-of-training = la modalità di prova esegue solo operazioni di prova
payment-not-of-training = il pagamento { $payment } non è della modalità di prova
payment-of-training = il pagamento { $payment } è della modalità di prova e non ha mosso denaro; aggiungere "training" alla richiesta
transaction-not-of-training = l'operazione { $number } non è della modalità di prova
transaction-of-training = l'operazione { $number } è della modalità di prova e non ha mosso denaro
of-another-account = l'operazione { $number } è stata avviata con un altro account presso il gateway (un altro entity-id in [gateway]); con questo account non può avere operazioni successive
no-transaction-number = questo terminale non ha un'operazione { $number }
is-reversal = il pagamento { $payment } è lo storno automatico dell'operazione { $number }; a uno storno non possono seguire altre operazioni
amount-needed = serve un importo, perché questo terminale non conosce il pagamento
needs-more = il tipo { $kind } richiede altri campi
no-id = { $name } deve avere 32 lettere e cifre
rest-references-used = entrambi i riferimenti per il rimborso della differenza sono già usati; accettare l'intero importo e rimborsare la differenza a parte
no-decision-awaited = l'operazione { $number } non attende la decisione di una persona; pos-agent status elenca quelle che la attendono
transaction-ended = l'operazione { $number } è conclusa
older-than-copy = l'operazione { $number } è precedente al momento in cui il registro è risultato una copia non aggiornata: qui possono mancare i suoi rimborsi e incassi; usare il back office del gateway
not-compared-yet = il gateway non ha ancora indicato se questo registro è una copia non aggiornata, a cui possono mancare rimborsi; riprovare tra poco
list-incomplete = l'elenco per data del gateway non è completo, quindi questo registro può essere una copia non aggiornata; sono possibili operazioni successive solo su un pagamento verificabile presso il gateway
cannot-be-looked-up = questo registro può essere una copia non aggiornata, e l'operazione { $number } non è verificabile presso il gateway ({ $why }); riprovare più tardi
not-listed-by-gateway = il gateway non la elenca
linked-unknown = presso il gateway ci sono { $count } operazioni collegate all'operazione { $number } che questo registro non conosce; usare il back office del gateway

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = apertura del lettore in corso; attendere un momento
attention-reader-absent = lettore di carte non trovato: { $why }
attention-reader-other-device = al posto del lettore di carte è collegato un altro dispositivo: { $why }
attention-reader-not-listed = questo lettore di carte non appartiene a questo terminale: { $why }
attention-reader-no-keys = il lettore di carte non ha più chiavi: { $why }
attention-reader-clear-data = il lettore di carte invia i dati delle carte in chiaro e non viene usato: { $why }
attention-reader-not-encrypting = il lettore di carte non cifra correttamente e non viene usato: { $why }
attention-reader-flooding = il lettore di carte invia dati senza fine: { $why }
attention-reader-restarting = il lettore di carte si sta riavviando: { $why }
attention-reader-card-left = la carta dell'ultimo pagamento è ancora nel lettore: estrarla
attention-reader-keys-low = il lettore ha chiavi per altri { $count } pagamenti: farne caricare di nuove

## Attention: the gateway

attention-gateway-unreachable = gateway non raggiungibile: { $why }
attention-gateway-no-answer = il gateway non risponde: { $why }
attention-gateway-out-of-order = il gateway ha un guasto: { $why }
attention-gateway-throttles = il gateway ha troppe richieste; attendere un momento
attention-gateway-refuses-request = il gateway ha rifiutato l'ultima operazione come richiesta non valida{ $detail }; provare un'altra carta non serve; controllare entity-id in [gateway] e i campi della cassa
attention-gateway-refuses-token = il gateway non accetta il nostro token: { $why }
attention-gateway-untrusted-certificate = il certificato del gateway non è attendibile: { $why }
attention-gateway-certificate-expired = il certificato del gateway è scaduto: { $why }
attention-gateway-own-certificate-refused = il gateway non accetta il nostro certificato: { $why }
attention-gateway-own-certificate-expired = il nostro certificato per il gateway è scaduto: { $why }
attention-gateway-not-usable = il gateway non è utilizzabile: { $why }
attention-gateway-certificate-ends = il certificato del gateway sta per scadere: { $why }
attention-ca-certificate-ends = il certificato della CA sta per scadere: { $why }
attention-own-certificate-ends = il nostro certificato sta per scadere: { $why }
attention-token-ends = il nostro token sta per scadere: { $why }
attention-gateway-files-unused = i file modificati per il gateway non sono utilizzabili, restano validi i precedenti: { $why }

## Attention: printers

attention-printer-no-paper = la stampante{ $name } è senza carta: { $why }
attention-printer-paper-low = la stampante{ $name } sta per finire la carta: { $why }
attention-printer-cover-open = la stampante{ $name } è aperta: { $why }
attention-printer-paper-jam = la stampante{ $name } ha la carta inceppata: { $why }
attention-printer-error = la stampante{ $name } ha un guasto: { $why }
attention-printer-pausing = la stampante{ $name } è in pausa: { $why }
attention-printer-offline = la stampante{ $name } è offline: { $why }
attention-printer-absent = la stampante{ $name } non è raggiungibile: { $why }
attention-printer-interrupted = la stampante{ $name } si è fermata durante una ricevuta: { $why }
attention-printer-silent = la stampante{ $name } non comunica il suo stato: { $why }

## Attention: clocks and journal

attention-clock-untrusted = né l'orologio del terminale né quello del lettore può essere esatto; regolare l'orologio del terminale (timedatectl) e attendere un momento
attention-clock-behind-journal = né l'orologio del terminale né quello del lettore può essere esatto: quello del terminale segna { $board }, e l'ultima voce del registro è del { $latest }; regolare l'orologio del terminale (timedatectl) e attendere un momento, oppure, se è esatto, vedere pos-agent journal set-clock-back --help
attention-clocks-differ = gli orologi del gateway e del terminale differiscono di { $seconds } s; regolare quello del terminale (timedatectl); se è esatto, avvisare il gestore del gateway
attention-reader-clock-differs = gli orologi del gateway e del lettore, usato qui come riferimento, differiscono di { $seconds } s; regolare quello del terminale (timedatectl); se quello del lettore è esatto, avvisare il gestore del gateway
attention-journal-full = il registro è pieno: { $why }
attention-journal-nearly-full = sul disco del registro restano { $free } MiB; liberare spazio (df -h, journalctl --vacuum-size=50M) e non eliminare mai il registro
attention-journal-cannot-be-written = impossibile scrivere nel registro: { $why }
attention-journal-old-copy = questo registro è una copia non aggiornata: { $why }; le operazioni precedenti in sospeso attendono pos-agent settle NUMBER --keep o --reverse
attention-journal-was-old-copy = questo registro è risultato una copia non aggiornata: possono mancare rimborsi, storni e incassi delle operazioni fino alla n. { $number }; per queste usare il back office del gateway
attention-journal-not-compared = il gateway non ha indicato se questo registro è una copia non aggiornata ({ $why }); fino ad allora rimborsi, incassi e accrediti non vengono eseguiti e gli storni precedenti restano in attesa; se non è interrogabile per data, impostare query-by-date = false in [gateway.assumptions]
attention-journal-list-incomplete = il gateway non ha indicato se questo registro è una copia non aggiornata ({ $why }); fino ad allora gli accrediti non vengono eseguiti, gli storni precedenti restano in attesa, e ciò che segue un pagamento precedente attende la sua verifica; se non è interrogabile per data, impostare query-by-date = false in [gateway.assumptions]
attention-journal-began-anew = questo registro è nuovo, e presso il gateway ci sono { $count } pagamenti di questo terminale degli ultimi giorni: riprendere il registro del terminale precedente (pos-agent journal adopt FILE)
copy-lacks-references = presso il gateway ci sono { $count } riferimenti di questo terminale che il registro non conosce (l'ultimo è nel log)
journal-is-old-copy = questo registro è una copia non aggiornata: { $why }
gateway-time-unknown = la sua ora non è nota: { $why }; vedere probe-path in [gateway.assumptions]
sold-on-another-journal = questo terminale ha operato con un altro registro ({ $why }): nessun addebito finché una persona non decide. Arrestare l'agente; poi rimettere al suo posto il registro giusto, o riprenderlo (pos-agent journal adopt FILE); se è perduto, accettare questo (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = tutto è stato copiato nel registro: riavviare l'agente, e nulla va perso
rescued-into-file = le operazioni in sospeso e le ultime sono in { $file }: se il registro è stato spostato, rimetterlo al suo posto. Se è perduto, arrestare l'agente, spostare altrove il file che ne ha preso il posto, riprendere { $file } (pos-agent journal adopt { $file }) e avviare l'agente
rescued-nothing = il registro non conteneva operazioni: riavviare l'agente

## Attention: transactions and tills

attention-sale-unconfirmed = operazione { $reference } della cassa { $till }: { $state }
attention-sale-left-alone = l'operazione { $reference } della cassa { $till } è in sospeso: { $why }
attention-signature-awaited = l'operazione { $reference } della cassa { $till } è in attesa: confrontare la firma
attention-confirmation-awaited = l'operazione { $reference } attende che la cassa { $till } confermi di accettarla
attention-till-port-closed = le casse con token non possono collegarsi: { $why }
attention-fleet-message = messaggio di { $author }: { $text }
attention-fleet-settings-trial = le impostazioni della flotta, versione { $version }, sono in prova; il terminale torna indietro da solo se non sono confermate entro dieci minuti
attention-fleet-settings-returned = il terminale è tornato indietro dalle impostazioni della flotta, versione { $version }: { $why }
attention-fleet-settings-drift = modificato sul terminale, quindi i valori della flotta non valgono: { $settings }; eseguire: pos-agent check
attention-fleet-settings-unusable = le impostazioni della flotta non sono usate: { $why }; per rimuoverle, fermare l'agente ed eliminare la cartella fleet accanto al giornale
attention-fleet-keys-unusable = le chiavi di comando della flotta non sono utilizzabili, quindi nessun comando è accettato: { $why }; per quelle della configurazione, fermare l'agente ed eliminare la cartella fleet accanto al giornale
left-as-training = è della modalità di prova e non ha mosso denaro: nulla viene inviato al gateway
left-to-another-account = è stata avviata con un altro account presso il gateway (un altro entity-id in [gateway])
left-to-another-terminal = è stata eseguita dal terminale { $theirs }, e questo è { $ours }: da qui non può essere chiarita; correggere id in [terminal] se questo è { $theirs }

## The devices in the status

reader-is = { $model } { $firmware }, numero di serie { $serial }
gateway-not-asked-yet = non ancora interrogato
gateway-connected = connesso
gateway-answers = risponde
printer-is-ready = ok
printer-not-used-yet = non ancora usata
printer-one-waits = { $why }; 1 ricevuta in attesa
printer-some-wait = { $why }; { $count } ricevute in attesa
clock-of-board = quello del terminale
clock-of-reader = quello del lettore, perché quello del terminale non può essere esatto
journal-written = scrittura regolare

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = La banca ha rifiutato l'operazione{ $detail }; provare un'altra carta o un altro metodo di pagamento.
    .customer = RIFIUTATA DALLA BANCA{ $detail }
    .technician = L'emittente, o il gateway per suo conto, ha rifiutato l'operazione{ $detail }; il terminale funziona correttamente.
insert-and-pin =
    .cashier = La banca richiede il PIN{ $detail }; riprovare e chiedere al cliente di inserire la carta.
    .customer = INSERIRE LA CARTA
    .technician = L'emittente non accetta il contactless per questo pagamento (insert-and-pin){ $detail }; il terminale funziona correttamente.
do-not-try-again =
    .cashier = La banca ha rifiutato definitivamente{ $detail }; non riprovare con questa carta.
    .customer = RIFIUTATA DALLA BANCA{ $detail }
    .technician = L'emittente non approverà più questa carta (do-not-try-again){ $detail }; il terminale funziona correttamente.
card-declined =
    .cashier = La carta stessa ha rifiutato l'operazione; chiedere un'altra carta.
    .customer = RIFIUTATA DALLA CARTA
    .technician = Il chip ha rifiutato (AAC) prima di qualsiasi invio{ $detail }; il terminale funziona correttamente.
customer-cancelled =
    .cashier = Il cliente ha annullato o ha tolto la carta; se è stato un errore, riprovare.
    .customer = ANNULLATA DAL CLIENTE
    .technician = È stato premuto il tasto di annullamento del lettore, o la carta è stata tolta{ $detail }; nessun intervento necessario.
till-cancelled =
    .cashier = L'operazione è stata annullata dalla cassa; se è stato un errore, riprovare.
    .customer = ANNULLATA DAL NEGOZIO
    .technician = La cassa o il suo operatore ha annullato{ $detail }; nessun intervento necessario.
terminal-stopped =
    .cashier = Il terminale si stava spegnendo; riprovare quando è pronto.
    .customer = TERMINALE SPENTO
    .technician = L'agente era in fase di arresto{ $detail }; journalctl --unit pos-agent mostra chi lo ha arrestato.
card-timeout =
    .cashier = Nessuna carta presentata entro il tempo previsto; riprovare.
    .customer = NESSUNA CARTA PRESENTATA
    .technician = Nessuna carta presentata entro card-timeout-s di [terminal]{ $detail }; aumentare il valore se i clienti hanno bisogno di più tempo.
tip-timeout =
    .cashier = Il cliente non ha scelto la mancia entro il tempo previsto; riprovare.
    .customer = MANCIA NON SCELTA
    .technician = Il titolare non ha né scelto né rifiutato la mancia entro card-timeout-s di [terminal]{ $detail }; aumentare il valore se i clienti hanno bisogno di più tempo.
card-unreadable =
    .cashier = Carta non leggibile; chiedere un'altra carta.
    .customer = CARTA NON LEGGIBILE
    .technician = La carta non è leggibile in nessuno dei modi che consente{ $detail }; se accade con molte carte, pulire il lettore.
card-gone =
    .cashier = La carta è stata estratta prima dell'invio del pagamento; riprovare e lasciare la carta inserita.
    .customer = CARTA ESTRATTA TROPPO PRESTO
    .technician = Il gateway era sovraccarico, e la carta è stata estratta prima che l'agente potesse inviare la richiesta{ $detail }; se accade spesso, chiedere al suo gestore un limite più alto.
card-left-in =
    .cashier = L'ultima carta non è stata estratta dal lettore; estrarla, poi riprovare.
    .customer = ESTRARRE LA CARTA PRECEDENTE
    .technician = La fessura del lettore non si è liberata entro 30 s{ $detail }; se non contiene carte, pulire il lettore.
tip-not-possible =
    .cashier = Impossibile addebitare importo e mancia insieme{ $detail }; riprovare con una mancia più bassa.
    .customer = MANCIA NON POSSIBILE
    .technician = Impossibile addebitare importo e mancia insieme{ $detail }; vedere max-amount in [terminal] e sale in [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = Il lettore di carte non risponde; controllare cavo e alimentazione, poi riprovare.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore è scollegato o non risponde correttamente{ $detail }; controllare cavo e alimentazione, poi eseguire pos-agent doctor.
reader-not-ready =
    .cashier = Il lettore di carte non è pronto; controllare cavo e alimentazione, poi riprovare.
    .customer = LETTORE CARTE NON PRONTO
    .technician = Il lettore non è pronto{ $detail }; controllare cavo e alimentazione, poi eseguire pos-agent doctor.
reader-absent =
    .cashier = Lettore di carte non trovato; controllare cavo e alimentazione, poi riprovare.
    .customer = LETTORE CARTE GUASTO
    .technician = Impossibile aprire la porta del lettore{ $detail }; controllare cavo e alimentazione, e port in [reader].
reader-other-device =
    .cashier = Al posto del lettore di carte è collegato un altro dispositivo; collegare il lettore di carte, o chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il dispositivo collegato alla porta non è un lettore di questo tipo{ $detail }; controllare port e protocol in [reader].
reader-not-listed =
    .cashier = Questo lettore di carte non appartiene a questo terminale; collegare quello giusto, o chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il numero di serie del lettore non è in serials di [reader]{ $detail }; collegare il lettore giusto, o aggiungere il numero se questo è quello previsto.
reader-restarting =
    .cashier = Il lettore di carte si sta riavviando; attendere un momento, poi riprovare.
    .customer = LETTORE CARTE NON PRONTO
    .technician = Il lettore si sta riavviando dopo un guasto{ $detail }; se accade spesso, farlo controllare.
reader-flooding =
    .cashier = Il lettore di carte non funziona correttamente; spegnerlo e riaccenderlo, o chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore invia dati senza fine{ $detail }; controllare cavo e alimentazione, e sostituirlo se continua.
reader-no-keys =
    .cashier = Il lettore di carte non può più leggere carte; chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore non ha più chiavi di cifratura{ $detail }; farne caricare di nuove.
reader-clear-data =
    .cashier = Il lettore di carte non protegge correttamente i dati delle carte e non viene usato; chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore invia i dati delle carte in chiaro{ $detail }; nulla è stato inviato né salvato; farlo sostituire.
reader-not-encrypting =
    .cashier = Il lettore di carte non protegge correttamente i dati delle carte e non viene usato; chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore ha smesso di cifrare o ha usato due volte una chiave{ $detail }; nulla è stato inviato né salvato; se accade di nuovo, farlo sostituire.
reader-amount-differs =
    .cashier = Il lettore di carte ha usato un altro importo, quindi nulla è stato inviato; chiamare il tecnico.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore ha firmato un importo o una valuta diversi dalla richiesta (9F02, 5F2A){ $detail }; far controllare il lettore.
reader-pin-missing =
    .cashier = Il lettore di carte non ha trasmesso il PIN; riprovare, e chiamare il tecnico se accade di nuovo.
    .customer = LETTORE CARTE GUASTO
    .technician = Il lettore ha segnalato un PIN ma non ha inviato il PIN block{ $detail }; far controllare la sua chiave PIN.
typing-not-possible =
    .cashier = Su questo terminale non si possono digitare numeri di carta; chiedere la carta.
    .customer = DIGITAZIONE NON POSSIBILE
    .technician = La digitazione del numero di carta è disattivata per questo lettore, o il lettore non la supporta{ $detail }; vedere manual-entry in [reader].
terminal-restarted =
    .cashier = Il terminale si è riavviato prima di qualsiasi invio; riprovare.
    .customer = TERMINALE RIAVVIATO
    .technician = L'agente si è riavviato prima di qualsiasi invio{ $detail }; il suo log prima del riavvio mostra il motivo.
clock-untrusted =
    .cashier = Il terminale non conosce l'ora e non può accettare pagamenti; chiamare il tecnico.
    .customer = TERMINALE NON PRONTO
    .technician = Né l'orologio del terminale né quello del lettore può essere esatto{ $detail }; regolare l'orologio, e controllare l'ora di rete o la batteria dell'orologio.
request-not-possible =
    .cashier = Il terminale non può inviare questa operazione; chiamare il tecnico.
    .customer = NON POSSIBILE
    .technician = La richiesta contiene un valore che il gateway non accetta{ $detail }; correggerlo sulla cassa o nella configurazione.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = Nessuna connessione con la banca; controllare la rete, poi riprovare.
    .customer = NESSUNA CONNESSIONE
    .technician = Nessuna connessione con il gateway{ $detail }; controllare rete, server DNS, firewall e url in [gateway], poi eseguire pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = La connessione con la banca non è sicura, quindi nulla è stato inviato; chiamare il tecnico.
    .customer = CONNESSIONE NON SICURA
    .technician = Il certificato del gateway non è attendibile{ $detail }; controllare l'orologio, e ca-file e ca-pins in [gateway].
gateway-certificate-expired =
    .cashier = La connessione con la banca non è sicura, quindi nulla è stato inviato; chiamare il tecnico.
    .customer = CONNESSIONE NON SICURA
    .technician = Il certificato del gateway è scaduto{ $detail }; controllare l'orologio del terminale, poi avvisare il gestore del gateway.
gateway-own-certificate-refused =
    .cashier = La banca non accetta questo terminale; chiamare il tecnico.
    .customer = NESSUNA CONNESSIONE
    .technician = Il gateway non accetta il nostro certificato, o ne richiede uno{ $detail }; controllare client-certificate-file in [gateway].
gateway-own-certificate-expired =
    .cashier = La banca non accetta più questo terminale; chiamare il tecnico.
    .customer = NESSUNA CONNESSIONE
    .technician = Il gateway rifiuta il nostro certificato, che è scaduto{ $detail }; sostituire client-certificate-file in [gateway] e la relativa chiave.
gateway-not-usable =
    .cashier = La connessione con la banca non funziona, quindi nulla è stato inviato; chiamare il tecnico.
    .customer = NESSUNA CONNESSIONE
    .technician = Il server non è un gateway utilizzabile{ $detail }; controllare url e i file in [gateway], poi eseguire pos-agent doctor.
gateway-refuses-token =
    .cashier = La banca non accetta questo terminale; chiamare il tecnico.
    .customer = TERMINALE NON ACCETTATO
    .technician = Il gateway rifiuta il token di accesso{ $detail }; ottenere un nuovo token e inserirlo dove lo prevede [gateway].
gateway-wrong-address =
    .cashier = Il terminale non trova la banca all'indirizzo configurato; chiamare il tecnico.
    .customer = SERVIZIO NON DISPONIBILE
    .technician = All'indirizzo richiesto il gateway non ha nulla{ $detail }; controllare url in [gateway] e i percorsi in [gateway.assumptions].
gateway-throttles =
    .cashier = La banca è sovraccarica; attendere un momento, poi riprovare.
    .customer = SERVIZIO SOVRACCARICO
    .technician = Il gateway ha troppe richieste e non ha elaborato questa{ $detail }; se accade spesso, chiedere al suo gestore un limite più alto.
never-received =
    .cashier = La banca non ha mai ricevuto questa richiesta; riprovare.
    .customer = NON RICEVUTA DALLA BANCA
    .technician = Il gateway non conosce la richiesta, ed è trascorso il tempo entro cui poteva ancora arrivare{ $detail }; controllare la rete.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = La banca non ha risposto; se accade di nuovo, controllare la rete.
    .customer = NESSUNA RISPOSTA DALLA BANCA
    .technician = La richiesta è stata inviata, ma non è arrivata nessuna risposta{ $detail }; controllare la rete.
gateway-out-of-order =
    .cashier = Guasto presso la banca; se accade di nuovo, avvisare il tecnico.
    .customer = GUASTO DEL SERVIZIO
    .technician = Errore del gateway{ $detail }; rivolgersi al suo gestore.
answer-unclear =
    .cashier = La risposta della banca non è chiara; se accade di nuovo, avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = La risposta del gateway non è leggibile o è contraddittoria{ $detail }; rivolgersi al suo gestore.
code-unknown =
    .cashier = Il terminale non conosce il significato della risposta della banca; avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = Il codice esito del gateway non è in nessun elenco{ $detail }; chiederne il significato al suo gestore, e aggiungere il codice in [gateway.assumptions].
decline-in-doubt =
    .cashier = La banca ha risposto con un rifiuto anomalo; se accade di nuovo, avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = Il gateway ha rifiutato, ma non con HTTP 400{ $detail }, quindi l'agente ha verificato l'esito; se è il comportamento abituale, vedere believe-declines-at-200 in [gateway.assumptions].
another-payment-answered =
    .cashier = La risposta della banca riguarda un altro pagamento; avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = La risposta del gateway riguarda un altro pagamento, riferimento o tipo di operazione{ $detail }; rivolgersi al suo gestore.
not-decided-in-time =
    .cashier = La banca ha impiegato troppo tempo per decidere; se accade di nuovo, avvisare il tecnico.
    .customer = LA BANCA NON HA DECISO IN TEMPO
    .technician = Il gateway non ha deciso in tempo{ $detail }; rivolgersi al suo gestore, o aumentare answer-timeout-ms in [gateway].
another-amount-approved =
    .cashier = La banca ha approvato un altro importo{ $detail }; avvisare il tecnico.
    .customer = IMPORTO APPROVATO ERRATO{ $detail }
    .technician = Il gateway ha approvato un importo o una valuta diversi dalla richiesta{ $detail }; rivolgersi al suo gestore.
amount-unreadable =
    .cashier = La banca ha approvato un importo non leggibile; avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = Il gateway ha approvato un importo non leggibile{ $detail }; rivolgersi al suo gestore.
chip-contradicted =
    .cashier = La banca ha dato risposte diverse al terminale e alla carta; se accade di nuovo, avvisare il tecnico.
    .customer = RISPOSTA DELLA BANCA NON CHIARA
    .technician = L'esito del gateway e la sua risposta al chip (8A) si contraddicono{ $detail }; rivolgersi al suo gestore.
partial-not-taken =
    .cashier = La banca ha approvato solo una parte{ $detail }, che questa cassa non accetta; provare un'altra carta o un altro metodo di pagamento.
    .customer = APPROVATA SOLO UNA PARTE{ $detail }
    .technician = È stata approvata solo una parte{ $detail }, e la richiesta della cassa non accetta importi parziali; nessun intervento necessario.
card-refused =
    .cashier = La carta non ha accettato l'operazione dopo l'approvazione della banca; chiedere un'altra carta.
    .customer = NON ACCETTATA DALLA CARTA
    .technician = Il chip non ha accettato (AAC) dopo l'approvazione dell'emittente{ $detail }; se accade con molte carte, rivolgersi al gestore del gateway.
card-lost =
    .cashier = La carta è stata estratta troppo presto; la prossima volta lasciarla inserita finché il lettore non chiede di estrarla.
    .customer = CARTA ESTRATTA TROPPO PRESTO
    .technician = La carta è stata estratta, o il lettore si è scollegato, prima che il chip confermasse l'approvazione{ $detail }; se accade spesso, controllare il cavo del lettore.
restarted-before-answer =
    .cashier = Il terminale si è riavviato prima di registrare la risposta della banca; se accade di nuovo, avvisare il tecnico.
    .customer = TERMINALE RIAVVIATO
    .technician = L'agente si è riavviato prima di registrare la risposta del gateway{ $detail }; il suo log prima del riavvio mostra il motivo.
restarted-before-card =
    .cashier = Il terminale si è riavviato prima che la carta confermasse il pagamento; se accade di nuovo, avvisare il tecnico.
    .customer = TERMINALE RIAVVIATO
    .technician = L'agente si è riavviato prima che il chip confermasse l'approvazione{ $detail }; il suo log prima del riavvio mostra il motivo.
signature-refused =
    .cashier = La firma è stata rifiutata alla cassa; chiedere un'altra carta.
    .customer = FIRMA NON ACCETTATA
    .technician = La firma è stata rifiutata alla cassa{ $detail }; nessun intervento necessario.
signature-not-checked =
    .cashier = La firma non è stata confrontata in tempo; la prossima volta accettarla o rifiutarla subito.
    .customer = FIRMA NON CONFRONTATA
    .technician = La firma non è stata confrontata entro signature-timeout-s di [terminal]{ $detail }; aumentare il valore se il confronto richiede più tempo.
not-taken =
    .cashier = La cassa non ha accettato il pagamento; se serve ancora, avviarne uno nuovo.
    .customer = NON ACCETTATA DAL NEGOZIO
    .technician = La cassa non ha accettato il pagamento approvato{ $detail }; il suo log mostra il motivo.
till-silent =
    .cashier = La cassa non ha confermato il pagamento in tempo; controllare la cassa, poi avviare un nuovo pagamento.
    .customer = MANCATA CONFERMA DEL NEGOZIO
    .technician = La cassa non ha comunicato entro till-confirm-s di [terminal] se accetta il pagamento{ $detail }; controllare la cassa e la sua connessione, o aumentare il valore.
taken-back-by-person =
    .cashier = Il pagamento è stato stornato manualmente, perché il registro del terminale era una copia non aggiornata.
    .customer = STORNATA DAL NEGOZIO
    .technician = L'operazione è stata stornata con pos-agent settle --reverse{ $detail }; il registro era una copia non aggiornata.
not-sent-in-copy =
    .cashier = Il registro del terminale è una copia non aggiornata, creata prima dell'invio di questa operazione; rivolgersi al tecnico.
    .customer = TERMINALE RIPRISTINATO
    .technician = La copia non aggiornata del registro è stata creata prima dell'invio{ $detail }; partire da una copia solo se non c'è altro modo.
open-in-copy =
    .cashier = Il registro del terminale è una copia non aggiornata, creata prima della conferma di questa operazione; rivolgersi al tecnico.
    .customer = TERMINALE RIPRISTINATO
    .technician = La copia non aggiornata del registro è stata creata prima della conferma{ $detail }; verificare l'operazione presso il gateway, perché il terminale non la invia di nuovo.
signature-in-copy =
    .cashier = Il registro del terminale è una copia non aggiornata, creata prima del confronto della firma; rivolgersi al tecnico.
    .customer = TERMINALE RIPRISTINATO
    .technician = La copia non aggiornata del registro è stata creata durante il confronto della firma{ $detail }; partire da una copia solo se non c'è altro modo.
till-in-copy =
    .cashier = Il registro del terminale è una copia non aggiornata, creata prima della conferma della cassa; rivolgersi al tecnico.
    .customer = TERMINALE RIPRISTINATO
    .technician = La copia non aggiornata del registro è stata creata mentre si attendeva la conferma della cassa{ $detail }; partire da una copia solo se non c'è altro modo.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = Impossibile interrogare la banca; controllare la rete. Il terminale riprova automaticamente.
    .customer = NESSUNA CONNESSIONE
    .technician = Impossibile chiedere l'esito al gateway{ $detail }; controllare la rete, poi eseguire pos-agent doctor.
till-not-heard =
    .cashier = La cassa non ha ancora confermato; attendere la cassa.
    .customer = IL NEGOZIO NON HA ANCORA CONFERMATO
    .technician = La cassa non ha ancora comunicato se accetta il pagamento{ $detail }; ha a disposizione till-confirm-s di [terminal].
not-decided-yet =
    .cashier = La banca non ha ancora deciso; il terminale la interroga di nuovo automaticamente.
    .customer = LA BANCA NON HA ANCORA DECISO
    .technician = Il gateway non ha ancora deciso{ $detail }; l'agente lo interroga di nuovo.
not-listed-yet =
    .cashier = L'operazione non risulta ancora alla banca; il terminale la interroga di nuovo automaticamente.
    .customer = NON ANCORA NOTA ALLA BANCA
    .technician = L'operazione non risulta ancora al gateway{ $detail }; l'agente lo interroga di nuovo, per absence-final-after-h di [gateway.assumptions].
reversal-not-listed =
    .cashier = Lo storno non risulta ancora alla banca; il terminale la interroga di nuovo automaticamente.
    .customer = STORNO IN CORSO
    .technician = Lo storno non risulta ancora al gateway{ $detail }; l'agente lo interroga di nuovo, e lo invia di nuovo dopo resend-after-s di [gateway].
reversal-on-its-way =
    .cashier = Lo storno è in corso; il terminale interroga di nuovo la banca automaticamente.
    .customer = STORNO IN CORSO
    .technician = Uno storno precedente può ancora essere eseguito{ $detail }; l'agente lo verifica.
reversal-not-answered =
    .cashier = Lo storno non è ancora riuscito; il terminale riprova automaticamente.
    .customer = STORNO IN CORSO
    .technician = Uno storno non è stato inviato, o non ha avuto risposta{ $detail }; l'agente lo verifica e riprova.
reversal-held-back =
    .cashier = L'operazione potrebbe essere già stata stornata o rimborsata; il terminale prima lo verifica.
    .customer = STORNO IN CORSO
    .technician = Lo storno attende finché non è noto se il pagamento è già stato stornato o rimborsato in altro modo{ $detail }; l'agente lo verifica.
earlier-try-open =
    .cashier = Una richiesta precedente può ancora essere eseguita; il terminale interroga di nuovo la banca automaticamente.
    .customer = VERIFICA IN CORSO
    .technician = Una richiesta è stata rifiutata, ma una precedente può ancora essere eseguita{ $detail }; l'agente la verifica.
stray-answer =
    .cashier = È arrivata una risposta che appartiene a un'altra richiesta; il terminale interroga di nuovo la banca automaticamente.
    .customer = VERIFICA IN CORSO
    .technician = È arrivata una risposta che appartiene a un'altra richiesta{ $detail }; se accade di nuovo, rivolgersi al gestore del gateway.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = La banca rifiuta lo storno; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway rifiuta lo storno{ $detail }; far stornare il pagamento dal suo gestore.
another-amount-done =
    .cashier = La banca ha elaborato un altro importo; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway ha stornato o elaborato un importo diverso da quello richiesto{ $detail }; chiarire la differenza con il suo gestore.
reversed-in-part =
    .cashier = È stata stornata solo una parte{ $detail }; il tecnico chiarisce con la banca.
    .customer = STORNATA SOLO UNA PARTE{ $detail }
    .technician = Il gateway ha stornato solo una parte dell'importo richiesto{ $detail }; chiarire la differenza con il suo gestore.
another-kind-listed =
    .cashier = Con questo riferimento la banca ha un altro tipo di operazione; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway la elenca come un altro tipo di operazione{ $detail }; chiedere al suo gestore di che cosa si tratta.
list-contradicts =
    .cashier = Le risposte della banca si contraddicono; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Gli elenchi e le risposte del gateway si contraddicono{ $detail }; chiedere al suo gestore che cosa è corretto.
not-listed-any-more =
    .cashier = La banca ha approvato l'operazione, ma ora non le risulta più; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway ha approvato l'operazione ma non la elenca più{ $detail }; chiedere l'esito al suo gestore.
whose-is-not-said =
    .cashier = La banca non indica a quale pagamento appartiene; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway non indica di chi è l'operazione, o a quale pagamento appartiene{ $detail }; rivolgersi al suo gestore.
rest-not-given-back =
    .cashier = La parte che la cassa non ha accettato non è stata rimborsata{ $detail }; rimborsarla con un nuovo riferimento.
    .customer = RIMBORSO NON ESEGUITO
    .technician = Il rimborso della parte che la cassa non ha accettato è stato rifiutato o non è stato possibile{ $detail }; rimborsare la differenza con pos-agent refund.
rest-given-back-in-part =
    .cashier = La cassa ha accettato solo una parte, e la differenza è stata rimborsata solo in parte{ $detail }; rimborsare l'importo mancante con un nuovo riferimento.
    .customer = RIMBORSATA SOLO UNA PARTE{ $detail }
    .technician = La parte che la cassa non ha accettato è stata rimborsata solo in parte{ $detail }; rimborsare l'importo mancante con pos-agent refund.
done-twice =
    .cashier = La banca ha eseguito l'operazione due volte; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il gateway ha eseguito l'operazione due volte{ $detail }; farne stornare una dal suo gestore.
second-payment =
    .cashier = Alla banca risulta un secondo pagamento; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Al gateway risulta un secondo pagamento oltre a quello da mantenere{ $detail }; stornarlo con il suo ID pagamento.
old-copy =
    .cashier = Il registro del terminale è una copia non aggiornata, senza l'esito; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il registro è una copia non aggiornata, senza l'esito{ $detail }. Controllare presso il gateway o sulle ricevute se l'operazione è stata pagata, poi eseguire pos-agent settle NUMBER --keep, o --reverse.
given-back-by-id =
    .cashier = L'operazione potrebbe essere già stata stornata o rimborsata; il tecnico chiarisce con la banca.
    .customer = VERIFICA IN CORSO
    .technician = Il pagamento potrebbe essere già stato stornato o rimborsato con il suo ID pagamento{ $detail }; verificare presso il gateway, poi chiarire quanto resta.
not-settled-here =
    .cashier = L'operazione è stata avviata con altre impostazioni di questo terminale e le attende; chiamare il tecnico.
    .customer = VERIFICA IN CORSO
    .technician = Questo terminale non può chiarire l'operazione con le impostazioni attuali{ $detail }; l'agente non invia nulla, e continua automaticamente quando tornano le impostazioni precedenti.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = Nessun motivo registrato; rivolgersi al tecnico.
    .customer = RIVOLGERSI ALLA CASSA
    .technician = Una versione precedente non ha registrato nessun motivo; vedere il suo log.
