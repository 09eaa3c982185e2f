# French. Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = ,
date-and-time = { $day }/{ $month }/{ $year } { $time }
date-alone = { $day }/{ $month }/{ $year }
months = janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.

## Names of the kinds of transaction

called-capture = CAPTURE :
called-credit = CRÉDIT :
called-forget-card = SUPPRESSION DE CARTE :
called-increment = AUGMENTATION :
called-pre-authorisation = PRÉAUTORISATION :
called-reauthorisation = RENOUVELLEMENT :
called-refund = REMBOURSEMENT :
called-reversal = ANNULATION :
called-store-card = ENREGISTREMENT DE CARTE :
title-capture = CAPTURE DE PRÉAUTORISATION
title-credit = CRÉDIT
title-forget-card = SUPPRESSION DE CARTE
title-increment = AUGMENTATION DE PRÉAUTORISATION
title-pre-authorisation = PRÉAUTORISATION
title-reauthorisation = RENOUVELLEMENT DE PRÉAUTORISATION
title-refund = REMBOURSEMENT
title-reversal = ANNULATION
title-sale = PAIEMENT
title-store-card = ENREGISTREMENT DE CARTE

## The action that did not happen, after a failure

not-charged = non débité
nothing-reserved = aucun montant réservé
nothing-more-reserved = préautorisation non augmentée
nothing-reserved-anew = préautorisation non renouvelée
nothing-paid-out = non crédité
nothing-captured = non capturé
nothing-refunded = non remboursé
nothing-reversed = aucune annulation
nothing-stored = aucune carte enregistrée
nothing-forgotten = carte non supprimée

## States of a transaction, for the cashier

waiting-for-card = En attente d'une carte pour payer { $amount }
asked-by-fleet = Paiement demandé par { $till } : { $text }
waiting-for-card-to-store = En attente d'une carte à enregistrer ; rien n'est débité
being-sent = Enregistré, envoi en cours
reader-ready = Le lecteur de cartes est prêt.
idle = Prêt pour le prochain paiement.
asked-again = La banque est surchargée. Le terminal l'interroge de nouveau automatiquement. Vous pouvez abandonner le paiement.
authorising = Demande d'autorisation, veuillez patienter
customer-acts = EN ATTENTE DE DÉCISION : le client doit confirmer sur { $url } ; le terminal interroge la banque jusqu'à sa décision
compare-signature = ACCEPTÉ { $amount }, SIGNATURE À VÉRIFIER : comparez-la avec celle de la carte, puis validez-la ou refusez-la
compare-signature-first = SIGNATURE À VÉRIFIER pour { $amount } : comparez-la avec celle de la carte, puis validez-la ou refusez-la ; la caisse confirme ensuite le paiement
till-confirms = EN ATTENTE DE LA CAISSE, qui doit confirmer { $amount } : ne remettez rien au client avant
being-taken-back = { $what }NON CONFIRMÉ, annulation en cours : vous pouvez encaisser un nouveau paiement tout de suite, sous une nouvelle référence ; le client verra peut-être deux débits jusqu'à l'annulation de l'un d'eux. { $why }
reservation-being-taken-back = { $what }NON CONFIRMÉ, annulation en cours : vous pouvez faire une nouvelle préautorisation tout de suite, sous une nouvelle référence ; le client verra peut-être deux préautorisations jusqu'à l'annulation de l'une d'elles. { $why }
being-finished = { $what }NON CONFIRMÉ, finalisation en cours : ne recommencez pas, vérifiez plus tard. { $why }
last-try = Dernière tentative : { $why }
needs-person = { $what }NON CONFIRMÉ, à régulariser : patientez et appelez le technicien. { $why }
journal-cannot-be-written = NON CONFIRMÉ : impossible d'écrire dans le journal ; le terminal régularise dès qu'il peut de nouveau écrire
asking-whether-sent = NON CONFIRMÉ : le terminal a redémarré avant d'envoyer le paiement ; il demande à la passerelle si elle l'a reçu
alarm = ALARME : { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }ACCEPTÉ { $amount }
ended-partially-approved = { $what }ACCEPTÉ EN PARTIE : seulement { $part } sur { $amount }
ended-declined = { $what }REFUSÉ, { $nothing }. { $why }
ended-cancelled = { $what }ABANDONNÉ, { $nothing }. { $why }
ended-not-sent = { $what }NON ENVOYÉ, { $nothing }. { $why }
ended-reversed = { $what }ANNULÉ, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = Le client choisit un pourboire
step-present-card = Insérez, présentez ou glissez la carte
step-insert-card = Insérez la carte
step-swipe-card = Puce illisible : retirez la carte et glissez-la
step-try-again = Réessayez avec une seule carte
step-type-card = Saisie du numéro de carte sur le lecteur
step-choosing-application = Le client choisit le mode de paiement
step-reading-card = Lecture en cours, ne retirez pas la carte
step-pin-entry = Le client saisit son code PIN
step-pin-digits = Code PIN { $digits }
step-pin-wrong = Code PIN faux
step-pin-no-tries = Code PIN faux, plus aucun essai
step-pin-one-try = Code PIN faux, 1 essai restant
step-pin-tries = Code PIN faux, { $tries } essais restants
step-pin-done = Code PIN saisi
step-remove-card = Retirez la carte

## The receipt

terminal = Terminal
merchant-id = N° commerçant
date = Date
sale-number = N° opération
reference = Référence
operator = Opérateur
supervisor = Responsable
amount = Montant
tip = Pourboire
total = TOTAL
requested = Demandé
approved-part = Accepté
brand = Marque
application = Application
aid = AID
card = Carte
entry = Mode
auth-code = N° autorisation
acquirer-code = Code acquéreur
clearing-id = ID compensation
payment-id = ID paiement
registration-id = Carte enregistrée
result-code = Code résultat
reason-word = Motif
original = OPÉRATION D'ORIGINE
approved = ACCEPTÉ
card-stored = CARTE ENREGISTRÉE, AUCUN DÉBIT
card-forgotten = CARTE SUPPRIMÉE, AUCUN DÉBIT
partially-approved = ACCEPTÉ EN PARTIE
declined = REFUSÉ
cancelled = ABANDONNÉ
not-carried-out = NON EFFECTUÉ
reversed = ANNULÉ
taken-back = { $nothing }, ANNULÉ
unconfirmed-taken-back = NON CONFIRMÉ, ANNULATION EN COURS
two-bookings = DEUX DÉBITS PEUVENT APPARAÎTRE D'ICI LÀ
two-reservations = DEUX PRÉAUTORISATIONS PEUVENT APPARAÎTRE D'ICI LÀ
unconfirmed-finished = NON CONFIRMÉ, FINALISATION EN COURS
entry-manual = SAISIE MANUELLE
entry-magstripe = PISTE
entry-fallback = PISTE (PUCE ILLISIBLE)
entry-chip = PUCE
entry-contactless = SANS CONTACT
entry-contactless-magstripe = SANS CONTACT (PISTE)
pin-verified = CODE PIN VÉRIFIÉ
pin-verified-online = CODE PIN VÉRIFIÉ EN LIGNE
pin-entered = CODE PIN SAISI
by-signature = SIGNATURE
pin-verified-and-signature = CODE PIN VÉRIFIÉ, SIGNATURE
pin-entered-and-signature = CODE PIN SAISI, SIGNATURE
verified-on-device = VÉRIFIÉ SUR L'APPAREIL DU CLIENT
on-device = APPAREIL DU CLIENT
no-verification = SANS CODE NI SIGNATURE
agree-to-pay = J'accepte de payer le montant ci-dessus selon les conditions de ma carte.
agree-to-reserve = J'accepte que le montant ci-dessus soit réservé sur ma carte, selon ses conditions.
agree-to-credit = J'accepte que le montant ci-dessus soit crédité sur ma carte.
signature = Signature :
merchant-copy = TICKET COMMERÇANT
customer-copy = TICKET CLIENT
keep-receipt = TICKET À CONSERVER
duplicate = DUPLICATA
training = MODE ÉCOLE
training-no-payment = OPÉRATION FICTIVE, AUCUN MOUVEMENT D'ARGENT

## The slip of a close of day

close-of-day = CLÔTURE DE JOURNÉE
close-number = Clôture
business-day = Journée
period-from = Depuis
beginning = le début
period-to = Jusqu'au
receipt-numbers = Tickets
taken = Encaissé
given = Restitué
net = NET
nothing-moved = AUCUN MOUVEMENT D'ARGENT
tips-in-sales = Pourboires inclus
of-unknown = Annul. inconnues
count-declined = Refusés
count-taken-back = Annulés d'office
count-cancelled = Abandonnés
count-not-sent = Non envoyés
by-till = PAR CAISSE
by-operator = PAR OPÉRATEUR
open-items = EN SUSPENS, HORS TOTAUX
nothing-open = RIEN EN SUSPENS
open-needs-person = À RÉGULARISER
open-unconfirmed = NON CONFIRMÉ
open-awaiting-signature = SIGNATURE À VÉRIFIER
open-awaiting-till = À CONFIRMER EN CAISSE
open-under-way = EN COURS
open-unreadable = ILLISIBLE
open-reserved = RÉSERVÉ, NON CAPTURÉ
and-more = et { $count } de plus

## Refusals: a command that is not carried out

refused-amount-differs = la référence { $reference } appartient déjà à une autre opération ({ $kind } { $amount }) ; utilisez une nouvelle référence
refused-busy = le terminal est occupé par l'opération { $reference } de la caisse { $till } ; attendez sa fin ou abandonnez-la
refused-busy-elsewhere = le terminal est occupé par une opération d'une autre caisse ; réessayez quand elle sera terminée
refused-not-ready = impossible pour le moment : { $why }
refused-nothing-typed = aucun montant n'a été saisi : { $why }
refused-no-signature = aucune signature n'est attendue : { $state }
refused-signature-accepted = la signature a déjà été validée : { $state }
refused-signature-refused = la signature a déjà été refusée : { $state }
refused-no-confirmation = aucune confirmation n'est attendue : { $state }
refused-all-taken = la caisse a déjà tout validé : { $state }
refused-part-taken = la caisse en a déjà validé { $amount } : { $state }
refused-nothing-taken = la caisse l'a déjà rejeté : { $state }
refused-no-receipt = pas de ticket avant le résultat : { $state }
refused-not-possible = impossible : { $why }
refused-parameter = { $name } n'est pas valable : { $why }
refused-amount = ce montant n'est pas possible : { $why }
refused-tip = ce pourboire n'est pas possible : { $why }
refused-training-off = le mode école est désactivé sur ce terminal ; pour l'autoriser, mettez allowed = true dans [training]
refused-currency = impossible de débiter en { $wanted } : ce terminal n'accepte que { $terminal } ; omettez la devise, ou voir currency de [terminal]
refused-none-yet = la caisse { $till } n'a encore aucune opération
refused-no-such-sale = la caisse { $till } n'a aucune opération avec la référence { $reference }
refused-no-close-yet = aucune clôture n'a encore été faite ; pos-agent close en fait une
refused-close-not-made = la prochaine clôture n'est pas encore faite ; pos-agent close la fait
refused-no-such-close = la clôture { $number } n'existe pas ; GET /v1/closes ou pos-agent close list en donne la liste
refused-line = lines[{ $at }] ne peut pas être imprimé : { $why }
refused-printer = impression impossible : { $why }
refused-gateway = la passerelle ne répond pas : { $why }
refused-journal = le journal est inutilisable : { $why }

## Refusals: rights

denied-lacks = { $caller } doit avoir { $rights } { $purpose } ; à ajouter dans { $key }
denied-nameless = { $caller } doit avoir { $rights } { $purpose } ; mettez PrivateUsers=no dans l'unité de l'agent, et le système nommera l'utilisateur
denied-not-its-till = { $caller } agit pour { $tills } et non pour la caisse { $till } ; omettez ?till=
denied-not-its-till-of-peer = { $caller } agit pour { $tills } et non pour la caisse { $till } ; à ajouter dans { $key }
denied-which-till = indiquez la caisse de cette demande avec ?till=, parmi : { $tills }
denied-operator-required = un opérateur doit s'identifier pour cela : ouvrez une session (POST /v1/sessions) et envoyez-la dans Pos-Session ; dans un shell, ajoutez --operator NAME
denied-role = { $operator } s'est identifié comme { $role }, et ceci exige le rôle { $needs }
one-role = { $first } ou { $other }
denied-stated-operator = operator : ici, les caissiers s'identifient, la caisse ne peut donc pas indiquer le sien ; pour l'autoriser, définissez { $key }
denied-stated-operator-of-peer = operator : ici, les caissiers s'identifient, la caisse ne peut donc pas indiquer le sien ; pour l'autoriser, ajoutez la caisse dans { $key }
denied-only-at-the-socket = un jeton ne suffit pas pour cela ; passez par le socket Unix du terminal, comme pos-agent
one-right = le droit { $rights }
several-rights = les droits { $rights }
one-of-rights = l'un des droits { $rights }
for-this = pour cela
for-other-till = pour les opérations d'une autre caisse
for-earlier-of-other-till = pour se référer à l'opération d'une autre caisse
for-unknown-payment = pour se référer à un paiement que ce terminal ne connaît pas
for-authentication = pour indiquer comment une carte enregistrée est authentifiée
caller-till = la caisse { $till }
caller-user = l'utilisateur { $user }
caller-nameless = un utilisateur que le système ne nomme pas
key-of-token = { $key } du [[till.token]] avec till = "{ $till }"
key-of-peer = { $key } du [[till.peer]] avec uid = { $user }
key-of-fleet = { $key } du [[fleet.key]] avec till = "{ $till }"
key-of-user = { $key } d'un [[till.peer]] avec uid = { $user }, ou dans rights de [till.socket] pour tous les utilisateurs du socket
key-of-socket = rights de [till.socket]

## Refusals: operators

operator-wrong-pin = le nom ou le code PIN est faux
operator-locked = trop de codes PIN faux ; réessayez dans { $seconds } s, ou faites débloquer par un responsable ou un technicien (pos-agent operator unlock NAME)
operator-pin-under-way = un autre code PIN est en cours de vérification ; réessayez
operator-session-ended = aucun opérateur n'est identifié dans cette session : elle est terminée ou appartient à une autre caisse ; identifiez-vous de nouveau (POST /v1/sessions)
operator-supervisor-needed = ceci exige l'accord d'un responsable ({ $command }) ; faites-le approuver (POST /v1/approvals) et envoyez l'approbation dans Pos-Supervisor, ou demandez au responsable de s'identifier
operator-not-approved = aucun responsable n'a approuvé cette commande : { $why }
operator-no-supervisor = { $name } n'est pas responsable et ne peut pas approuver ceci
operator-unknown = l'opérateur { $name } n'existe pas ; pos-agent operator list les affiche tous
operator-exists = l'opérateur { $name } existe déjà ; changez son code PIN (pos-agent operator pin), ou supprimez d'abord l'opérateur
operator-too-many = il y a { $most } opérateurs, le maximum ; supprimez-en un d'abord
operator-pin-length = le code PIN doit avoir { $digits } chiffres ; voir pin-digits de [operators]
approval-unknown = l'approbation a déjà servi, a pris fin ou date de plus de deux minutes
approval-other-till = l'approbation a été donnée à une autre caisse
approval-other-operator = l'approbation a été donnée à un autre opérateur
approval-other-command = l'approbation porte sur { $approved }, et ceci est { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, référence { $reference }
command-of-transaction = , opération { $number }
command-of-payment = , paiement { $payment }
command-of-card = , carte enregistrée { $registration }
command-with-tip = , avec pourboire
command-typed = , numéro de carte saisi

## Details of refusals: the terminal

nothing-typed = la saisie était vide
reader-in-use = le lecteur est occupé
amount-being-typed = un montant est en cours de saisie sur le lecteur
terminal-stopping = le terminal est en cours d'arrêt
no-random-numbers = le système ne fournit pas de nombres aléatoires ({ $why })
command-not-resolved = la commande n'a pas été résolue ; refaites la demande
pin-not-digested = l'empreinte du code PIN n'a pas pu être calculée ; réessayez
training-busy = le mode école est surchargé ; refaites la demande
training-within = le mode école est déjà actif
state-unknown = l'état de l'opération ne sera connu que lorsque le journal acceptera l'écriture ; répondez de nouveau à ce moment-là
no-printer = le terminal n'a pas d'imprimante ; voir [[printer]] dans la configuration
training-not-printed = les tickets du mode école s'affichent et ne s'impriment jamais
looks-like-card-number = cela ressemble à un numéro de carte, réservé au lecteur ; utilisez une autre valeur

## Details of refusals: amounts

above-limit = { $amount } dépasse le plafond du terminal ({ $limit }) ; voir max-amount de [terminal]
limit-of-other-currency = le terminal a un plafond de { $limit } et n'accepte aucune autre devise ; voir max-amount de [terminal]
tip-above-amount = le pourboire de { $tip } dépasse le montant de { $amount } ; vérifiez la saisie
total-not-possible = montant et pourboire ensemble : { $why }
nothing-given = sans paiement antérieur connu de ce terminal, rien n'est crédité ; pour l'autoriser, définissez max-credit-amount de [terminal]
given-in-other-currency = les crédits ne se font qu'en { $currency } ; voir max-credit-amount de [terminal]
above-given-limit = { $amount } dépasse le plafond des crédits ({ $limit }) ; voir max-credit-amount de [terminal]

## Details of refusals: the earlier transaction

not-of-training = le mode école traite les opérations du mode école, et seulement celles-là
payment-not-of-training = le paiement { $payment } n'est pas du mode école
payment-of-training = le paiement { $payment } est du mode école, sans mouvement d'argent ; ajoutez "training" à la demande
transaction-not-of-training = l'opération { $number } n'est pas du mode école
transaction-of-training = l'opération { $number } est du mode école, sans mouvement d'argent
of-another-account = l'opération { $number } a été commencée avec un autre compte de la passerelle (autre entity-id de [gateway]) ; aucune opération de ce compte ne peut y faire suite
no-transaction-number = ce terminal n'a pas d'opération { $number }
is-reversal = le paiement { $payment } est l'annulation automatique de l'opération { $number } ; rien ne peut faire suite à une annulation
amount-needed = il faut un montant, car ce terminal ne connaît pas le paiement
needs-more = le type { $kind } exige davantage de champs
no-id = { $name } doit comporter 32 lettres et chiffres
rest-references-used = les deux références du remboursement du reste sont déjà utilisées ; validez tout, puis remboursez le reste à part
no-decision-awaited = l'opération { $number } n'attend la décision de personne ; pos-agent status donne celles qui en attendent une
transaction-ended = l'opération { $number } est terminée
older-than-copy = l'opération { $number } est antérieure à la découverte que ce journal est une copie périmée : ses remboursements et captures peuvent manquer ici ; utilisez le back-office de la passerelle
not-compared-yet = la passerelle n'a pas encore dit si ce journal est une copie périmée, où des remboursements peuvent manquer ; réessayez dans un instant
list-incomplete = la liste par date de la passerelle est incomplète, ce journal peut donc être une copie périmée ; seul un paiement qui peut y être recherché peut avoir une suite
cannot-be-looked-up = ce journal peut être une copie périmée, et l'opération { $number } ne peut pas être recherchée ({ $why }) ; réessayez plus tard
not-listed-by-gateway = la passerelle ne la liste pas
linked-unknown = la passerelle détient { $count } opérations liées à l'opération { $number } que ce journal ne connaît pas ; utilisez le back-office de la passerelle

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = le lecteur démarre ; patientez un instant
attention-reader-absent = le lecteur est introuvable : { $why }
attention-reader-other-device = un autre appareil est branché à la place du lecteur : { $why }
attention-reader-not-listed = ce lecteur n'appartient pas à ce terminal : { $why }
attention-reader-no-keys = le lecteur n'a plus de clés : { $why }
attention-reader-clear-data = le lecteur envoie les données de carte en clair et n'est pas utilisé : { $why }
attention-reader-not-encrypting = le lecteur ne chiffre pas correctement et n'est pas utilisé : { $why }
attention-reader-flooding = le lecteur envoie des données sans fin : { $why }
attention-reader-restarting = le lecteur redémarre : { $why }
attention-reader-card-left = la carte du dernier paiement est encore dans le lecteur : retirez-la
attention-reader-keys-low = le lecteur a encore des clés pour { $count } paiements : faites-en injecter de nouvelles

## Attention: the gateway

attention-gateway-unreachable = la passerelle est injoignable : { $why }
attention-gateway-no-answer = la passerelle ne répond pas : { $why }
attention-gateway-out-of-order = la passerelle est en panne : { $why }
attention-gateway-throttles = la passerelle reçoit trop de demandes ; patientez un instant
attention-gateway-refuses-request = la passerelle a rejeté la dernière opération comme demande non valable{ $detail } ; une autre carte n'y changera rien ; vérifiez entity-id de [gateway] et les champs de la caisse
attention-gateway-refuses-token = la passerelle rejette notre jeton : { $why }
attention-gateway-untrusted-certificate = le certificat de la passerelle n'est pas fiable : { $why }
attention-gateway-certificate-expired = le certificat de la passerelle a expiré : { $why }
attention-gateway-own-certificate-refused = la passerelle rejette notre certificat : { $why }
attention-gateway-own-certificate-expired = notre certificat pour la passerelle a expiré : { $why }
attention-gateway-not-usable = la passerelle est inutilisable : { $why }
attention-gateway-certificate-ends = le certificat de la passerelle expire bientôt : { $why }
attention-ca-certificate-ends = le certificat de l'autorité (CA) expire bientôt : { $why }
attention-own-certificate-ends = notre certificat expire bientôt : { $why }
attention-token-ends = notre jeton expire bientôt : { $why }
attention-gateway-files-unused = les fichiers modifiés pour la passerelle sont inutilisables, les précédents restent en service : { $why }

## Attention: printers

attention-printer-no-paper = l'imprimante{ $name } n'a plus de papier : { $why }
attention-printer-paper-low = l'imprimante{ $name } n'a presque plus de papier : { $why }
attention-printer-cover-open = le capot de l'imprimante{ $name } est ouvert : { $why }
attention-printer-paper-jam = bourrage papier dans l'imprimante{ $name } : { $why }
attention-printer-error = l'imprimante{ $name } est en panne : { $why }
attention-printer-pausing = l'imprimante{ $name } est en pause : { $why }
attention-printer-offline = l'imprimante{ $name } est hors ligne : { $why }
attention-printer-absent = l'imprimante{ $name } est injoignable : { $why }
attention-printer-interrupted = l'imprimante{ $name } s'est arrêtée pendant un ticket : { $why }
attention-printer-silent = l'imprimante{ $name } ne répond pas : { $why }

## Attention: clocks and journal

attention-clock-untrusted = ni l'horloge du terminal ni celle du lecteur ne peut être juste ; réglez celle du terminal (timedatectl) et patientez un instant
attention-clock-behind-journal = ni l'horloge du terminal ni celle du lecteur ne peut être juste : celle du terminal indique { $board }, et le dernier enregistrement du journal est du { $latest } ; réglez celle du terminal (timedatectl) et patientez un instant, ou, si elle est juste, voir pos-agent journal set-clock-back --help
attention-clocks-differ = les horloges de la passerelle et du terminal ont { $seconds } s d'écart ; réglez celle du terminal (timedatectl) ; si elle est juste, prévenez l'exploitant de la passerelle
attention-reader-clock-differs = l'horloge du lecteur, utilisée ici, a { $seconds } s d'écart avec celle de la passerelle ; réglez celle du terminal (timedatectl) ; si celle du lecteur est juste, prévenez l'exploitant de la passerelle
attention-journal-full = le journal est plein : { $why }
attention-journal-nearly-full = il reste { $free } Mio sur le disque du journal ; libérez de la place (df -h, journalctl --vacuum-size=50M), et ne supprimez jamais le journal
attention-journal-cannot-be-written = impossible d'écrire dans le journal : { $why }
attention-journal-old-copy = ce journal est une copie périmée : { $why } ; les opérations antérieures en suspens attendent pos-agent settle NUMBER --keep ou --reverse
attention-journal-was-old-copy = ce journal s'est révélé être une copie périmée : il peut y manquer des remboursements, annulations et captures d'opérations jusqu'au numéro { $number } ; utilisez le back-office de la passerelle pour celles-ci
attention-journal-not-compared = la passerelle n'a pas dit si ce journal est une copie périmée ({ $why }) ; d'ici là, les remboursements, captures et crédits sont bloqués et les annulations antérieures attendent ; si elle ne peut pas être interrogée par date, mettez query-by-date = false dans [gateway.assumptions]
attention-journal-list-incomplete = la passerelle n'a pas dit si ce journal est une copie périmée ({ $why }) ; d'ici là, les crédits sont bloqués, les annulations antérieures attendent, et toute suite d'un paiement antérieur attend la recherche de celui-ci ; si elle ne peut pas être interrogée par date, mettez query-by-date = false dans [gateway.assumptions]
attention-journal-began-anew = ce journal est nouveau, et la passerelle détient { $count } paiements de ce terminal des derniers jours : reprenez le journal du terminal précédent (pos-agent journal adopt FILE)
copy-lacks-references = la passerelle détient { $count } références de ce terminal que le journal ne connaît pas (la dernière est dans les logs)
journal-is-old-copy = ce journal est une copie périmée : { $why }
gateway-time-unknown = son heure n'est pas connue : { $why } ; voir probe-path de [gateway.assumptions]
sold-on-another-journal = ce terminal a encaissé avec un autre journal ({ $why }) : rien n'est débité tant que personne n'a décidé. Arrêtez l'agent ; puis remettez le bon journal, ou reprenez-le (pos-agent journal adopt FILE) ; s'il est perdu, acceptez celui-ci (pos-agent journal accept)
journal-gone = { $why } ; { $rescued }
rescued-into-journal = tout a été copié dans le journal : redémarrez l'agent, et rien n'est perdu
rescued-into-file = les opérations en suspens et les dernières sont dans { $file } : remettez le journal en place s'il a été déplacé. S'il est perdu, arrêtez l'agent, écartez le fichier qui est à sa place, reprenez { $file } (pos-agent journal adopt { $file }) et démarrez l'agent
rescued-nothing = le journal n'avait aucune opération : redémarrez l'agent

## Attention: transactions and tills

attention-sale-unconfirmed = opération { $reference } de la caisse { $till } : { $state }
attention-sale-left-alone = l'opération { $reference } de la caisse { $till } est en suspens : { $why }
attention-signature-awaited = l'opération { $reference } de la caisse { $till } attend : vérifiez la signature
attention-confirmation-awaited = l'opération { $reference } attend que la caisse { $till } confirme qu'elle la valide
attention-till-port-closed = les caisses à jeton ne peuvent pas se connecter : { $why }
attention-fleet-message = message de { $author } : { $text }
attention-fleet-settings-trial = les réglages de la flotte, version { $version }, sont à l’essai ; le terminal revient de lui-même s’ils ne sont pas confirmés en dix minutes
attention-fleet-settings-returned = le terminal est revenu des réglages de la flotte, version { $version } : { $why }
attention-fleet-settings-drift = modifié sur le terminal, donc les valeurs de la flotte ne s’appliquent pas : { $settings } ; exécuter : pos-agent check
attention-fleet-settings-unusable = les réglages de la flotte ne sont pas utilisés : { $why } ; pour les supprimer, arrêter l’agent et effacer le dossier fleet à côté du journal
attention-fleet-keys-unusable = les clés de commande de la flotte sont inutilisables, donc aucune commande n’est acceptée : { $why } ; pour celles de la configuration, arrêter l’agent et effacer le dossier fleet à côté du journal
left-as-training = elle est du mode école, sans mouvement d'argent : rien n'en est envoyé à la passerelle
left-to-another-account = elle a été commencée avec un autre compte de la passerelle (autre entity-id de [gateway])
left-to-another-terminal = elle vient du terminal { $theirs }, et ceci est { $ours } : impossible de la régulariser d'ici ; corrigez id de [terminal] si ceci est { $theirs }

## The devices in the status

reader-is = { $model } { $firmware }, n° de série { $serial }
gateway-not-asked-yet = pas encore interrogée
gateway-connected = connectée
gateway-answers = répond
printer-is-ready = ok
printer-not-used-yet = pas encore utilisée
printer-one-waits = { $why } ; 1 ticket en attente
printer-some-wait = { $why } ; { $count } tickets en attente
clock-of-board = celle du terminal
clock-of-reader = celle du lecteur, car celle du terminal ne peut pas être juste
journal-written = écriture normale

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = La banque a refusé{ $detail } ; essayez une autre carte ou un autre moyen de paiement.
    .customer = REFUSÉ PAR LA BANQUE{ $detail }
    .technician = L'émetteur, ou la passerelle en son nom, a refusé{ $detail } ; le terminal n'est pas en cause.
insert-and-pin =
    .cashier = La banque demande le code PIN{ $detail } ; recommencez et demandez au client d'insérer la carte.
    .customer = VEUILLEZ INSÉRER LA CARTE
    .technician = L'émetteur n'accepte pas le sans contact pour ce paiement (insert-and-pin){ $detail } ; le terminal n'est pas en cause.
do-not-try-again =
    .cashier = La banque a refusé définitivement{ $detail } ; ne réessayez pas cette carte.
    .customer = REFUSÉ PAR LA BANQUE{ $detail }
    .technician = L'émetteur n'acceptera plus cette carte (do-not-try-again){ $detail } ; le terminal n'est pas en cause.
card-declined =
    .cashier = La carte elle-même a refusé ; demandez une autre carte.
    .customer = REFUSÉ PAR LA CARTE
    .technician = La puce a refusé (AAC) avant tout envoi{ $detail } ; le terminal n'est pas en cause.
customer-cancelled =
    .cashier = Le client a abandonné ou retiré la carte ; recommencez si c'était une erreur.
    .customer = ABANDON DU CLIENT
    .technician = La touche d'annulation du lecteur a été pressée, ou la carte a été retirée{ $detail } ; rien à faire.
till-cancelled =
    .cashier = Abandonné en caisse ; recommencez si c'était une erreur.
    .customer = ABANDON DU COMMERÇANT
    .technician = La caisse ou son opérateur a abandonné{ $detail } ; rien à faire.
terminal-stopped =
    .cashier = Le terminal était en cours d'arrêt ; recommencez quand il sera prêt.
    .customer = TERMINAL ARRÊTÉ
    .technician = L'agent était en cours d'arrêt{ $detail } ; journalctl --unit pos-agent montre qui l'a arrêté.
card-timeout =
    .cashier = Aucune carte n'a été présentée à temps ; recommencez.
    .customer = AUCUNE CARTE PRÉSENTÉE
    .technician = Aucune carte n'a été présentée dans le délai card-timeout-s de [terminal]{ $detail } ; augmentez-le si les clients ont besoin de plus de temps.
tip-timeout =
    .cashier = Le client n'a pas choisi de pourboire à temps ; recommencez.
    .customer = POURBOIRE SANS RÉPONSE
    .technician = Le porteur n'a ni choisi ni refusé un pourboire dans le délai card-timeout-s de [terminal]{ $detail } ; augmentez-le si les clients ont besoin de plus de temps.
card-unreadable =
    .cashier = La carte est illisible ; demandez une autre carte.
    .customer = CARTE ILLISIBLE
    .technician = La carte n'a pu être lue par aucun des moyens qu'elle permet{ $detail } ; si cela arrive avec beaucoup de cartes, nettoyez le lecteur.
card-gone =
    .cashier = La carte a été retirée avant l'envoi du paiement ; recommencez sans retirer la carte.
    .customer = CARTE RETIRÉE TROP TÔT
    .technician = La passerelle était surchargée, et la carte a été retirée avant que l'agent ait pu envoyer la demande{ $detail } ; si c'est fréquent, demandez une limite plus haute à son exploitant.
card-left-in =
    .cashier = La carte précédente est restée dans le lecteur ; retirez-la, puis recommencez.
    .customer = RETIREZ LA CARTE PRÉCÉDENTE
    .technician = La fente du lecteur ne s'est pas libérée en 30 s{ $detail } ; si elle ne contient pas de carte, nettoyez le lecteur.
tip-not-possible =
    .cashier = Le montant et le pourboire ensemble ne peuvent pas être débités{ $detail } ; recommencez avec un pourboire plus petit.
    .customer = POURBOIRE IMPOSSIBLE
    .technician = Le montant et le pourboire ensemble ne peuvent pas être débités{ $detail } ; voir max-amount de [terminal] et sale de [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = Le lecteur de cartes ne répond plus ; vérifiez son câble et son alimentation, puis recommencez.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur a été débranché ou ne répond pas correctement{ $detail } ; vérifiez son câble et son alimentation, puis lancez pos-agent doctor.
reader-not-ready =
    .cashier = Le lecteur de cartes n'est pas prêt ; vérifiez son câble et son alimentation, puis recommencez.
    .customer = LECTEUR NON PRÊT
    .technician = Le lecteur n'est pas prêt{ $detail } ; vérifiez son câble et son alimentation, puis lancez pos-agent doctor.
reader-absent =
    .cashier = Le lecteur de cartes est introuvable ; vérifiez son câble et son alimentation, puis recommencez.
    .customer = LECTEUR EN PANNE
    .technician = Le port du lecteur ne peut pas être ouvert{ $detail } ; vérifiez son câble, son alimentation et port de [reader].
reader-other-device =
    .cashier = Un autre appareil est branché à la place du lecteur de cartes ; branchez le lecteur, ou appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = L'appareil branché sur le port n'est pas un lecteur de ce type{ $detail } ; vérifiez port et protocol de [reader].
reader-not-listed =
    .cashier = Ce lecteur de cartes n'appartient pas à ce terminal ; branchez le bon, ou appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le numéro de série du lecteur n'est pas dans serials de [reader]{ $detail } ; branchez le bon lecteur, ou ajoutez le numéro si celui-ci est le bon.
reader-restarting =
    .cashier = Le lecteur de cartes redémarre ; patientez un instant, puis recommencez.
    .customer = LECTEUR NON PRÊT
    .technician = Le lecteur redémarre après une panne{ $detail } ; si c'est fréquent, faites-le contrôler.
reader-flooding =
    .cashier = Le lecteur de cartes ne fonctionne pas correctement ; éteignez-le et rallumez-le, ou appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur envoie des données sans fin{ $detail } ; vérifiez son câble et son alimentation, et remplacez-le si cela continue.
reader-no-keys =
    .cashier = Le lecteur ne peut plus lire de cartes ; appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur n'a plus de clé de chiffrement{ $detail } ; faites-en injecter de nouvelles.
reader-clear-data =
    .cashier = Le lecteur ne protège pas correctement les données de carte et n'est pas utilisé ; appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur envoie les données de carte en clair{ $detail } ; rien n'a été envoyé ni conservé ; faites-le remplacer.
reader-not-encrypting =
    .cashier = Le lecteur ne protège pas correctement les données de carte et n'est pas utilisé ; appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur a cessé de chiffrer ou a utilisé deux fois la même clé{ $detail } ; rien n'a été envoyé ni conservé ; faites-le remplacer si cela se reproduit.
reader-amount-differs =
    .cashier = Le lecteur de cartes a utilisé un autre montant, rien n'a donc été envoyé ; appelez le technicien.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur a signé un montant ou une devise qui diffère de la demande (9F02, 5F2A){ $detail } ; faites-le contrôler.
reader-pin-missing =
    .cashier = Le lecteur de cartes n'a pas transmis le code PIN ; recommencez, et appelez le technicien si cela se reproduit.
    .customer = LECTEUR EN PANNE
    .technician = Le lecteur a signalé un code PIN mais n'a pas envoyé de bloc PIN{ $detail } ; faites contrôler sa clé PIN.
typing-not-possible =
    .cashier = Ce terminal ne permet pas de saisir un numéro de carte ; demandez la carte.
    .customer = SAISIE IMPOSSIBLE
    .technician = La saisie du numéro de carte est désactivée sur ce lecteur, ou il ne la prend pas en charge{ $detail } ; voir manual-entry de [reader].
terminal-restarted =
    .cashier = Le terminal a redémarré avant tout envoi ; recommencez.
    .customer = TERMINAL REDÉMARRÉ
    .technician = L'agent a redémarré avant d'envoyer quoi que ce soit{ $detail } ; ses logs d'avant le redémarrage montrent pourquoi.
clock-untrusted =
    .cashier = Le terminal ne connaît pas l'heure et ne peut pas encaisser ; appelez le technicien.
    .customer = TERMINAL NON PRÊT
    .technician = Ni l'horloge du terminal ni celle du lecteur ne peut être juste{ $detail } ; réglez l'horloge, et vérifiez l'heure réseau ou la pile de l'horloge.
request-not-possible =
    .cashier = Le terminal ne peut pas envoyer cette demande ; appelez le technicien.
    .customer = OPÉRATION IMPOSSIBLE
    .technician = La demande contient une valeur que la passerelle n'admet pas{ $detail } ; corrigez-la à la caisse ou dans la configuration.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = Pas de connexion avec la banque ; vérifiez le réseau, puis recommencez.
    .customer = PAS DE CONNEXION
    .technician = Pas de connexion à la passerelle{ $detail } ; vérifiez le réseau, le DNS, le pare-feu et url de [gateway], puis lancez pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = La connexion avec la banque n'est pas sûre, rien n'a donc été envoyé ; appelez le technicien.
    .customer = CONNEXION NON SÉCURISÉE
    .technician = Le certificat de la passerelle n'est pas fiable{ $detail } ; vérifiez l'horloge, ainsi que ca-file et ca-pins de [gateway].
gateway-certificate-expired =
    .cashier = La connexion avec la banque n'est pas sûre, rien n'a donc été envoyé ; appelez le technicien.
    .customer = CONNEXION NON SÉCURISÉE
    .technician = Le certificat de la passerelle a expiré{ $detail } ; vérifiez l'horloge du terminal, puis prévenez l'exploitant de la passerelle.
gateway-own-certificate-refused =
    .cashier = La banque ne reconnaît pas ce terminal ; appelez le technicien.
    .customer = PAS DE CONNEXION
    .technician = La passerelle rejette notre certificat, ou en exige un{ $detail } ; vérifiez client-certificate-file de [gateway].
gateway-own-certificate-expired =
    .cashier = La banque ne reconnaît plus ce terminal ; appelez le technicien.
    .customer = PAS DE CONNEXION
    .technician = La passerelle rejette notre certificat, qui a expiré{ $detail } ; remplacez client-certificate-file de [gateway] et sa clé.
gateway-not-usable =
    .cashier = La connexion avec la banque ne fonctionne pas, rien n'a donc été envoyé ; appelez le technicien.
    .customer = PAS DE CONNEXION
    .technician = Le serveur n'est pas une passerelle utilisable{ $detail } ; vérifiez url et les fichiers de [gateway], puis lancez pos-agent doctor.
gateway-refuses-token =
    .cashier = La banque ne reconnaît pas ce terminal ; appelez le technicien.
    .customer = TERMINAL NON RECONNU
    .technician = La passerelle rejette le jeton d'accès{ $detail } ; obtenez un nouveau jeton et placez-le là où [gateway] l'attend.
gateway-wrong-address =
    .cashier = Le terminal ne trouve pas la banque à l'adresse configurée ; appelez le technicien.
    .customer = SERVICE INDISPONIBLE
    .technician = La passerelle n'a rien à l'adresse demandée{ $detail } ; vérifiez url de [gateway] et les chemins de [gateway.assumptions].
gateway-throttles =
    .cashier = La banque est surchargée ; patientez un instant, puis recommencez.
    .customer = SERVICE SURCHARGÉ
    .technician = La passerelle reçoit trop de demandes et n'a pas traité celle-ci{ $detail } ; si c'est fréquent, demandez une limite plus haute à son exploitant.
never-received =
    .cashier = La banque n'a jamais reçu cette demande ; recommencez.
    .customer = NON REÇU PAR LA BANQUE
    .technician = La passerelle ne connaît pas la demande, et le délai où elle pouvait encore arriver est passé{ $detail } ; vérifiez le réseau.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = La banque n'a pas répondu ; vérifiez le réseau si cela se reproduit.
    .customer = PAS DE RÉPONSE DE LA BANQUE
    .technician = La demande a été envoyée, mais aucune réponse n'est venue{ $detail } ; vérifiez le réseau.
gateway-out-of-order =
    .cashier = La banque a eu une panne ; prévenez le technicien si cela se reproduit.
    .customer = SERVICE EN PANNE
    .technician = La passerelle est tombée en panne{ $detail } ; contactez son exploitant.
answer-unclear =
    .cashier = La réponse de la banque n'est pas claire ; prévenez le technicien si cela se reproduit.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = La réponse de la passerelle est illisible ou se contredit{ $detail } ; contactez son exploitant.
code-unknown =
    .cashier = Le terminal ne comprend pas la réponse de la banque ; prévenez le technicien.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = Le code résultat de la passerelle ne figure sur aucune liste{ $detail } ; demandez sa signification à son exploitant, et ajoutez-le à [gateway.assumptions].
decline-in-doubt =
    .cashier = La banque a refusé de façon inhabituelle ; prévenez le technicien si cela se reproduit.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = La passerelle a refusé, mais pas avec HTTP 400{ $detail }, l'agent a donc vérifié auprès d'elle ; si c'est habituel, voir believe-declines-at-200 de [gateway.assumptions].
another-payment-answered =
    .cashier = La réponse de la banque concerne un autre paiement ; prévenez le technicien.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = La réponse de la passerelle concerne un autre paiement, une autre référence ou un autre type d'opération{ $detail } ; contactez son exploitant.
not-decided-in-time =
    .cashier = La banque a mis trop de temps à décider ; prévenez le technicien si cela se reproduit.
    .customer = DÉLAI DE LA BANQUE DÉPASSÉ
    .technician = La passerelle n'a pas décidé à temps{ $detail } ; contactez son exploitant, ou augmentez answer-timeout-ms de [gateway].
another-amount-approved =
    .cashier = La banque a accepté un autre montant{ $detail } ; prévenez le technicien.
    .customer = MONTANT ACCEPTÉ ERRONÉ{ $detail }
    .technician = La passerelle a accepté un montant ou une devise qui diffère de la demande{ $detail } ; contactez son exploitant.
amount-unreadable =
    .cashier = La banque a accepté un montant illisible ; prévenez le technicien.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = La passerelle a accepté un montant illisible{ $detail } ; contactez son exploitant.
chip-contradicted =
    .cashier = La banque n'a pas donné la même réponse au terminal et à la carte ; prévenez le technicien si cela se reproduit.
    .customer = RÉPONSE DE LA BANQUE PEU CLAIRE
    .technician = Le résultat de la passerelle et sa réponse à la puce (8A) se contredisent{ $detail } ; contactez son exploitant.
partial-not-taken =
    .cashier = La banque n'a accepté qu'une partie{ $detail }, ce que cette caisse n'admet pas ; essayez une autre carte ou un autre moyen de paiement.
    .customer = ACCEPTÉ EN PARTIE SEULEMENT{ $detail }
    .technician = Seule une partie a été acceptée{ $detail }, et la demande de la caisse n'admet pas de paiement partiel ; rien à faire.
card-refused =
    .cashier = La carte a refusé après l'accord de la banque ; demandez une autre carte.
    .customer = REFUS DE LA CARTE
    .technician = La puce a refusé (AAC) après l'accord de l'émetteur{ $detail } ; si cela arrive avec beaucoup de cartes, contactez l'exploitant de la passerelle.
card-lost =
    .cashier = La carte a été retirée trop tôt ; la prochaine fois, ne la retirez que lorsque le lecteur le demande.
    .customer = CARTE RETIRÉE TROP TÔT
    .technician = La carte a été retirée ou le lecteur perdu avant que la puce confirme l'accord{ $detail } ; si c'est fréquent, vérifiez le câble du lecteur.
restarted-before-answer =
    .cashier = Le terminal a redémarré avant d'enregistrer la réponse de la banque ; prévenez le technicien si cela se reproduit.
    .customer = TERMINAL REDÉMARRÉ
    .technician = L'agent a redémarré avant d'enregistrer la réponse de la passerelle{ $detail } ; ses logs d'avant le redémarrage montrent pourquoi.
restarted-before-card =
    .cashier = Le terminal a redémarré avant que la carte confirme le paiement ; prévenez le technicien si cela se reproduit.
    .customer = TERMINAL REDÉMARRÉ
    .technician = L'agent a redémarré avant que la puce confirme l'accord{ $detail } ; ses logs d'avant le redémarrage montrent pourquoi.
signature-refused =
    .cashier = La signature a été refusée en caisse ; demandez une autre carte.
    .customer = SIGNATURE NON CONFORME
    .technician = La signature a été refusée en caisse{ $detail } ; rien à faire.
signature-not-checked =
    .cashier = La signature n'a pas été vérifiée à temps ; la prochaine fois, validez-la ou refusez-la tout de suite.
    .customer = SIGNATURE NON VÉRIFIÉE
    .technician = La signature n'a pas été vérifiée dans le délai signature-timeout-s de [terminal]{ $detail } ; augmentez-le si la vérification prend plus de temps.
not-taken =
    .cashier = La caisse n'a pas validé le paiement ; recommencez s'il est toujours souhaité.
    .customer = NON VALIDÉ PAR LE COMMERÇANT
    .technician = La caisse n'a pas validé le paiement accepté{ $detail } ; ses logs montrent pourquoi.
till-silent =
    .cashier = La caisse n'a pas confirmé le paiement à temps ; vérifiez la caisse, puis recommencez.
    .customer = SANS RÉPONSE DU COMMERÇANT
    .technician = La caisse n'a pas dit dans le délai till-confirm-s de [terminal] si elle valide le paiement{ $detail } ; vérifiez la caisse et sa connexion, ou augmentez le délai.
taken-back-by-person =
    .cashier = Le paiement a été annulé manuellement, car le journal du terminal était une copie périmée.
    .customer = ANNULÉ PAR LE COMMERÇANT
    .technician = Annulé avec pos-agent settle --reverse{ $detail } ; le journal était une copie périmée.
not-sent-in-copy =
    .cashier = Le journal du terminal est une copie périmée, faite avant cet envoi ; voyez avec le technicien.
    .customer = TERMINAL RESTAURÉ
    .technician = La copie périmée du journal a été faite avant cet envoi{ $detail } ; ne repartez d'une copie qu'en dernier recours.
open-in-copy =
    .cashier = Le journal du terminal est une copie périmée, faite avant cette confirmation ; voyez avec le technicien.
    .customer = TERMINAL RESTAURÉ
    .technician = La copie périmée du journal a été faite avant cette confirmation{ $detail } ; vérifiez auprès de la passerelle, car le terminal ne renvoie pas l'opération.
signature-in-copy =
    .cashier = Le journal du terminal est une copie périmée, faite avant la vérification de la signature ; voyez avec le technicien.
    .customer = TERMINAL RESTAURÉ
    .technician = La copie périmée du journal a été faite pendant la vérification de la signature{ $detail } ; ne repartez d'une copie qu'en dernier recours.
till-in-copy =
    .cashier = Le journal du terminal est une copie périmée, faite avant la confirmation de la caisse ; voyez avec le technicien.
    .customer = TERMINAL RESTAURÉ
    .technician = La copie périmée du journal a été faite pendant l'attente de la confirmation de la caisse{ $detail } ; ne repartez d'une copie qu'en dernier recours.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = Impossible d'interroger la banque ; vérifiez le réseau. Le terminal réessaie automatiquement.
    .customer = PAS DE CONNEXION
    .technician = Impossible de demander le résultat à la passerelle{ $detail } ; vérifiez le réseau, puis lancez pos-agent doctor.
till-not-heard =
    .cashier = La caisse n'a pas encore confirmé ; attendez la caisse.
    .customer = EN ATTENTE DU COMMERÇANT
    .technician = La caisse n'a pas encore dit si elle valide le paiement{ $detail } ; elle a pour cela le délai till-confirm-s de [terminal].
not-decided-yet =
    .cashier = La banque n'a pas encore décidé ; le terminal l'interroge de nouveau automatiquement.
    .customer = EN ATTENTE DE LA BANQUE
    .technician = La passerelle n'a pas encore décidé{ $detail } ; l'agent l'interroge de nouveau.
not-listed-yet =
    .cashier = La banque n'en a pas encore trace ; le terminal l'interroge de nouveau automatiquement.
    .customer = PAS ENCORE CONNU DE LA BANQUE
    .technician = La passerelle n'en a pas encore trace{ $detail } ; l'agent l'interroge de nouveau, pendant absence-final-after-h de [gateway.assumptions].
reversal-not-listed =
    .cashier = L'annulation n'apparaît pas encore à la banque ; le terminal l'interroge de nouveau automatiquement.
    .customer = ANNULATION EN COURS
    .technician = La passerelle ne connaît pas encore l'annulation{ $detail } ; l'agent l'interroge de nouveau, et renvoie l'annulation après resend-after-s de [gateway].
reversal-on-its-way =
    .cashier = L'annulation est en cours ; le terminal interroge de nouveau la banque automatiquement.
    .customer = ANNULATION EN COURS
    .technician = Une annulation antérieure peut encore être exécutée{ $detail } ; l'agent vérifie.
reversal-not-answered =
    .cashier = L'annulation n'a pas encore abouti ; le terminal réessaie automatiquement.
    .customer = ANNULATION EN COURS
    .technician = Une annulation n'a pas pu être envoyée, ou n'a pas reçu de réponse{ $detail } ; l'agent vérifie et réessaie.
reversal-held-back =
    .cashier = Le paiement a peut-être déjà été annulé ou remboursé ; le terminal vérifie d'abord.
    .customer = ANNULATION EN COURS
    .technician = L'annulation attend de savoir si le paiement a été annulé ou remboursé d'une autre façon{ $detail } ; l'agent vérifie.
earlier-try-open =
    .cashier = Une demande antérieure peut encore être exécutée ; le terminal interroge de nouveau la banque automatiquement.
    .customer = VÉRIFICATION EN COURS
    .technician = Une demande a été refusée, mais une demande antérieure peut encore être exécutée{ $detail } ; l'agent vérifie.
stray-answer =
    .cashier = Une réponse est arrivée pour une autre demande ; le terminal interroge de nouveau la banque automatiquement.
    .customer = VÉRIFICATION EN COURS
    .technician = Une réponse est arrivée pour une autre demande{ $detail } ; si cela se reproduit, contactez l'exploitant de la passerelle.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = La banque rejette l'annulation ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle rejette l'annulation{ $detail } ; faites annuler le paiement par son exploitant.
another-amount-done =
    .cashier = La banque a traité un autre montant ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle a annulé ou traité un autre montant que celui demandé{ $detail } ; régularisez le reste avec son exploitant.
reversed-in-part =
    .cashier = L'annulation n'est que partielle{ $detail } ; le technicien voit cela avec la banque.
    .customer = ANNULÉ EN PARTIE SEULEMENT{ $detail }
    .technician = La passerelle n'a annulé qu'une partie du montant demandé{ $detail } ; régularisez le reste avec son exploitant.
another-kind-listed =
    .cashier = La banque a un autre type d'opération sous cette référence ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle la liste comme un autre type d'opération{ $detail } ; demandez à son exploitant ce que c'est.
list-contradicts =
    .cashier = Les réponses de la banque se contredisent ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = Les listes et les réponses de la passerelle se contredisent{ $detail } ; demandez à son exploitant ce qui est juste.
not-listed-any-more =
    .cashier = La banque a accepté mais n'en a plus trace ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle a accepté mais ne liste plus l'opération{ $detail } ; demandez le résultat à son exploitant.
whose-is-not-said =
    .cashier = La banque ne dit pas de quel paiement il s'agit ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle ne dit pas à qui est l'opération, ou à quel paiement elle se rattache{ $detail } ; contactez son exploitant.
rest-not-given-back =
    .cashier = La partie que la caisse n'a pas validée n'a pas été remboursée{ $detail } ; remboursez-la sous une nouvelle référence.
    .customer = REMBOURSEMENT NON EFFECTUÉ
    .technician = Le remboursement de la partie que la caisse n'a pas validée a été refusé ou était impossible{ $detail } ; remboursez le reste avec pos-agent refund.
rest-given-back-in-part =
    .cashier = La caisse n'a validé qu'une partie, et le reste n'a été remboursé qu'en partie{ $detail } ; remboursez le montant manquant sous une nouvelle référence.
    .customer = REMBOURSÉ EN PARTIE SEULEMENT{ $detail }
    .technician = La partie que la caisse n'a pas validée n'a été remboursée qu'en partie{ $detail } ; remboursez le montant manquant avec pos-agent refund.
done-twice =
    .cashier = La banque l'a exécuté deux fois ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle l'a exécuté deux fois{ $detail } ; faites annuler l'une des deux opérations par son exploitant.
second-payment =
    .cashier = La banque a un deuxième paiement ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = La passerelle a un deuxième paiement en plus de celui qui est conservé{ $detail } ; annulez-le par son ID paiement.
old-copy =
    .cashier = Le journal du terminal est une copie périmée, sans le résultat ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = Le journal est une copie périmée, sans le résultat{ $detail }. Vérifiez auprès de la passerelle ou sur les tickets si l'opération a été payée, puis lancez pos-agent settle NUMBER --keep, ou --reverse.
given-back-by-id =
    .cashier = Le paiement a peut-être déjà été annulé ou remboursé ; le technicien voit cela avec la banque.
    .customer = VÉRIFICATION EN COURS
    .technician = Le paiement a peut-être déjà été annulé ou remboursé par son ID paiement{ $detail } ; cherchez-le auprès de la passerelle, puis régularisez le reste.
not-settled-here =
    .cashier = Cette opération a été commencée avec d'autres réglages de ce terminal et les attend ; appelez le technicien.
    .customer = VÉRIFICATION EN COURS
    .technician = Ce terminal ne peut pas la régulariser avec ses réglages actuels{ $detail } ; l'agent n'envoie rien, et continue automatiquement quand les réglages antérieurs sont rétablis.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = Aucun motif n'est enregistré ; voyez avec le technicien.
    .customer = ADRESSEZ-VOUS À LA CAISSE
    .technician = Une version antérieure n'a enregistré aucun motif ; voir ses logs.
