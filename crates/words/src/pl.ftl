# Polski. Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = ,
date-and-time = { $day }.{ $month }.{ $year } { $time }
date-alone = { $day }.{ $month }.{ $year }
months = sty lut mar kwi maj cze lip sie wrz paź lis gru

## Names of the kinds of transaction

called-capture = ROZLICZENIE:
called-credit = UZNANIE:
called-forget-card = USUNIĘCIE KARTY:
called-increment = ZWIĘKSZENIE:
called-pre-authorisation = PREAUTORYZACJA:
called-reauthorisation = ODNOWIENIE:
called-refund = ZWROT:
called-reversal = UNIEWAŻNIENIE:
called-store-card = ZAPISANIE KARTY:
title-capture = ROZLICZENIE PREAUTORYZACJI
title-credit = UZNANIE
title-forget-card = USUNIĘCIE KARTY
title-increment = ZWIĘKSZENIE PREAUTORYZACJI
title-pre-authorisation = PREAUTORYZACJA
title-reauthorisation = ODNOWIENIE PREAUTORYZACJI
title-refund = ZWROT
title-reversal = UNIEWAŻNIENIE
title-sale = SPRZEDAŻ
title-store-card = ZAPISANIE KARTY

## The action that did not happen, after a failure

not-charged = nie obciążono karty
nothing-reserved = nie zarezerwowano środków
nothing-more-reserved = nie zwiększono preautoryzacji
nothing-reserved-anew = nie odnowiono preautoryzacji
nothing-paid-out = nie wypłacono środków
nothing-captured = nie rozliczono kwoty
nothing-refunded = nie zwrócono środków
nothing-reversed = nie unieważniono
nothing-stored = nie zapisano karty
nothing-forgotten = nie usunięto karty

## States of a transaction, for the cashier

waiting-for-card = Oczekiwanie na kartę, do zapłaty { $amount }
asked-by-fleet = Płatności żąda { $till }: { $text }
waiting-for-card-to-store = Oczekiwanie na kartę do zapisania; karta nie zostanie obciążona
being-sent = Zarejestrowano, trwa wysyłanie
reader-ready = Czytnik kart jest gotowy.
idle = Gotowy do następnej sprzedaży.
asked-again = Bank jest przeciążony. Terminal automatycznie zapyta go ponownie. Sprzedaż można anulować.
authorising = Trwa autoryzacja, proszę czekać
customer-acts = BRAK DECYZJI: klient musi potwierdzić płatność na { $url }; terminal pyta bank, aż zapadnie decyzja
compare-signature = ZATWIERDZONO { $amount }, WYMAGANY PODPIS: proszę porównać go z podpisem na karcie i zaakceptować lub odrzucić
compare-signature-first = WYMAGANY PODPIS, kwota { $amount }: proszę porównać go z podpisem na karcie i zaakceptować lub odrzucić; następnie kasa potwierdzi płatność
till-confirms = OCZEKIWANIE NA KASĘ, która musi potwierdzić { $amount }: do tego czasu nie wydawać towaru
being-taken-back = { $what }WYNIK NIEPOTWIERDZONY, trwa wycofywanie: sklep może od razu przyjąć nową płatność z nowym numerem referencyjnym; klient może widzieć dwa obciążenia, dopóki jedno nie zostanie wycofane. { $why }
reservation-being-taken-back = { $what }WYNIK NIEPOTWIERDZONY, trwa wycofywanie: sklep może od razu wykonać nową rezerwację z nowym numerem referencyjnym; klient może widzieć dwie rezerwacje, dopóki jedna nie zostanie wycofana. { $why }
being-finished = { $what }WYNIK NIEPOTWIERDZONY, realizacja w toku: nie powtarzać, sprawdzić później. { $why }
last-try = Ostatnia próba: { $why }
needs-person = { $what }WYNIK NIEPOTWIERDZONY, wymaga wyjaśnienia: proszę poczekać i wezwać serwisanta. { $why }
journal-cannot-be-written = WYNIK NIEPOTWIERDZONY: nie można zapisać dziennika; terminal wyjaśni to, gdy tylko zapis będzie znów możliwy
asking-whether-sent = WYNIK NIEPOTWIERDZONY: terminal został ponownie uruchomiony przed wysłaniem sprzedaży; pyta bramkę, czy ją otrzymała
alarm = ALARM: { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }ZATWIERDZONO { $amount }
ended-partially-approved = { $what }ZATWIERDZONO CZĘŚCIOWO: tylko { $part } z { $amount }
ended-declined = { $what }ODRZUCONO, { $nothing }. { $why }
ended-cancelled = { $what }ANULOWANO, { $nothing }. { $why }
ended-not-sent = { $what }NIE WYSŁANO, { $nothing }. { $why }
ended-reversed = { $what }WYCOFANO, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = Klient wybiera napiwek
step-present-card = Włóż, zbliż lub przeciągnij kartę
step-insert-card = Włóż kartę
step-swipe-card = Nie można odczytać chipa: wyjmij kartę i przeciągnij ją
step-try-again = Spróbuj ponownie jedną kartą
step-type-card = Numer karty jest wpisywany na czytniku
step-choosing-application = Klient wybiera sposób zapłaty
step-reading-card = Trwa odczyt, nie wyjmuj karty
step-pin-entry = Klient wprowadza PIN
step-pin-digits = PIN { $digits }
step-pin-wrong = Błędny PIN
step-pin-no-tries = Błędny PIN, brak dalszych prób
step-pin-one-try = Błędny PIN, ostatnia próba
step-pin-tries = Błędny PIN, pozostało prób: { $tries }
step-pin-done = PIN wprowadzony
step-remove-card = Wyjmij kartę

## The receipt

terminal = Terminal
merchant-id = Nr akceptanta
date = Data
sale-number = Nr transakcji
reference = Nr ref.
operator = Operator
supervisor = Kierownik
amount = Kwota
tip = Napiwek
total = RAZEM
requested = Kwota żądana
approved-part = Zatwierdzono
brand = Rodzaj karty
application = Aplikacja
aid = AID
card = Nr karty
entry = Odczyt
auth-code = Kod autoryzacji
acquirer-code = Kod acquirera
clearing-id = ID clearingu
payment-id = ID płatności
registration-id = Zapisana karta
result-code = Kod wyniku
reason-word = Powód
original = TRANSAKCJA PIERWOTNA
approved = ZATWIERDZONO
card-stored = KARTA ZAPISANA, BEZ OBCIĄŻENIA
card-forgotten = KARTA USUNIĘTA, BEZ OBCIĄŻENIA
partially-approved = ZATWIERDZONO CZĘŚCIOWO
declined = ODRZUCONO
cancelled = ANULOWANO
not-carried-out = NIE WYKONANO
reversed = WYCOFANO
taken-back = { $nothing }: WYCOFANO
unconfirmed-taken-back = WYNIK NIEPOTWIERDZONY, TRWA WYCOFYWANIE
two-bookings = DO TEGO CZASU MOGĄ BYĆ WIDOCZNE DWA OBCIĄŻENIA
two-reservations = DO TEGO CZASU MOGĄ BYĆ WIDOCZNE DWIE REZERWACJE
unconfirmed-finished = WYNIK NIEPOTWIERDZONY, REALIZACJA W TOKU
entry-manual = RĘCZNIE
entry-magstripe = PASEK MAGNETYCZNY
entry-fallback = PASEK (AWARIA CHIPA)
entry-chip = CHIP
entry-contactless = ZBLIŻENIOWO
entry-contactless-magstripe = ZBLIŻENIOWO (PASEK)
pin-verified = PIN ZWERYFIKOWANY
pin-verified-online = PIN ZWERYFIKOWANY ONLINE
pin-entered = PIN WPROWADZONY
by-signature = PODPIS
pin-verified-and-signature = PIN ZWERYFIKOWANY, PODPIS
pin-entered-and-signature = PIN WPROWADZONY, PODPIS
verified-on-device = WERYFIKACJA URZĄDZENIEM KLIENTA
on-device = URZĄDZENIE KLIENTA
no-verification = BEZ WERYFIKACJI POSIADACZA
agree-to-pay = Proszę obciążyć moją kartę powyższą kwotą zgodnie z warunkami umowy o kartę.
agree-to-reserve = Zgadzam się na rezerwację powyższej kwoty na mojej karcie zgodnie z warunkami umowy o kartę.
agree-to-credit = Zgadzam się na wypłatę powyższej kwoty na moją kartę.
signature = Podpis:
merchant-copy = KOPIA DLA SPRZEDAWCY
customer-copy = KOPIA DLA KLIENTA
keep-receipt = PROSZĘ ZACHOWAĆ WYDRUK
duplicate = DUPLIKAT
training = SZKOLENIE
training-no-payment = BEZ PŁATNOŚCI, BEZ RUCHU ŚRODKÓW

## The slip of a close of day

close-of-day = ZAMKNIĘCIE DNIA
close-number = Zamknięcie nr
business-day = Dzień
period-from = Od
beginning = początku
period-to = Do
receipt-numbers = Wydruki
taken = Przyjęto
given = Zwrócono
net = SALDO
nothing-moved = BRAK OBROTU
tips-in-sales = Napiwki w sprzedaży
of-unknown = Unieważnienia nieznanych
count-declined = Odrzucone
count-taken-back = Wycofane
count-cancelled = Anulowane
count-not-sent = Niewysłane
by-till = WEDŁUG KAS
by-operator = WEDŁUG OPERATORÓW
open-items = OTWARTE, NIEUJĘTE POWYŻEJ
nothing-open = BRAK OTWARTYCH TRANSAKCJI
open-needs-person = DO WYJAŚNIENIA
open-unconfirmed = NIEPOTWIERDZONE
open-awaiting-signature = PODPIS DO PORÓWNANIA
open-awaiting-till = KASA MA POTWIERDZIĆ
open-under-way = W TOKU
open-unreadable = NIE DO ODCZYTANIA
open-reserved = ZAREZERWOWANO, NIE ROZLICZONO
and-more = i jeszcze { $count }

## Refusals: a command that is not carried out

refused-amount-differs = numer referencyjny { $reference } należy już do innej transakcji ({ $kind } { $amount }); użyć nowego numeru referencyjnego
refused-busy = terminal jest zajęty transakcją { $reference } kasy { $till }; poczekać na jej koniec lub ją anulować
refused-busy-elsewhere = terminal jest zajęty transakcją innej kasy; spróbować ponownie po jej zakończeniu
refused-not-ready = teraz to niemożliwe: { $why }
refused-nothing-typed = nie wpisano kwoty: { $why }
refused-no-signature = żaden podpis nie czeka na porównanie: { $state }
refused-signature-accepted = podpis został już zaakceptowany: { $state }
refused-signature-refused = podpis został już odrzucony: { $state }
refused-no-confirmation = nic nie czeka na potwierdzenie: { $state }
refused-all-taken = kasa przyjęła już całość: { $state }
refused-part-taken = kasa przyjęła już z tego { $amount }: { $state }
refused-nothing-taken = kasa odmówiła już przyjęcia: { $state }
refused-no-receipt = przed wynikiem nie ma wydruku: { $state }
refused-not-possible = to niemożliwe: { $why }
refused-parameter = niedozwolona wartość { $name }: { $why }
refused-amount = niedozwolona kwota: { $why }
refused-tip = niedozwolony napiwek: { $why }
refused-training-off = tryb szkoleniowy jest wyłączony na tym terminalu; aby na niego zezwolić, ustawić allowed = true w [training]
refused-currency = nie można obciążyć karty w { $wanted }: ten terminal przyjmuje tylko { $terminal }; pominąć walutę albo zob. currency w [terminal]
refused-none-yet = kasa { $till } nie ma jeszcze żadnej transakcji
refused-no-such-sale = kasa { $till } nie ma transakcji o numerze referencyjnym { $reference }
refused-no-close-yet = nie było jeszcze zamknięcia dnia; wykonuje je pos-agent close
refused-close-not-made = następnego zamknięcia dnia jeszcze nie wykonano; wykonuje je pos-agent close
refused-no-such-close = nie ma zamknięcia dnia { $number }; listę podaje GET /v1/closes lub pos-agent close list
refused-line = lines[{ $at }] nie da się wydrukować: { $why }
refused-printer = nie można tego wydrukować: { $why }
refused-gateway = bramka nie odpowiada: { $why }
refused-journal = nie można użyć dziennika: { $why }

## Refusals: rights

denied-lacks = { $caller } musi mieć { $purpose } { $rights }; uzupełnić: { $key }
denied-nameless = { $caller } musi mieć { $purpose } { $rights }; ustawić PrivateUsers=no w jednostce agenta, wtedy system poda użytkownika
denied-not-its-till = { $caller } obsługuje { $tills }, a nie kasę { $till }; pominąć ?till=
denied-not-its-till-of-peer = { $caller } obsługuje { $tills }, a nie kasę { $till }; uzupełnić: { $key }
denied-which-till = podać kasę tego żądania w ?till=, jedną z: { $tills }
denied-operator-required = wymaga to zalogowanego operatora: otworzyć sesję (POST /v1/sessions) i przesłać ją jako Pos-Session; w powłoce dodać --operator NAME
denied-role = operator { $operator } jest zalogowany jako { $role }, a wymagana jest rola { $needs }
one-role = { $first } lub { $other }
denied-stated-operator = operator: tutaj logują się kasjerzy, więc kasa nie może podać kasjera; aby na to zezwolić, ustawić { $key }
denied-stated-operator-of-peer = operator: tutaj logują się kasjerzy, więc kasa nie może podać kasjera; aby na to zezwolić, dodać kasę do { $key }
denied-only-at-the-socket = token do tego nie wystarcza; wysłać żądanie na terminalu, przez jego gniazdo Unix, tak jak pos-agent
one-right = prawo { $rights }
several-rights = prawa { $rights }
one-of-rights = jedno z praw { $rights }
for-this = do tego
for-other-till = do transakcji innej kasy
for-earlier-of-other-till = do powołania się na transakcję innej kasy
for-unknown-payment = do powołania się na płatność nieznaną temu terminalowi
for-authentication = do podania, jak uwierzytelniono zapisaną kartę,
caller-till = kasa { $till }
caller-user = użytkownik { $user }
caller-nameless = użytkownik, którego system nie podaje,
key-of-token = { $key } w [[till.token]] z till = "{ $till }"
key-of-peer = { $key } w [[till.peer]] z uid = { $user }
key-of-fleet = { $key } w [[fleet.key]] z till = "{ $till }"
key-of-user = { $key } w [[till.peer]] z uid = { $user } albo rights w [till.socket] dla wszystkich użytkowników gniazda
key-of-socket = rights w [till.socket]

## Refusals: operators

operator-wrong-pin = błędna nazwa lub błędny PIN
operator-locked = zbyt wiele błędnych kodów PIN; spróbować ponownie za { $seconds } s albo poprosić kierownika lub serwisanta o odblokowanie (pos-agent operator unlock NAME)
operator-pin-under-way = trwa sprawdzanie innego kodu PIN; spróbować ponownie
operator-session-ended = w tej sesji nikt nie jest zalogowany: zakończyła się lub należy do innej kasy; zalogować się ponownie (POST /v1/sessions)
operator-supervisor-needed = to wymaga zgody kierownika ({ $command }): uzyskać zgodę (POST /v1/approvals) i przesłać ją jako Pos-Supervisor albo zalogować kierownika
operator-not-approved = brak zgody kierownika na to polecenie: { $why }
operator-no-supervisor = { $name } nie jest kierownikiem i nie może wyrazić zgody
operator-unknown = nie ma operatora { $name }; wszystkich pokazuje pos-agent operator list
operator-exists = operator { $name } już istnieje; ustawić inny PIN (pos-agent operator pin) albo najpierw usunąć operatora
operator-too-many = liczba operatorów osiągnęła maksimum ({ $most }); najpierw usunąć jednego
operator-pin-length = wymagana liczba cyfr kodu PIN: { $digits }; zob. pin-digits w [operators]
approval-unknown = zgoda została wykorzystana, wygasła lub ma ponad dwie minuty
approval-other-till = zgody udzielono na innej kasie
approval-other-operator = zgody udzielono innemu operatorowi
approval-other-command = zgoda dotyczy { $approved }, a to jest { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, nr ref. { $reference }
command-of-transaction = , transakcja { $number }
command-of-payment = , płatność { $payment }
command-of-card = , zapisana karta { $registration }
command-with-tip = , z napiwkiem
command-typed = , numer karty wpisany ręcznie

## Details of refusals: the terminal

nothing-typed = nie wprowadzono żadnej kwoty
reader-in-use = czytnik jest w użyciu
amount-being-typed = na czytniku trwa wpisywanie kwoty
terminal-stopping = trwa zatrzymywanie terminala
no-random-numbers = system nie dostarcza liczb losowych ({ $why })
command-not-resolved = polecenie nie zostało rozpoznane; wysłać je ponownie
pin-not-digested = nie udało się obliczyć skrótu kodu PIN; spróbować ponownie
training-busy = tryb szkoleniowy jest przeciążony; spróbować ponownie
training-within = to już jest tryb szkoleniowy
state-unknown = stan transakcji będzie znany dopiero, gdy będzie można zapisać dziennik; wtedy odpowiedzieć ponownie
no-printer = terminal nie ma drukarki; zob. [[printer]] w konfiguracji
training-not-printed = wydruki trybu szkoleniowego są tylko pokazywane na ekranie
looks-like-card-number = wygląda to na numer karty, który wolno podać tylko na czytniku; użyć innej wartości

## Details of refusals: amounts

above-limit = { $amount } przekracza limit terminala { $limit }; zob. max-amount w [terminal]
limit-of-other-currency = terminal ma limit { $limit } i nie przyjmuje innej waluty; zob. max-amount w [terminal]
tip-above-amount = napiwek { $tip } jest wyższy niż kwota { $amount }; sprawdzić wpisane dane
total-not-possible = kwota razem z napiwkiem: { $why }
nothing-given = bez wcześniejszej płatności znanej temu terminalowi nie wypłaca się środków; aby na to zezwolić, ustawić max-credit-amount w [terminal]
given-in-other-currency = środki wypłaca się tylko w { $currency }; zob. max-credit-amount w [terminal]
above-given-limit = { $amount } przekracza limit wypłaty środków { $limit }; zob. max-credit-amount w [terminal]

## Details of refusals: the earlier transaction

not-of-training = tryb szkoleniowy wykonuje transakcje szkoleniowe i tylko takie
payment-not-of-training = płatność { $payment } nie pochodzi z trybu szkoleniowego
payment-of-training = płatność { $payment } pochodzi z trybu szkoleniowego, bez ruchu środków; dodać "training" do żądania
transaction-not-of-training = transakcja { $number } nie pochodzi z trybu szkoleniowego
transaction-of-training = transakcja { $number } pochodzi z trybu szkoleniowego, bez ruchu środków
of-another-account = transakcję { $number } rozpoczęto na innym koncie bramki (inne entity-id w [gateway]); na tym koncie nie można wykonać do niej kolejnej transakcji
no-transaction-number = ten terminal nie ma transakcji { $number }
is-reversal = płatność { $payment } to automatyczne wycofanie transakcji { $number }; na wycofaniu nie można wykonać żadnej operacji
amount-needed = wymagana jest kwota, bo ten terminal nie zna tej płatności
needs-more = rodzaj { $kind } wymaga więcej pól
no-id = { $name } musi mieć 32 znaki: litery i cyfry
rest-references-used = oba numery referencyjne do zwrotu reszty są już użyte; przyjąć całość i zwrócić resztę osobno
no-decision-awaited = transakcja { $number } nie czeka na niczyją decyzję; czekające podaje pos-agent status
transaction-ended = transakcja { $number } jest zakończona
older-than-copy = transakcja { $number } powstała, zanim stwierdzono, że ten dziennik jest nieaktualną kopią: jej zwrotów i rozliczeń może tu brakować; użyć panelu bramki
not-compared-yet = bramka nie podała jeszcze, czy ten dziennik jest nieaktualną kopią, w której może brakować zwrotów; spróbować ponownie za chwilę
list-incomplete = lista bramki według dat jest niepełna, więc ten dziennik może być nieaktualną kopią; dalsze transakcje są możliwe tylko do płatności, którą da się sprawdzić
cannot-be-looked-up = ten dziennik może być nieaktualną kopią, a transakcji { $number } nie można sprawdzić ({ $why }); spróbować później
not-listed-by-gateway = bramka jej nie wykazuje
linked-unknown = bramka ma transakcje powiązane z transakcją { $number }, których ten dziennik nie zna (liczba: { $count }); użyć panelu bramki

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = trwa otwieranie czytnika; chwilę poczekać
attention-reader-absent = nie znaleziono czytnika: { $why }
attention-reader-other-device = zamiast czytnika podłączone jest inne urządzenie: { $why }
attention-reader-not-listed = ten czytnik nie należy do tego terminala: { $why }
attention-reader-no-keys = czytnik nie ma kluczy: { $why }
attention-reader-clear-data = czytnik wysyła dane kart bez szyfrowania i nie jest używany: { $why }
attention-reader-not-encrypting = czytnik nie szyfruje danych prawidłowo i nie jest używany: { $why }
attention-reader-flooding = czytnik bez przerwy wysyła dane: { $why }
attention-reader-restarting = czytnik uruchamia się ponownie: { $why }
attention-reader-card-left = karta z ostatniej płatności jest nadal w czytniku: wyjąć ją
attention-reader-keys-low = kluczy w czytniku wystarczy jeszcze na { $count } płatności: zlecić wgranie nowych

## Attention: the gateway

attention-gateway-unreachable = bramka jest nieosiągalna: { $why }
attention-gateway-no-answer = bramka nie odpowiada: { $why }
attention-gateway-out-of-order = awaria bramki: { $why }
attention-gateway-throttles = bramka ma zbyt wiele żądań; chwilę poczekać
attention-gateway-refuses-request = bramka odrzuciła ostatnią transakcję jako nieprawidłowe żądanie{ $detail }; inna karta nie pomoże; sprawdzić entity-id w [gateway] i pola kasy
attention-gateway-refuses-token = bramka nie przyjmuje tokenu: { $why }
attention-gateway-untrusted-certificate = certyfikat bramki nie jest zaufany: { $why }
attention-gateway-certificate-expired = certyfikat bramki wygasł: { $why }
attention-gateway-own-certificate-refused = bramka nie przyjmuje certyfikatu terminala: { $why }
attention-gateway-own-certificate-expired = certyfikat terminala dla bramki wygasł: { $why }
attention-gateway-not-usable = z bramki nie można korzystać: { $why }
attention-gateway-certificate-ends = certyfikat bramki wkrótce wygaśnie: { $why }
attention-ca-certificate-ends = certyfikat CA wkrótce wygaśnie: { $why }
attention-own-certificate-ends = certyfikat terminala wkrótce wygaśnie: { $why }
attention-token-ends = token wkrótce wygaśnie: { $why }
attention-gateway-files-unused = zmienione pliki bramki nie pasują, nadal obowiązują poprzednie: { $why }

## Attention: printers

attention-printer-no-paper = drukarka{ $name } nie ma papieru: { $why }
attention-printer-paper-low = drukarka{ $name } ma mało papieru: { $why }
attention-printer-cover-open = drukarka{ $name } ma otwartą pokrywę: { $why }
attention-printer-paper-jam = drukarka{ $name } ma zacięty papier: { $why }
attention-printer-error = drukarka{ $name } zgłasza błąd: { $why }
attention-printer-pausing = drukarka{ $name } wstrzymała pracę: { $why }
attention-printer-offline = drukarka{ $name } jest offline: { $why }
attention-printer-absent = drukarka{ $name } jest nieosiągalna: { $why }
attention-printer-interrupted = drukarka{ $name } przerwała wydruk: { $why }
attention-printer-silent = drukarka{ $name } nie podaje swojego stanu: { $why }

## Attention: clocks and journal

attention-clock-untrusted = ani zegar terminala, ani zegar czytnika nie może być poprawny; ustawić zegar terminala (timedatectl) i chwilę poczekać
attention-clock-behind-journal = ani zegar terminala, ani zegar czytnika nie może być poprawny: zegar terminala wskazuje { $board }, a ostatni wpis dziennika jest z { $latest }; ustawić zegar terminala (timedatectl) i chwilę poczekać albo, jeśli jest poprawny, zob. pos-agent journal set-clock-back --help
attention-clocks-differ = zegary bramki i terminala różnią się o { $seconds } s; ustawić zegar terminala (timedatectl); jeśli jest poprawny, zgłosić to operatorowi bramki
attention-reader-clock-differs = zegary bramki i czytnika, który tu obowiązuje, różnią się o { $seconds } s; ustawić zegar terminala (timedatectl); jeśli zegar czytnika jest poprawny, zgłosić to operatorowi bramki
attention-journal-full = dziennik jest pełny: { $why }
attention-journal-nearly-full = na dysku dziennika zostało { $free } MiB; zwolnić miejsce (df -h, journalctl --vacuum-size=50M) i nigdy nie usuwać dziennika
attention-journal-cannot-be-written = nie można zapisać dziennika: { $why }
attention-journal-old-copy = ten dziennik jest nieaktualną kopią: { $why }; wcześniejsze otwarte transakcje czekają na pos-agent settle NUMBER --keep lub --reverse
attention-journal-was-old-copy = stwierdzono, że ten dziennik był nieaktualną kopią: może w nim brakować zwrotów, unieważnień i rozliczeń transakcji do numeru { $number }; w ich sprawie użyć panelu bramki
attention-journal-not-compared = bramka nie podała, czy ten dziennik jest nieaktualną kopią ({ $why }); do tego czasu zwroty, rozliczenia i uznania nie są wykonywane, a wcześniejsze wycofania czekają; jeśli nie da się pytać według dat, ustawić query-by-date = false w [gateway.assumptions]
attention-journal-list-incomplete = bramka nie podała, czy ten dziennik jest nieaktualną kopią ({ $why }); do tego czasu uznania nie są wykonywane, wcześniejsze wycofania czekają, a transakcje do wcześniejszej płatności czekają na jej sprawdzenie; jeśli nie da się pytać według dat, ustawić query-by-date = false w [gateway.assumptions]
attention-journal-began-anew = ten dziennik jest nowy, a bramka ma płatności tego terminala z ostatnich dni (liczba: { $count }): przejąć dziennik poprzedniego terminala (pos-agent journal adopt FILE)
copy-lacks-references = bramka ma numery referencyjne tego terminala, których dziennik nie zna (liczba: { $count }, ostatni jest w logu)
journal-is-old-copy = ten dziennik jest nieaktualną kopią: { $why }
gateway-time-unknown = jej czas nie jest znany: { $why }; zob. probe-path w [gateway.assumptions]
sold-on-another-journal = ten terminal sprzedawał z innym dziennikiem ({ $why }): do czasu decyzji człowieka żadna karta nie zostanie obciążona. Zatrzymać agenta; potem przywrócić właściwy dziennik lub go przejąć (pos-agent journal adopt FILE); jeśli przepadł, zaakceptować obecny (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = całość skopiowano do dziennika: ponownie uruchomić agenta, a nic nie przepadnie
rescued-into-file = otwarte i ostatnie transakcje są w { $file }: przywrócić dziennik, jeśli został przeniesiony. Jeśli przepadł, zatrzymać agenta, przenieść gdzie indziej plik leżący na jego miejscu, przejąć { $file } (pos-agent journal adopt { $file }) i uruchomić agenta
rescued-nothing = dziennik nie zawierał żadnej transakcji: ponownie uruchomić agenta

## Attention: transactions and tills

attention-sale-unconfirmed = transakcja { $reference } kasy { $till }: { $state }
attention-sale-left-alone = transakcja { $reference } kasy { $till } jest otwarta: { $why }
attention-signature-awaited = transakcja { $reference } kasy { $till } czeka: porównać podpis
attention-confirmation-awaited = transakcja { $reference } czeka, aż kasa { $till } potwierdzi jej przyjęcie
attention-till-port-closed = kasy z tokenem nie mogą się połączyć: { $why }
attention-fleet-message = wiadomość od { $author }: { $text }
attention-fleet-settings-trial = trwa próba ustawień floty, wersja { $version }; terminal sam wróci do poprzednich, jeśli nie zostaną potwierdzone w ciągu dziesięciu minut
attention-fleet-settings-returned = terminal wycofał ustawienia floty, wersja { $version }: { $why }
attention-fleet-settings-drift = zmieniono na terminalu, więc wartości floty nie obowiązują: { $settings }; uruchomić: pos-agent check
attention-fleet-settings-unusable = ustawienia floty nie są używane: { $why }; aby je usunąć, zatrzymać agenta i skasować folder fleet obok dziennika
attention-fleet-keys-unusable = kluczy poleceń floty nie można użyć, więc żadne polecenie nie jest przyjmowane: { $why }; aby użyć kluczy z konfiguracji, zatrzymać agenta i skasować folder fleet obok dziennika
left-as-training = pochodzi z trybu szkoleniowego, bez ruchu środków: nic z niej nie jest wysyłane do bramki
left-to-another-account = rozpoczęto ją na innym koncie bramki (inne entity-id w [gateway])
left-to-another-terminal = wykonał ją terminal { $theirs }, a to jest { $ours }: nie można jej tu wyjaśnić; poprawić id w [terminal], jeśli to jest { $theirs }

## The devices in the status

reader-is = { $model } { $firmware }, nr seryjny { $serial }
gateway-not-asked-yet = jeszcze nie odpytano
gateway-connected = połączono
gateway-answers = odpowiada
printer-is-ready = gotowa
printer-not-used-yet = jeszcze nieużywana
printer-one-waits = { $why }; czeka 1 wydruk
printer-some-wait = { $why }; czekające wydruki: { $count }
clock-of-board = zegar terminala
clock-of-reader = zegar czytnika, bo zegar terminala nie może być poprawny
journal-written = zapisywany

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = Bank odrzucił transakcję{ $detail }; proszę użyć innej karty lub innej formy płatności.
    .customer = BANK ODRZUCIŁ TRANSAKCJĘ{ $detail }
    .technician = Transakcję odrzucił wydawca karty lub bramka w jego imieniu{ $detail }; terminal działa prawidłowo.
insert-and-pin =
    .cashier = Bank wymaga kodu PIN{ $detail }; proszę zacząć od nowa i poprosić klienta o włożenie karty.
    .customer = PROSZĘ WŁOŻYĆ KARTĘ
    .technician = Wydawca nie przyjmuje zbliżenia przy tej płatności (insert-and-pin){ $detail }; terminal działa prawidłowo.
do-not-try-again =
    .cashier = Bank ostatecznie odrzucił transakcję{ $detail }; proszę nie używać ponownie tej karty.
    .customer = BANK ODRZUCIŁ TRANSAKCJĘ{ $detail }
    .technician = Wydawca nie zatwierdzi już transakcji tą kartą (do-not-try-again){ $detail }; terminal działa prawidłowo.
card-declined =
    .cashier = Karta sama odrzuciła transakcję; proszę użyć innej karty.
    .customer = KARTA ODRZUCIŁA TRANSAKCJĘ
    .technician = Chip odrzucił transakcję (AAC), zanim cokolwiek wysłano{ $detail }; terminal działa prawidłowo.
customer-cancelled =
    .cashier = Klient anulował transakcję lub zabrał kartę; jeśli to pomyłka, proszę zacząć od nowa.
    .customer = KLIENT ANULOWAŁ TRANSAKCJĘ
    .technician = Na czytniku naciśnięto klawisz anulowania lub zabrano kartę{ $detail }; nie trzeba nic robić.
till-cancelled =
    .cashier = Transakcję anulowano na kasie; jeśli to pomyłka, proszę zacząć od nowa.
    .customer = SKLEP ANULOWAŁ TRANSAKCJĘ
    .technician = Transakcję anulowała kasa lub jej operator{ $detail }; nie trzeba nic robić.
terminal-stopped =
    .cashier = Terminal był właśnie wyłączany; proszę zacząć od nowa, gdy będzie gotowy.
    .customer = TERMINAL WYŁĄCZONY
    .technician = Agent był właśnie zatrzymywany{ $detail }; journalctl --unit pos-agent pokazuje, kto go zatrzymał.
card-timeout =
    .cashier = Nie użyto karty w wymaganym czasie; proszę zacząć od nowa.
    .customer = NIE UŻYTO KARTY
    .technician = Nie użyto karty w czasie card-timeout-s z [terminal]{ $detail }; zwiększyć wartość, jeśli klienci potrzebują więcej czasu.
tip-timeout =
    .cashier = Klient nie wybrał napiwku w wymaganym czasie; proszę zacząć od nowa.
    .customer = NIE WYBRANO NAPIWKU
    .technician = Posiadacz karty nie wybrał napiwku ani z niego nie zrezygnował w czasie card-timeout-s z [terminal]{ $detail }; zwiększyć wartość, jeśli klienci potrzebują więcej czasu.
card-unreadable =
    .cashier = Nie można odczytać karty; proszę użyć innej karty.
    .customer = NIE MOŻNA ODCZYTAĆ KARTY
    .technician = Karty nie udało się odczytać żadnym dozwolonym przez nią sposobem{ $detail }; jeśli dotyczy to wielu kart, wyczyścić czytnik.
card-gone =
    .cashier = Kartę wyjęto, zanim można było wysłać płatność; proszę zacząć od nowa i nie wyjmować karty.
    .customer = KARTĘ WYJĘTO ZA WCZEŚNIE
    .technician = Bramka była przeciążona, a kartę wyjęto, zanim agent mógł wysłać żądanie{ $detail }; jeśli zdarza się to często, poprosić operatora bramki o wyższy limit.
card-left-in =
    .cashier = Z czytnika nie wyjęto poprzedniej karty; proszę ją wyjąć i zacząć od nowa.
    .customer = PROSZĘ WYJĄĆ POPRZEDNIĄ KARTĘ
    .technician = Gniazdo karty w czytniku nie było puste w ciągu 30 s{ $detail }; jeśli nie ma w nim karty, wyczyścić czytnik.
tip-not-possible =
    .cashier = Nie można pobrać kwoty razem z napiwkiem{ $detail }; proszę zacząć od nowa z niższym napiwkiem.
    .customer = NIE MOŻNA DODAĆ NAPIWKU
    .technician = Nie można pobrać kwoty razem z napiwkiem{ $detail }; zob. max-amount w [terminal] i sale w [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = Czytnik kart nie odpowiada; proszę sprawdzić jego kabel i zasilanie, a potem zacząć od nowa.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik odłączono lub nie odpowiada on prawidłowo{ $detail }; sprawdzić kabel i zasilanie, potem uruchomić pos-agent doctor.
reader-not-ready =
    .cashier = Czytnik kart nie jest gotowy; proszę sprawdzić jego kabel i zasilanie, a potem zacząć od nowa.
    .customer = CZYTNIK KART NIEGOTOWY
    .technician = Czytnik nie jest gotowy{ $detail }; sprawdzić kabel i zasilanie, potem uruchomić pos-agent doctor.
reader-absent =
    .cashier = Nie znaleziono czytnika kart; proszę sprawdzić jego kabel i zasilanie, a potem zacząć od nowa.
    .customer = AWARIA CZYTNIKA KART
    .technician = Nie można otworzyć portu czytnika{ $detail }; sprawdzić kabel i zasilanie oraz port w [reader].
reader-other-device =
    .cashier = Zamiast czytnika kart podłączono inne urządzenie; proszę podłączyć czytnik kart lub wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Urządzenie w tym porcie nie jest czytnikiem tego rodzaju{ $detail }; sprawdzić port i protocol w [reader].
reader-not-listed =
    .cashier = Ten czytnik kart nie należy do tego terminala; proszę podłączyć właściwy lub wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Numeru seryjnego czytnika nie ma w serials w [reader]{ $detail }; podłączyć właściwy czytnik lub dodać ten numer, jeśli czytnik tu należy.
reader-restarting =
    .cashier = Czytnik kart uruchamia się ponownie; proszę chwilę poczekać i zacząć od nowa.
    .customer = CZYTNIK KART NIEGOTOWY
    .technician = Czytnik uruchamia się ponownie po awarii{ $detail }; jeśli zdarza się to często, zlecić jego sprawdzenie.
reader-flooding =
    .cashier = Czytnik kart nie działa prawidłowo; proszę go wyłączyć i włączyć lub wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik bez przerwy wysyła dane{ $detail }; sprawdzić kabel i zasilanie, a jeśli to nie pomoże, wymienić czytnik.
reader-no-keys =
    .cashier = Czytnik kart nie może już odczytywać kart; proszę wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik nie ma już klucza szyfrującego{ $detail }; zlecić wgranie nowych kluczy.
reader-clear-data =
    .cashier = Czytnik kart nie chroni prawidłowo danych kart i nie jest używany; proszę wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik wysyła dane kart bez szyfrowania{ $detail }; nic nie wysłano ani nie zapisano; zlecić wymianę czytnika.
reader-not-encrypting =
    .cashier = Czytnik kart nie chroni prawidłowo danych kart i nie jest używany; proszę wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik przestał szyfrować lub dwa razy użył tego samego klucza{ $detail }; nic nie wysłano ani nie zapisano; jeśli to się powtórzy, zlecić wymianę czytnika.
reader-amount-differs =
    .cashier = Czytnik kart użył innej kwoty, dlatego nic nie wysłano; proszę wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik podpisał kwotę lub walutę inną niż w żądaniu (9F02, 5F2A){ $detail }; zlecić sprawdzenie czytnika.
reader-pin-missing =
    .cashier = Czytnik kart nie przekazał kodu PIN; proszę zacząć od nowa, a jeśli to się powtórzy, wezwać serwisanta.
    .customer = AWARIA CZYTNIKA KART
    .technician = Czytnik zgłosił wprowadzenie PIN, ale nie wysłał bloku PIN{ $detail }; zlecić sprawdzenie klucza PIN czytnika.
typing-not-possible =
    .cashier = Na tym terminalu nie można wpisać numeru karty; potrzebna jest sama karta.
    .customer = NIE MOŻNA WPISAĆ NUMERU KARTY
    .technician = Wpisywanie numerów kart jest dla tego czytnika wyłączone lub czytnik go nie obsługuje{ $detail }; zob. manual-entry w [reader].
terminal-restarted =
    .cashier = Terminal został ponownie uruchomiony, zanim cokolwiek wysłano; proszę zacząć od nowa.
    .customer = TERMINAL URUCHOMIONY PONOWNIE
    .technician = Agent został ponownie uruchomiony, zanim cokolwiek wysłał{ $detail }; przyczynę pokazuje log sprzed uruchomienia.
clock-untrusted =
    .cashier = Terminal nie zna aktualnego czasu i nie może przyjmować płatności; proszę wezwać serwisanta.
    .customer = TERMINAL NIEGOTOWY
    .technician = Ani zegar terminala, ani zegar czytnika nie może być poprawny{ $detail }; ustawić zegar i sprawdzić czas sieciowy lub baterię zegara.
request-not-possible =
    .cashier = Terminal nie może tego wysłać; proszę wezwać serwisanta.
    .customer = OPERACJA NIEMOŻLIWA
    .technician = Żądanie zawiera wartość, której bramka nie przyjmuje{ $detail }; poprawić ją na kasie lub w konfiguracji.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = Brak połączenia z bankiem; proszę sprawdzić sieć, a potem zacząć od nowa.
    .customer = BRAK POŁĄCZENIA
    .technician = Brak połączenia z bramką{ $detail }; sprawdzić sieć, serwer nazw, zaporę i url w [gateway], potem uruchomić pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = Połączenie z bankiem nie jest bezpieczne, dlatego nic nie wysłano; proszę wezwać serwisanta.
    .customer = BRAK BEZPIECZNEGO POŁĄCZENIA
    .technician = Certyfikat bramki nie jest zaufany{ $detail }; sprawdzić zegar oraz ca-file i ca-pins w [gateway].
gateway-certificate-expired =
    .cashier = Połączenie z bankiem nie jest bezpieczne, dlatego nic nie wysłano; proszę wezwać serwisanta.
    .customer = BRAK BEZPIECZNEGO POŁĄCZENIA
    .technician = Certyfikat bramki wygasł{ $detail }; sprawdzić zegar terminala, a potem zgłosić to operatorowi bramki.
gateway-own-certificate-refused =
    .cashier = Bank nie akceptuje tego terminala; proszę wezwać serwisanta.
    .customer = BRAK POŁĄCZENIA
    .technician = Bramka nie przyjmuje certyfikatu terminala lub go wymaga{ $detail }; sprawdzić client-certificate-file w [gateway].
gateway-own-certificate-expired =
    .cashier = Bank nie akceptuje już tego terminala; proszę wezwać serwisanta.
    .customer = BRAK POŁĄCZENIA
    .technician = Bramka nie przyjmuje certyfikatu terminala, bo wygasł{ $detail }; wymienić client-certificate-file w [gateway] i jego klucz.
gateway-not-usable =
    .cashier = Połączenie z bankiem nie działa, dlatego nic nie wysłano; proszę wezwać serwisanta.
    .customer = BRAK POŁĄCZENIA
    .technician = Serwer nie jest działającą bramką{ $detail }; sprawdzić url i pliki w [gateway], potem uruchomić pos-agent doctor.
gateway-refuses-token =
    .cashier = Bank nie akceptuje tego terminala; proszę wezwać serwisanta.
    .customer = TERMINAL NIEZAAKCEPTOWANY
    .technician = Bramka nie przyjmuje tokenu dostępu{ $detail }; uzyskać nowy token i umieścić go tam, gdzie oczekuje go [gateway].
gateway-wrong-address =
    .cashier = Terminal nie znajduje banku pod ustawionym adresem; proszę wezwać serwisanta.
    .customer = USŁUGA NIEDOSTĘPNA
    .technician = Pod żądanym adresem bramki nic nie ma{ $detail }; sprawdzić url w [gateway] i ścieżki w [gateway.assumptions].
gateway-throttles =
    .cashier = Bank jest przeciążony; proszę chwilę poczekać i zacząć od nowa.
    .customer = USŁUGA PRZECIĄŻONA
    .technician = Bramka ma zbyt wiele żądań i nie przetworzyła tego{ $detail }; jeśli zdarza się to często, poprosić operatora bramki o wyższy limit.
never-received =
    .cashier = To żądanie nie dotarło do banku; proszę zacząć od nowa.
    .customer = NIE DOTARŁO DO BANKU
    .technician = Bramka nie zna tego żądania, a czas, w którym mogło jeszcze dotrzeć, minął{ $detail }; sprawdzić sieć.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = Bank nie odpowiedział; jeśli to się powtórzy, proszę sprawdzić sieć.
    .customer = BRAK ODPOWIEDZI BANKU
    .technician = Żądanie wysłano, ale nie nadeszła odpowiedź{ $detail }; sprawdzić sieć.
gateway-out-of-order =
    .cashier = W banku wystąpiła awaria; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = AWARIA USŁUGI
    .technician = W bramce wystąpiła awaria{ $detail }; zapytać operatora bramki.
answer-unclear =
    .cashier = Odpowiedź banku jest niejasna; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Odpowiedź bramki jest nieczytelna lub sprzeczna{ $detail }; zapytać operatora bramki.
code-unknown =
    .cashier = Terminal nie zna znaczenia odpowiedzi banku; proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Kodu wyniku z bramki nie ma na żadnej liście{ $detail }; zapytać operatora bramki o jego znaczenie i dodać kod do [gateway.assumptions].
decline-in-doubt =
    .cashier = Bank odrzucił transakcję w nietypowy sposób; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Bramka odrzuciła transakcję, ale nie kodem HTTP 400{ $detail }, więc agent sprawdził jej wynik; jeśli jest to normalne, zob. believe-declines-at-200 w [gateway.assumptions].
another-payment-answered =
    .cashier = Odpowiedź banku dotyczy innej płatności; proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Odpowiedź bramki dotyczy innej płatności, innego numeru referencyjnego lub rodzaju transakcji{ $detail }; zapytać operatora bramki.
not-decided-in-time =
    .cashier = Bank zbyt długo podejmował decyzję; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = ZBYT DŁUGI CZAS ODPOWIEDZI BANKU
    .technician = Bramka nie podjęła decyzji na czas{ $detail }; zapytać operatora bramki lub zwiększyć answer-timeout-ms w [gateway].
another-amount-approved =
    .cashier = Bank zatwierdził inną kwotę{ $detail }; proszę zgłosić to serwisantowi.
    .customer = ZATWIERDZONO BŁĘDNĄ KWOTĘ{ $detail }
    .technician = Bramka zatwierdziła kwotę lub walutę inną niż w żądaniu{ $detail }; zapytać operatora bramki.
amount-unreadable =
    .cashier = Bank zatwierdził kwotę, której nie można odczytać; proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Bramka zatwierdziła kwotę, której nie można odczytać{ $detail }; zapytać operatora bramki.
chip-contradicted =
    .cashier = Bank przekazał terminalowi i karcie różne odpowiedzi; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = NIEJASNA ODPOWIEDŹ BANKU
    .technician = Wynik z bramki i jej odpowiedź dla chipa (8A) są ze sobą sprzeczne{ $detail }; zapytać operatora bramki.
partial-not-taken =
    .cashier = Bank zatwierdził tylko część{ $detail }, a ta kasa tego nie przyjmuje; proszę użyć innej karty lub innej formy płatności.
    .customer = ZATWIERDZONO TYLKO CZĘŚĆ{ $detail }
    .technician = Zatwierdzono tylko część{ $detail }, a żądanie kasy nie dopuszcza części; nie trzeba nic robić.
card-refused =
    .cashier = Karta odmówiła płatności po zatwierdzeniu przez bank; proszę użyć innej karty.
    .customer = KARTA ODMÓWIŁA PŁATNOŚCI
    .technician = Chip odmówił (AAC) po zatwierdzeniu przez wydawcę{ $detail }; jeśli dotyczy to wielu kart, zapytać operatora bramki.
card-lost =
    .cashier = Kartę wyjęto za wcześnie; następnym razem proszę nie wyjmować jej, dopóki czytnik o to nie poprosi.
    .customer = KARTĘ WYJĘTO ZA WCZEŚNIE
    .technician = Kartę wyjęto lub utracono połączenie z czytnikiem, zanim chip potwierdził zatwierdzenie{ $detail }; jeśli zdarza się to często, sprawdzić kabel czytnika.
restarted-before-answer =
    .cashier = Terminal został ponownie uruchomiony, zanim zapisał odpowiedź banku; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = TERMINAL URUCHOMIONY PONOWNIE
    .technician = Agent został ponownie uruchomiony, zanim zapisał odpowiedź bramki{ $detail }; przyczynę pokazuje log sprzed uruchomienia.
restarted-before-card =
    .cashier = Terminal został ponownie uruchomiony, zanim karta potwierdziła płatność; jeśli to się powtórzy, proszę zgłosić to serwisantowi.
    .customer = TERMINAL URUCHOMIONY PONOWNIE
    .technician = Agent został ponownie uruchomiony, zanim chip potwierdził zatwierdzenie{ $detail }; przyczynę pokazuje log sprzed uruchomienia.
signature-refused =
    .cashier = Podpis został odrzucony przy kasie; proszę użyć innej karty.
    .customer = PODPIS NIEZAAKCEPTOWANY
    .technician = Podpis został odrzucony przy kasie{ $detail }; nie trzeba nic robić.
signature-not-checked =
    .cashier = Podpisu nie porównano na czas; następnym razem proszę od razu go zaakceptować lub odrzucić.
    .customer = PODPISU NIE SPRAWDZONO
    .technician = Podpisu nie porównano w czasie signature-timeout-s z [terminal]{ $detail }; zwiększyć wartość, jeśli porównanie trwa dłużej.
not-taken =
    .cashier = Kasa nie przyjęła płatności; proszę rozpocząć nową, jeśli jest nadal potrzebna.
    .customer = SKLEP NIE PRZYJĄŁ PŁATNOŚCI
    .technician = Kasa nie przyjęła zatwierdzonej płatności{ $detail }; przyczynę pokazuje log kasy.
till-silent =
    .cashier = Kasa nie potwierdziła płatności na czas; proszę sprawdzić kasę, a potem rozpocząć nową płatność.
    .customer = SKLEP NIE POTWIERDZIŁ PŁATNOŚCI
    .technician = Kasa nie podała w czasie till-confirm-s z [terminal], czy przyjmuje płatność{ $detail }; sprawdzić kasę i jej połączenie lub zwiększyć wartość.
taken-back-by-person =
    .cashier = Płatność wycofano ręcznie, bo dziennik terminala był nieaktualną kopią.
    .customer = SKLEP WYCOFAŁ TRANSAKCJĘ
    .technician = Wycofano poleceniem pos-agent settle --reverse{ $detail }; dziennik był nieaktualną kopią.
not-sent-in-copy =
    .cashier = Dziennik terminala jest nieaktualną kopią sprzed wysłania tej transakcji; proszę zapytać serwisanta.
    .customer = TERMINAL ODTWORZONO Z KOPII
    .technician = Nieaktualną kopię dziennika wykonano przed wysłaniem tej transakcji{ $detail }; uruchamiać z kopii tylko wtedy, gdy nie ma innego sposobu.
open-in-copy =
    .cashier = Dziennik terminala jest nieaktualną kopią sprzed potwierdzenia tej transakcji; proszę zapytać serwisanta.
    .customer = TERMINAL ODTWORZONO Z KOPII
    .technician = Nieaktualną kopię dziennika wykonano przed potwierdzeniem tej transakcji{ $detail }; sprawdzić ją w bramce, bo terminal nie wyśle jej ponownie.
signature-in-copy =
    .cashier = Dziennik terminala jest nieaktualną kopią sprzed porównania podpisu; proszę zapytać serwisanta.
    .customer = TERMINAL ODTWORZONO Z KOPII
    .technician = Nieaktualną kopię dziennika wykonano w trakcie porównywania podpisu{ $detail }; uruchamiać z kopii tylko wtedy, gdy nie ma innego sposobu.
till-in-copy =
    .cashier = Dziennik terminala jest nieaktualną kopią sprzed potwierdzenia tej transakcji przez kasę; proszę zapytać serwisanta.
    .customer = TERMINAL ODTWORZONO Z KOPII
    .technician = Nieaktualną kopię dziennika wykonano, gdy kasa była proszona o potwierdzenie{ $detail }; uruchamiać z kopii tylko wtedy, gdy nie ma innego sposobu.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = Nie można zapytać banku; proszę sprawdzić sieć. Terminal automatycznie zapyta ponownie.
    .customer = BRAK POŁĄCZENIA
    .technician = Nie można zapytać bramki o wynik{ $detail }; sprawdzić sieć, potem uruchomić pos-agent doctor.
till-not-heard =
    .cashier = Kasa jeszcze tego nie potwierdziła; proszę poczekać na kasę.
    .customer = SKLEP JESZCZE NIE POTWIERDZIŁ
    .technician = Kasa jeszcze nie podała, czy przyjmuje płatność{ $detail }; ma na to czas till-confirm-s z [terminal].
not-decided-yet =
    .cashier = Bank jeszcze nie podjął decyzji; terminal automatycznie zapyta ponownie.
    .customer = BANK JESZCZE NIE ZDECYDOWAŁ
    .technician = Bramka jeszcze nie podjęła decyzji{ $detail }; agent zapyta ponownie.
not-listed-yet =
    .cashier = Bank jeszcze nie zna tej transakcji; terminal automatycznie zapyta ponownie.
    .customer = BANK JESZCZE TEGO NIE ZNA
    .technician = Bramka jeszcze nie zna tej transakcji{ $detail }; agent ponawia pytanie przez czas absence-final-after-h z [gateway.assumptions].
reversal-not-listed =
    .cashier = Bank jeszcze nie wykazuje wycofania; terminal automatycznie zapyta ponownie.
    .customer = TRWA WYCOFYWANIE
    .technician = Bramka jeszcze nie zna wycofania{ $detail }; agent zapyta ponownie i wyśle je jeszcze raz po czasie resend-after-s z [gateway].
reversal-on-its-way =
    .cashier = Trwa wycofywanie transakcji; terminal automatycznie zapyta bank ponownie.
    .customer = TRWA WYCOFYWANIE
    .technician = Wcześniejsze wycofanie może jeszcze zostać wykonane{ $detail }; agent to sprawdzi.
reversal-not-answered =
    .cashier = Nie udało się jeszcze wycofać transakcji; terminal automatycznie ponawia próby.
    .customer = TRWA WYCOFYWANIE
    .technician = Wycofania nie udało się wysłać lub nie ma na nie odpowiedzi{ $detail }; agent sprawdzi je i ponowi próbę.
reversal-held-back =
    .cashier = Płatność mogła już zostać wycofana lub zwrócona; terminal najpierw to sprawdzi.
    .customer = TRWA WYCOFYWANIE
    .technician = Wycofanie czeka, aż będzie wiadomo, czy płatność wycofano lub zwrócono w inny sposób{ $detail }; agent to sprawdzi.
earlier-try-open =
    .cashier = Wcześniejsze żądanie może jeszcze zostać wykonane; terminal automatycznie zapyta bank ponownie.
    .customer = TRWA SPRAWDZANIE
    .technician = Jedno żądanie odrzucono, ale wcześniejsze może jeszcze zostać wykonane{ $detail }; agent to sprawdzi.
stray-answer =
    .cashier = Nadeszła odpowiedź na inne żądanie; terminal automatycznie zapyta bank ponownie.
    .customer = TRWA SPRAWDZANIE
    .technician = Nadeszła odpowiedź na inne żądanie{ $detail }; jeśli to się powtórzy, zapytać operatora bramki.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = Bank odmawia wycofania transakcji; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka odmawia wycofania{ $detail }; zlecić wycofanie płatności operatorowi bramki.
another-amount-done =
    .cashier = Bank wykonał transakcję na inną kwotę; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka wycofała lub wykonała kwotę inną niż w żądaniu{ $detail }; wyjaśnić resztę z operatorem bramki.
reversed-in-part =
    .cashier = Wycofano tylko część{ $detail }; serwisant wyjaśni to z bankiem.
    .customer = WYCOFANO TYLKO CZĘŚĆ{ $detail }
    .technician = Bramka wycofała tylko część żądanej kwoty{ $detail }; wyjaśnić resztę z operatorem bramki.
another-kind-listed =
    .cashier = Bank ma pod tym numerem referencyjnym inny rodzaj transakcji; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka wykazuje to jako inny rodzaj transakcji{ $detail }; zapytać operatora bramki, co to jest.
list-contradicts =
    .cashier = Odpowiedzi banku są ze sobą sprzeczne; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Listy i odpowiedzi bramki są ze sobą sprzeczne{ $detail }; zapytać operatora bramki, które są poprawne.
not-listed-any-more =
    .cashier = Bank zatwierdził transakcję, ale już jej nie zna; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka zatwierdziła transakcję, ale już jej nie wykazuje{ $detail }; zapytać operatora bramki o wynik.
whose-is-not-said =
    .cashier = Bank nie podaje, do której płatności należy ta transakcja; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka nie podaje, czyja jest ta transakcja lub do której płatności należy{ $detail }; zapytać operatora bramki.
rest-not-given-back =
    .cashier = Nie zwrócono części, której kasa nie przyjęła{ $detail }; proszę ją zwrócić z nowym numerem referencyjnym.
    .customer = NIE WYKONANO ZWROTU
    .technician = Zwrot części, której kasa nie przyjęła, odrzucono lub był niemożliwy{ $detail }; zwrócić resztę poleceniem pos-agent refund.
rest-given-back-in-part =
    .cashier = Kasa przyjęła tylko część, a resztę zwrócono tylko częściowo{ $detail }; proszę zwrócić brakującą kwotę z nowym numerem referencyjnym.
    .customer = ZWRÓCONO TYLKO CZĘŚĆ{ $detail }
    .technician = Część, której kasa nie przyjęła, zwrócono tylko częściowo{ $detail }; zwrócić brakującą kwotę poleceniem pos-agent refund.
done-twice =
    .cashier = Bank wykonał transakcję dwa razy; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka wykonała transakcję dwa razy{ $detail }; zlecić operatorowi bramki wycofanie jednej z nich.
second-payment =
    .cashier = W banku jest druga płatność; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Bramka ma drugą płatność oprócz tej, która pozostaje{ $detail }; unieważnić ją, podając jej ID płatności.
old-copy =
    .cashier = Dziennik terminala jest nieaktualną kopią bez wyniku; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Dziennik jest nieaktualną kopią bez wyniku{ $detail }. Sprawdzić w bramce lub na wydrukach, czy transakcję zapłacono, potem uruchomić pos-agent settle NUMBER --keep lub --reverse.
given-back-by-id =
    .cashier = Płatność mogła już zostać wycofana lub zwrócona; serwisant wyjaśni to z bankiem.
    .customer = TRWA SPRAWDZANIE
    .technician = Płatność mogła już zostać wycofana lub zwrócona z podaniem jej ID płatności{ $detail }; sprawdzić to w bramce, potem wyjaśnić resztę.
not-settled-here =
    .cashier = Transakcję rozpoczęto przy innych ustawieniach tego terminala i czeka ona na nie; proszę wezwać serwisanta.
    .customer = TRWA SPRAWDZANIE
    .technician = Ten terminal nie może jej wyjaśnić przy obecnych ustawieniach{ $detail }; agent nic nie wysyła i automatycznie kontynuuje, gdy wrócą wcześniejsze ustawienia.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = Nie zapisano powodu; proszę zapytać serwisanta.
    .customer = PROSZĘ ZAPYTAĆ PRZY KASIE
    .technician = Wcześniejsza wersja nie zapisała powodu; zob. jej log.
