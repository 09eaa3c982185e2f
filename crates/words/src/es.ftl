# Spanish (Spain). Each language file has the same messages in the same order; lib.rs says who reads which message.
# A message is text and { $arguments }. { $detail } is a colon and the text from the gateway, the reader or the system, or is empty.
# Cashier: what happened and what to do, in a sentence. Customer: capitals, no full stop, no technical word, no word of more
# than 21 letters (a row of the reader's display). Technician: cause and remedy. Refusals and status, for both: lower case, no full stop.

decimal-separator = ,
date-and-time = { $day }/{ $month }/{ $year } { $time }
date-alone = { $day }/{ $month }/{ $year }
months = ene feb mar abr may jun jul ago sep oct nov dic

## Names of the kinds of transaction

called-capture = CAPTURA
called-credit = OPERACIÓN DE ABONO
called-forget-card = ELIMINACIÓN DE TARJETA
called-increment = AMPLIACIÓN
called-pre-authorisation = PREAUTORIZACIÓN
called-reauthorisation = RENOVACIÓN
called-refund = DEVOLUCIÓN
called-reversal = ANULACIÓN
called-store-card = ALTA DE TARJETA
title-capture = CAPTURA DE PREAUTORIZACIÓN
title-credit = ABONO
title-forget-card = ELIMINACIÓN DE TARJETA
title-increment = AMPLIACIÓN DE PREAUTORIZACIÓN
title-pre-authorisation = PREAUTORIZACIÓN
title-reauthorisation = RENOVACIÓN DE PREAUTORIZACIÓN
title-refund = DEVOLUCIÓN
title-reversal = ANULACIÓN
title-sale = VENTA
title-store-card = ALTA DE TARJETA

## The action that did not happen, after a failure

not-charged = no se ha cobrado nada
nothing-reserved = no se ha reservado nada
nothing-more-reserved = no se ha ampliado la reserva
nothing-reserved-anew = no se ha renovado la reserva
nothing-paid-out = no se ha abonado nada
nothing-captured = no se ha capturado nada
nothing-refunded = no se ha devuelto nada
nothing-reversed = no se ha anulado nada
nothing-stored = tarjeta no guardada
nothing-forgotten = tarjeta no eliminada

## States of a transaction, for the cashier

waiting-for-card = Esperando tarjeta para cobrar { $amount }
asked-by-fleet = Pago pedido por { $till }: { $text }
waiting-for-card-to-store = Esperando tarjeta para guardarla; no se cobra nada
being-sent = Registrada, enviando
reader-ready = El lector de tarjetas está listo.
idle = Listo para la siguiente venta.
asked-again = El banco está saturado. El terminal vuelve a consultarlo automáticamente. Puede cancelar la venta.
authorising = Autorizando, espere
customer-acts = AÚN SIN DECIDIR: el cliente debe confirmar en { $url }; el terminal consulta al banco hasta que este decida
compare-signature = APROBADA { $amount }, FALTA LA FIRMA: compárela con la de la tarjeta y acéptela o rechácela
compare-signature-first = FALTA LA FIRMA para { $amount }: compárela con la de la tarjeta y acéptela o rechácela; después, la caja confirma el pago
till-confirms = ESPERANDO A LA CAJA, que debe confirmar { $amount }: no entregue nada hasta entonces
being-taken-back = { $what }SIN CONFIRMAR, se está revirtiendo: puede cobrar de nuevo inmediatamente con una nueva referencia; el cliente puede ver dos cargos hasta que se revierta uno. { $why }
reservation-being-taken-back = { $what }SIN CONFIRMAR, se está revirtiendo: puede reservar de nuevo inmediatamente con una nueva referencia; el cliente puede ver dos reservas hasta que se revierta una. { $why }
being-finished = { $what }SIN CONFIRMAR, se está completando: no la repita, compruébela más tarde. { $why }
last-try = Último intento: { $why }
needs-person = { $what }SIN CONFIRMAR, debe resolverse: espere y avise al técnico. { $why }
journal-cannot-be-written = SIN CONFIRMAR: no se puede escribir en el diario; el terminal lo resolverá en cuanto pueda volver a escribir
asking-whether-sent = SIN CONFIRMAR: el terminal se reinició antes de enviar la venta; está consultando a la pasarela si la ha recibido
alarm = ALARMA: { $why }

## Outcomes of a transaction, for the cashier

ended-approved = { $what }APROBADA { $amount }
ended-partially-approved = { $what }APROBADA EN PARTE: solo { $part } de { $amount }
ended-declined = { $what }DENEGADA, { $nothing }. { $why }
ended-cancelled = { $what }CANCELADA, { $nothing }. { $why }
ended-not-sent = { $what }NO ENVIADA, { $nothing }. { $why }
ended-reversed = { $what }REVERTIDA, { $nothing }. { $why }

## Steps at the reader, for the cashier

step-choosing-tip = El cliente elige la propina
step-present-card = Inserte, acerque o deslice la tarjeta
step-insert-card = Inserte la tarjeta
step-swipe-card = No se puede leer el chip: retire la tarjeta y deslícela
step-try-again = Pruebe con una sola tarjeta
step-type-card = El número de tarjeta se teclea en el lector
step-choosing-application = El cliente elige cómo pagar
step-reading-card = Leyendo la tarjeta, no la retire
step-pin-entry = El cliente introduce el PIN
step-pin-digits = PIN { $digits }
step-pin-wrong = PIN incorrecto
step-pin-no-tries = PIN incorrecto, sin más intentos
step-pin-one-try = PIN incorrecto, queda 1 intento
step-pin-tries = PIN incorrecto, quedan { $tries } intentos
step-pin-done = PIN introducido
step-remove-card = Retire la tarjeta

## The receipt

terminal = Terminal
merchant-id = Comercio
date = Fecha
sale-number = Núm. operación
reference = Referencia
operator = Operador
supervisor = Supervisor
amount = Importe
tip = Propina
total = TOTAL
requested = Solicitado
approved-part = Aprobado
brand = Marca
application = Aplicación
aid = AID
card = Tarjeta
entry = Lectura
auth-code = Autorización
acquirer-code = Cód. adquirente
clearing-id = Id. compensación
payment-id = Id. de pago
registration-id = Tarjeta guardada
result-code = Cód. resultado
reason-word = Motivo
original = OPERACIÓN ORIGINAL
approved = APROBADA
card-stored = TARJETA GUARDADA, SIN COBRO
card-forgotten = TARJETA ELIMINADA, SIN COBRO
partially-approved = APROBADA EN PARTE
declined = DENEGADA
cancelled = CANCELADA
not-carried-out = NO REALIZADA
reversed = REVERTIDA
taken-back = { $nothing }: REVERTIDA
unconfirmed-taken-back = SIN CONFIRMAR, SE ESTÁ REVIRTIENDO
two-bookings = HASTA ENTONCES PUEDEN VERSE DOS CARGOS
two-reservations = HASTA ENTONCES PUEDEN VERSE DOS RESERVAS
unconfirmed-finished = SIN CONFIRMAR, SE ESTÁ COMPLETANDO
entry-manual = MANUAL
entry-magstripe = BANDA MAGNÉTICA
entry-fallback = BANDA (FALLO DE CHIP)
entry-chip = CHIP
entry-contactless = CONTACTLESS
entry-contactless-magstripe = CONTACTLESS (BANDA)
pin-verified = PIN VERIFICADO
pin-verified-online = PIN VERIFICADO EN LÍNEA
pin-entered = PIN INTRODUCIDO
by-signature = FIRMA
pin-verified-and-signature = PIN VERIFICADO, FIRMA
pin-entered-and-signature = PIN INTRODUCIDO, FIRMA
verified-on-device = VERIFICADO EN DISPOSITIVO MÓVIL
on-device = DISPOSITIVO MÓVIL
no-verification = SIN VERIFICACIÓN DEL TITULAR
agree-to-pay = Acepto pagar el importe indicado según las condiciones de mi tarjeta.
agree-to-reserve = Acepto que se reserve el importe indicado en mi tarjeta, según sus condiciones.
agree-to-credit = Acepto que se abone el importe indicado en mi tarjeta.
signature = Firma:
merchant-copy = COPIA COMERCIO
customer-copy = COPIA CLIENTE
keep-receipt = CONSERVE ESTE RECIBO
duplicate = DUPLICADO
training = FORMACIÓN
training-no-payment = NO ES UN PAGO, NO SE MUEVE DINERO

## The slip of a close of day

close-of-day = CIERRE DEL DÍA
close-number = Cierre
business-day = Día
period-from = Desde
beginning = el inicio
period-to = Hasta
receipt-numbers = Recibos
taken = Cobrado
given = Devuelto
net = NETO
nothing-moved = SIN MOVIMIENTOS
tips-in-sales = Propinas incluidas
of-unknown = Anul. desconocidas
count-declined = Denegadas
count-taken-back = Revertidas
count-cancelled = Canceladas
count-not-sent = No enviadas
by-till = POR CAJA
by-operator = POR OPERADOR
open-items = PENDIENTES, NO SUMADAS ARRIBA
nothing-open = NADA PENDIENTE
open-needs-person = POR RESOLVER
open-unconfirmed = SIN CONFIRMAR
open-awaiting-signature = FALTA COMPARAR LA FIRMA
open-awaiting-till = FALTA CONFIRMAR EN CAJA
open-under-way = EN CURSO
open-unreadable = ILEGIBLE
open-reserved = RESERVADO, NO CAPTURADO
and-more = y { $count } más

## Refusals: a command that is not carried out

refused-amount-differs = la referencia { $reference } ya pertenece a otra operación ({ $kind } { $amount }); use una nueva referencia
refused-busy = el terminal está ocupado con la operación { $reference } de la caja { $till }; espere a que termine o cancélela
refused-busy-elsewhere = el terminal está ocupado con una operación de otra caja; inténtelo de nuevo cuando termine
refused-not-ready = ahora no es posible: { $why }
refused-nothing-typed = no se ha introducido ningún importe: { $why }
refused-no-signature = no hay ninguna firma por comparar: { $state }
refused-signature-accepted = la firma ya se ha aceptado: { $state }
refused-signature-refused = la firma ya se ha rechazado: { $state }
refused-no-confirmation = no hay nada por confirmar: { $state }
refused-all-taken = la caja ya lo ha aceptado todo: { $state }
refused-part-taken = la caja ya ha aceptado { $amount }: { $state }
refused-nothing-taken = la caja ya lo ha rechazado: { $state }
refused-no-receipt = no hay recibo antes del resultado: { $state }
refused-not-possible = no es posible: { $why }
refused-parameter = { $name } no es válido: { $why }
refused-amount = este importe no es posible: { $why }
refused-tip = esta propina no es posible: { $why }
refused-training-off = el modo formación está desactivado en este terminal; para permitirlo, defina allowed = true en [training]
refused-currency = no se puede cobrar en { $wanted }: este terminal solo acepta { $terminal }; omita la divisa o consulte currency de [terminal]
refused-none-yet = la caja { $till } aún no tiene operaciones
refused-no-such-sale = la caja { $till } no tiene ninguna operación con la referencia { $reference }
refused-no-close-yet = aún no se ha cerrado ningún día; pos-agent close hace un cierre
refused-close-not-made = el próximo cierre aún no se ha hecho; pos-agent close lo hace
refused-no-such-close = no existe el cierre { $number }; GET /v1/closes o pos-agent close list los muestra todos
refused-line = lines[{ $at }] no se puede imprimir: { $why }
refused-printer = no se puede imprimir: { $why }
refused-gateway = la pasarela no responde: { $why }
refused-journal = no se puede usar el diario: { $why }

## Refusals: rights

denied-lacks = { $caller } necesita { $rights } { $purpose }; amplíe { $key }
denied-nameless = { $caller } necesita { $rights } { $purpose }; defina PrivateUsers=no en la unidad del agente y el sistema identificará al usuario
denied-not-its-till = { $caller } actúa para { $tills } y no para la caja { $till }; omita ?till=
denied-not-its-till-of-peer = { $caller } actúa para { $tills } y no para la caja { $till }; añádala a { $key }
denied-which-till = indique la caja de esta petición con ?till=, una de: { $tills }
denied-operator-required = para esto, un operador debe haber iniciado sesión: abra una sesión (POST /v1/sessions) y envíela como Pos-Session; en la línea de comandos, añada --operator NAME
denied-role = { $operator } ha iniciado sesión como { $role }, y para esto se necesita el rol { $needs }
one-role = { $first } o { $other }
denied-stated-operator = operator: aquí los cajeros inician sesión, así que la caja no puede indicar su cajero; para permitirlo, defina { $key }
denied-stated-operator-of-peer = operator: aquí los cajeros inician sesión, así que la caja no puede indicar su cajero; para permitirlo, añada la caja a { $key }
denied-only-at-the-socket = para esto no basta un token; hágalo en el terminal, por su socket Unix, como pos-agent
one-right = el permiso { $rights }
several-rights = los permisos { $rights }
one-of-rights = uno de los permisos { $rights }
for-this = para esto
for-other-till = para las operaciones de otra caja
for-earlier-of-other-till = para referirse a una operación de otra caja
for-unknown-payment = para referirse a un pago que este terminal no conoce
for-authentication = para indicar cómo se autentica una tarjeta guardada
caller-till = la caja { $till }
caller-user = el usuario { $user }
caller-nameless = un usuario que el sistema no identifica
key-of-token = { $key } del [[till.token]] con till = "{ $till }"
key-of-peer = { $key } del [[till.peer]] con uid = { $user }
key-of-fleet = { $key } del [[fleet.key]] con till = "{ $till }"
key-of-user = { $key } de un [[till.peer]] con uid = { $user }, o rights de [till.socket] para todos los usuarios del socket
key-of-socket = rights de [till.socket]

## Refusals: operators

operator-wrong-pin = el nombre o el PIN no es correcto
operator-locked = demasiados PIN incorrectos; inténtelo de nuevo en { $seconds } s o pida a un supervisor o técnico que lo desbloquee (pos-agent operator unlock NAME)
operator-pin-under-way = se está comprobando otro PIN; inténtelo de nuevo
operator-session-ended = no hay ningún operador con esta sesión: ha terminado o es de otra caja; inicie sesión de nuevo (POST /v1/sessions)
operator-supervisor-needed = esto requiere un supervisor ({ $command }); pida que uno lo apruebe (POST /v1/approvals) y envíe la aprobación como Pos-Supervisor, o que el supervisor inicie sesión
operator-not-approved = ningún supervisor ha aprobado esta orden: { $why }
operator-no-supervisor = { $name } no es supervisor y no puede aprobarlo
operator-unknown = no existe el operador { $name }; pos-agent operator list los muestra todos
operator-exists = el operador { $name } ya existe; cambie el PIN (pos-agent operator pin) o elimine antes el operador
operator-too-many = hay { $most } operadores, el máximo; elimine antes uno
operator-pin-length = el PIN debe tener { $digits } dígitos; vea pin-digits de [operators]
approval-unknown = la aprobación ya se ha usado, ya no es válida o tiene más de dos minutos
approval-other-till = la aprobación se dio en otra caja
approval-other-operator = la aprobación se dio a otro operador
approval-other-command = la aprobación es para { $approved }, y esto es { $command }
command = { $kind } { $amount }{ $of }{ $card }{ $tip }{ $typed }, referencia { $reference }
command-of-transaction = , operación { $number }
command-of-payment = , pago { $payment }
command-of-card = , tarjeta guardada { $registration }
command-with-tip = , con propina
command-typed = , número de tarjeta tecleado

## Details of refusals: the terminal

nothing-typed = no se ha tecleado nada
reader-in-use = el lector está en uso
amount-being-typed = se está tecleando un importe en el lector
terminal-stopping = el terminal se está apagando
no-random-numbers = el sistema no proporciona números aleatorios ({ $why })
command-not-resolved = la orden no se ha resuelto; inténtelo de nuevo
pin-not-digested = no se ha podido calcular el resumen del PIN; inténtelo de nuevo
training-busy = el modo formación está sobrecargado; inténtelo de nuevo
training-within = esto ya es el modo formación
state-unknown = el estado de la operación solo se sabrá cuando se pueda escribir en el diario; responda de nuevo entonces
no-printer = el terminal no tiene impresora; consulte [[printer]] en la configuración
training-not-printed = los recibos del modo formación se muestran, pero nunca se imprimen
looks-like-card-number = parece un número de tarjeta, que solo debe llegar al lector; use otro valor

## Details of refusals: amounts

above-limit = { $amount } supera el límite del terminal, { $limit }; consulte max-amount de [terminal]
limit-of-other-currency = el terminal tiene un límite de { $limit } y no acepta otra divisa; consulte max-amount de [terminal]
tip-above-amount = la propina de { $tip } supera el importe de { $amount }; compruebe los datos
total-not-possible = importe y propina juntos: { $why }
nothing-given = sin un pago anterior que este terminal conozca, no se abona dinero; para permitirlo, defina max-credit-amount en [terminal]
given-in-other-currency = solo se abona dinero en { $currency }; consulte max-credit-amount de [terminal]
above-given-limit = { $amount } supera el límite de { $limit } para abonos; consulte max-credit-amount de [terminal]

## Details of refusals: the earlier transaction

not-of-training = el modo formación solo realiza operaciones de formación
payment-not-of-training = el pago { $payment } no es del modo formación
payment-of-training = el pago { $payment } es del modo formación y no movió dinero; añada "training" a la petición
transaction-not-of-training = la operación { $number } no es del modo formación
transaction-of-training = la operación { $number } es del modo formación y no movió dinero
of-another-account = la operación { $number } se inició con otra cuenta en la pasarela (otro entity-id de [gateway]); ninguna operación de esta cuenta puede continuarla
no-transaction-number = este terminal no tiene la operación { $number }
is-reversal = el pago { $payment } es la reversión automática de la operación { $number }; no se puede operar sobre una reversión
amount-needed = se necesita un importe, porque este terminal no conoce el pago
needs-more = el tipo { $kind } necesita más campos
no-id = { $name } debe tener 32 letras y cifras
rest-references-used = las dos referencias para devolver el resto ya se han usado; acéptelo todo y devuelva el resto aparte
no-decision-awaited = la operación { $number } no espera ninguna decisión; pos-agent status muestra las que sí
transaction-ended = la operación { $number } ha terminado
older-than-copy = la operación { $number } es anterior a la detección de que este diario era una copia antigua: aquí pueden faltar sus devoluciones y capturas; use el back office de la pasarela
not-compared-yet = la pasarela aún no ha indicado si este diario es una copia antigua, en la que pueden faltar devoluciones; inténtelo de nuevo enseguida
list-incomplete = la lista por fecha de la pasarela no está completa, así que este diario puede ser una copia antigua; solo se puede operar sobre un pago que se pueda consultar
cannot-be-looked-up = este diario puede ser una copia antigua, y la operación { $number } no se puede consultar ({ $why }); inténtelo más tarde
not-listed-by-gateway = no figura en la pasarela
linked-unknown = la pasarela tiene { $count } operaciones vinculadas a la operación { $number } que este diario no conoce; use el back office de la pasarela

## Attention: the reader. { $why } comes from the reader, the gateway or the printer: a sentence with its remedy

attention-reader-opening = el lector se está conectando; espere un momento
attention-reader-absent = no se encuentra el lector: { $why }
attention-reader-other-device = hay otro dispositivo conectado en lugar del lector: { $why }
attention-reader-not-listed = este lector no pertenece a este terminal: { $why }
attention-reader-no-keys = el lector no tiene claves: { $why }
attention-reader-clear-data = el lector envía datos de tarjeta sin cifrar y no se usa: { $why }
attention-reader-not-encrypting = el lector no cifra correctamente y no se usa: { $why }
attention-reader-flooding = el lector envía datos sin parar: { $why }
attention-reader-restarting = el lector se está reiniciando: { $why }
attention-reader-card-left = la tarjeta del último pago sigue en el lector: retírela
attention-reader-keys-low = al lector le quedan claves para { $count } pagos: solicite la carga de claves nuevas

## Attention: the gateway

attention-gateway-unreachable = no hay conexión con la pasarela: { $why }
attention-gateway-no-answer = la pasarela no responde: { $why }
attention-gateway-out-of-order = la pasarela tiene un problema técnico: { $why }
attention-gateway-throttles = la pasarela tiene demasiadas peticiones; espere un momento
attention-gateway-refuses-request = la pasarela ha rechazado la última operación por ser una petición no válida{ $detail }; otra tarjeta no lo arregla; compruebe entity-id de [gateway] y los campos de la caja
attention-gateway-refuses-token = la pasarela no acepta nuestro token: { $why }
attention-gateway-untrusted-certificate = el certificado de la pasarela no es de confianza: { $why }
attention-gateway-certificate-expired = el certificado de la pasarela ha caducado: { $why }
attention-gateway-own-certificate-refused = la pasarela no acepta nuestro certificado: { $why }
attention-gateway-own-certificate-expired = nuestro certificado para la pasarela ha caducado: { $why }
attention-gateway-not-usable = la pasarela no se puede utilizar: { $why }
attention-gateway-certificate-ends = el certificado de la pasarela va a caducar: { $why }
attention-ca-certificate-ends = el certificado de la CA va a caducar: { $why }
attention-own-certificate-ends = nuestro certificado va a caducar: { $why }
attention-token-ends = nuestro token va a caducar: { $why }
attention-gateway-files-unused = los archivos modificados de la pasarela no sirven y se siguen usando los anteriores: { $why }

## Attention: printers

attention-printer-no-paper = la impresora{ $name } no tiene papel: { $why }
attention-printer-paper-low = a la impresora{ $name } le queda poco papel: { $why }
attention-printer-cover-open = la impresora{ $name } está abierta: { $why }
attention-printer-paper-jam = la impresora{ $name } tiene un atasco de papel: { $why }
attention-printer-error = la impresora{ $name } tiene una avería: { $why }
attention-printer-pausing = la impresora{ $name } está en pausa: { $why }
attention-printer-offline = la impresora{ $name } está fuera de línea: { $why }
attention-printer-absent = no hay conexión con la impresora{ $name }: { $why }
attention-printer-interrupted = la impresora{ $name } se detuvo durante un recibo: { $why }
attention-printer-silent = la impresora{ $name } no responde: { $why }

## Attention: clocks and journal

attention-clock-untrusted = ni el reloj del terminal ni el del lector pueden ser correctos; ponga en hora el del terminal (timedatectl) y espere un momento
attention-clock-behind-journal = ni el reloj del terminal ni el del lector pueden ser correctos: el del terminal marca { $board }, y el último registro del diario es de { $latest }; ponga en hora el del terminal (timedatectl) y espere un momento o, si es correcto, consulte pos-agent journal set-clock-back --help
attention-clocks-differ = los relojes de la pasarela y del terminal difieren en { $seconds } s; ponga en hora el del terminal (timedatectl); si es correcto, avise al proveedor de la pasarela
attention-reader-clock-differs = los relojes de la pasarela y del lector, que es el que se usa aquí, difieren en { $seconds } s; ponga en hora el del terminal (timedatectl); si el del lector es correcto, avise al proveedor de la pasarela
attention-journal-full = el diario está lleno: { $why }
attention-journal-nearly-full = al disco del diario le quedan { $free } MiB; libere espacio (df -h, journalctl --vacuum-size=50M) y nunca borre el diario
attention-journal-cannot-be-written = no se puede escribir en el diario: { $why }
attention-journal-old-copy = este diario es una copia antigua: { $why }; las operaciones pendientes anteriores esperan pos-agent settle NUMBER --keep o --reverse
attention-journal-was-old-copy = se ha detectado que este diario era una copia antigua: pueden faltar devoluciones, anulaciones y capturas de operaciones hasta el número { $number }; para estas, use el back office de la pasarela
attention-journal-not-compared = la pasarela no ha indicado si este diario es una copia antigua ({ $why }); hasta entonces se rechazan devoluciones, capturas y abonos, y las reversiones anteriores esperan; si no se puede consultar por fecha, defina query-by-date = false en [gateway.assumptions]
attention-journal-list-incomplete = la pasarela no ha indicado si este diario es una copia antigua ({ $why }); hasta entonces se rechazan los abonos, las reversiones anteriores esperan y lo que sigue a un pago anterior espera a su consulta; si no se puede consultar por fecha, defina query-by-date = false en [gateway.assumptions]
attention-journal-began-anew = este diario es nuevo, y la pasarela tiene { $count } pagos de este terminal de los últimos días: incorpore el diario del equipo anterior (pos-agent journal adopt FILE)
copy-lacks-references = la pasarela tiene { $count } referencias de este terminal que el diario no conoce (la última está en el log)
journal-is-old-copy = este diario es una copia antigua: { $why }
gateway-time-unknown = no se conoce su hora: { $why }; consulte probe-path de [gateway.assumptions]
sold-on-another-journal = este terminal ha cobrado con otro diario ({ $why }): no se cobra nada hasta que alguien decida. Detenga el agente; después, vuelva a poner el diario correcto o incorpórelo (pos-agent journal adopt FILE); si se ha perdido, acepte este (pos-agent journal accept)
journal-gone = { $why }; { $rescued }
rescued-into-journal = se ha copiado todo en el diario: reinicie el agente y no se perderá nada
rescued-into-file = las operaciones pendientes y las últimas están en { $file }: si el diario se movió, vuelva a ponerlo en su sitio. Si se ha perdido, detenga el agente, quite el archivo que ocupa su lugar, incorpore { $file } (pos-agent journal adopt { $file }) e inicie el agente
rescued-nothing = el diario no tenía ninguna operación: reinicie el agente

## Attention: transactions and tills

attention-sale-unconfirmed = operación { $reference } de la caja { $till }: { $state }
attention-sale-left-alone = la operación { $reference } de la caja { $till } está pendiente: { $why }
attention-signature-awaited = la operación { $reference } de la caja { $till } espera: compare su firma
attention-confirmation-awaited = la operación { $reference } de la caja { $till } espera a que la caja confirme que la acepta
attention-till-port-closed = las cajas con token no pueden conectarse: { $why }
attention-fleet-message = mensaje de { $author }: { $text }
attention-fleet-settings-trial = se prueban los ajustes de la flota, versión { $version }; el terminal vuelve atrás por sí mismo si no se confirman en diez minutos
attention-fleet-settings-returned = el terminal volvió atrás desde los ajustes de la flota, versión { $version }: { $why }
attention-fleet-settings-drift = modificado en el terminal, por lo que no valen los valores de la flota: { $settings }; ejecutar: pos-agent check
attention-fleet-settings-unusable = no se usan los ajustes de la flota: { $why }; para quitarlos, detener el agente y borrar la carpeta fleet junto al diario
attention-fleet-keys-unusable = las claves de órdenes de la flota no se pueden usar, por lo que no se acepta ninguna orden: { $why }; para las de la configuración, detener el agente y borrar la carpeta fleet junto al diario
left-as-training = es del modo formación y no movió dinero: no se envía nada de ella a la pasarela
left-to-another-account = se inició con otra cuenta en la pasarela (otro entity-id de [gateway])
left-to-another-terminal = la hizo el terminal { $theirs }, y este es { $ours }: no se puede resolver desde aquí; corrija id de [terminal] si este es { $theirs }

## The devices in the status

reader-is = { $model } { $firmware }, n.º de serie { $serial }
gateway-not-asked-yet = aún sin consultar
gateway-connected = conectada
gateway-answers = responde
printer-is-ready = lista
printer-not-used-yet = aún sin usar
printer-one-waits = { $why }; 1 recibo en espera
printer-some-wait = { $why }; { $count } recibos en espera
clock-of-board = el del terminal
clock-of-reader = el del lector, porque el del terminal no puede ser correcto
journal-written = se escribe

## Reasons: the card, its holder and the shop

bank-declined =
    .cashier = El banco ha denegado la operación{ $detail }; pruebe con otra tarjeta u otra forma de pago.
    .customer = DENEGADA POR EL BANCO{ $detail }
    .technician = El emisor, o la pasarela en su nombre, ha denegado la operación{ $detail }; el terminal funciona bien.
insert-and-pin =
    .cashier = El banco exige el PIN{ $detail }; empiece de nuevo y pida al cliente que inserte la tarjeta.
    .customer = INSERTE LA TARJETA
    .technician = El emisor no acepta contactless para este pago (insert-and-pin){ $detail }; el terminal funciona bien.
do-not-try-again =
    .cashier = El banco ha denegado la operación definitivamente{ $detail }; no vuelva a probar con esta tarjeta.
    .customer = DENEGADA POR EL BANCO{ $detail }
    .technician = El emisor no volverá a aprobar operaciones de esta tarjeta (do-not-try-again){ $detail }; el terminal funciona bien.
card-declined =
    .cashier = La propia tarjeta ha denegado la operación; pida otra tarjeta.
    .customer = DENEGADA POR LA TARJETA
    .technician = El chip ha denegado la operación (AAC) antes de enviarse nada{ $detail }; el terminal funciona bien.
customer-cancelled =
    .cashier = El cliente ha cancelado o ha retirado la tarjeta; si fue un error, empiece de nuevo.
    .customer = CANCELADA POR EL CLIENTE
    .technician = Se ha pulsado la tecla de cancelar del lector o se ha retirado la tarjeta{ $detail }; no hay que hacer nada.
till-cancelled =
    .cashier = Se ha cancelado en la caja; si fue un error, empiece de nuevo.
    .customer = CANCELADA POR EL COMERCIO
    .technician = La caja o su operador ha cancelado la operación{ $detail }; no hay que hacer nada.
terminal-stopped =
    .cashier = El terminal se estaba apagando; empiece de nuevo cuando esté listo.
    .customer = TERMINAL APAGADO
    .technician = El agente se estaba apagando{ $detail }; journalctl --unit pos-agent muestra quién lo ha detenido.
card-timeout =
    .cashier = No se ha presentado ninguna tarjeta a tiempo; empiece de nuevo.
    .customer = TARJETA NO PRESENTADA
    .technician = No se ha presentado ninguna tarjeta en el plazo card-timeout-s de [terminal]{ $detail }; aumente el valor si los clientes necesitan más tiempo.
tip-timeout =
    .cashier = El cliente no ha elegido la propina a tiempo; empiece de nuevo.
    .customer = PROPINA SIN RESPUESTA
    .technician = El titular no ha elegido ni rechazado la propina en el plazo card-timeout-s de [terminal]{ $detail }; aumente el valor si los clientes necesitan más tiempo.
card-unreadable =
    .cashier = No se puede leer la tarjeta; pida otra tarjeta.
    .customer = TARJETA ILEGIBLE
    .technician = No se ha podido leer la tarjeta de ninguna de las formas que admite{ $detail }; si ocurre con muchas tarjetas, limpie el lector.
card-gone =
    .cashier = La tarjeta se ha retirado antes de poder enviar el pago; empiece de nuevo sin retirar la tarjeta.
    .customer = TARJETA RETIRADA ANTES DE TIEMPO
    .technician = La pasarela estaba saturada y la tarjeta se ha retirado antes de que el agente pudiera enviar la petición{ $detail }; si ocurre a menudo, pida a su proveedor un límite mayor.
card-left-in =
    .cashier = La última tarjeta no se ha retirado del lector; retírela y empiece de nuevo.
    .customer = RETIRE LA TARJETA ANTERIOR
    .technician = La ranura del lector no ha quedado vacía en 30 s{ $detail }; si no hay ninguna tarjeta dentro, limpie el lector.
tip-not-possible =
    .cashier = No se pueden cobrar juntos el importe y la propina{ $detail }; empiece de nuevo con una propina menor.
    .customer = PROPINA NO POSIBLE
    .technician = No se pueden cobrar juntos el importe y la propina{ $detail }; consulte max-amount de [terminal] y sale de [operators.supervisor-above].

## Reasons: the terminal

reader-lost =
    .cashier = El lector de tarjetas no responde; compruebe el cable y la corriente y empiece de nuevo.
    .customer = FALLO DEL LECTOR
    .technician = El lector se ha desconectado o no responde correctamente{ $detail }; compruebe el cable y la corriente y ejecute pos-agent doctor.
reader-not-ready =
    .cashier = El lector de tarjetas no está listo; compruebe el cable y la corriente y empiece de nuevo.
    .customer = LECTOR NO DISPONIBLE
    .technician = El lector no está listo{ $detail }; compruebe el cable y la corriente y ejecute pos-agent doctor.
reader-absent =
    .cashier = No se encuentra el lector de tarjetas; compruebe el cable y la corriente y empiece de nuevo.
    .customer = FALLO DEL LECTOR
    .technician = No se puede abrir el puerto del lector{ $detail }; compruebe el cable y la corriente, y port de [reader].
reader-other-device =
    .cashier = Hay otro dispositivo conectado en lugar del lector de tarjetas; conecte el lector o avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El dispositivo del puerto no es un lector de este tipo{ $detail }; compruebe port y protocol de [reader].
reader-not-listed =
    .cashier = Este lector de tarjetas no pertenece a este terminal; conecte el correcto o avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El número de serie del lector no está en serials de [reader]{ $detail }; conecte el lector correcto o añada el número si este es el suyo.
reader-restarting =
    .cashier = El lector de tarjetas se está reiniciando; espere un momento y empiece de nuevo.
    .customer = LECTOR NO DISPONIBLE
    .technician = El lector se está reiniciando tras un fallo{ $detail }; si ocurre a menudo, llévelo a revisar.
reader-flooding =
    .cashier = El lector de tarjetas no funciona bien; apáguelo y enciéndalo o avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El lector envía datos sin parar{ $detail }; compruebe el cable y la corriente, y cámbielo si continúa.
reader-no-keys =
    .cashier = El lector de tarjetas ya no puede leer más tarjetas; avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = Al lector no le quedan claves de cifrado{ $detail }; solicite la carga de claves nuevas.
reader-clear-data =
    .cashier = El lector de tarjetas no protege bien los datos de las tarjetas y no se usa; avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El lector envía datos de tarjeta sin cifrar{ $detail }; no se ha enviado ni guardado nada; solicite su sustitución.
reader-not-encrypting =
    .cashier = El lector de tarjetas no protege bien los datos de las tarjetas y no se usa; avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El lector ha dejado de cifrar o ha usado una clave dos veces{ $detail }; no se ha enviado ni guardado nada; solicite su sustitución si vuelve a ocurrir.
reader-amount-differs =
    .cashier = El lector de tarjetas ha usado otro importe y por eso no se ha enviado nada; avise al técnico.
    .customer = FALLO DEL LECTOR
    .technician = El lector ha firmado un importe o una divisa distintos de los solicitados (9F02, 5F2A){ $detail }; lleve el lector a revisar.
reader-pin-missing =
    .cashier = El lector de tarjetas no ha entregado el PIN; empiece de nuevo y avise al técnico si vuelve a ocurrir.
    .customer = FALLO DEL LECTOR
    .technician = El lector ha indicado un PIN, pero no ha enviado el bloque del PIN{ $detail }; solicite que se revise su clave de PIN.
typing-not-possible =
    .cashier = En este terminal no se pueden teclear números de tarjeta; pida la tarjeta.
    .customer = NO SE PUEDE TECLEAR
    .technician = El tecleo de números de tarjeta está desactivado en este lector, o este no lo admite{ $detail }; consulte manual-entry de [reader].
terminal-restarted =
    .cashier = El terminal se ha reiniciado antes de enviar nada; empiece de nuevo.
    .customer = TERMINAL REINICIADO
    .technician = El agente se ha reiniciado antes de enviar nada{ $detail }; su log anterior al reinicio muestra el motivo.
clock-untrusted =
    .cashier = El terminal no sabe la hora y no puede cobrar; avise al técnico.
    .customer = TERMINAL NO DISPONIBLE
    .technician = Ni el reloj del terminal ni el del lector pueden ser correctos{ $detail }; ponga en hora el reloj y compruebe la hora de red o la pila del reloj.
request-not-possible =
    .cashier = El terminal no puede enviar esto; avise al técnico.
    .customer = NO ES POSIBLE
    .technician = La petición tiene un valor que la pasarela no acepta{ $detail }; corríjalo en la caja o en la configuración.

## Reasons: the connection to the gateway

gateway-unreachable =
    .cashier = No hay conexión con el banco; compruebe la red y empiece de nuevo.
    .customer = SIN CONEXIÓN
    .technician = No hay conexión con la pasarela{ $detail }; compruebe la red, el servidor de nombres, el cortafuegos y url de [gateway], y ejecute pos-agent doctor.
gateway-untrusted-certificate =
    .cashier = La conexión con el banco no es segura y por eso no se ha enviado nada; avise al técnico.
    .customer = SIN CONEXIÓN SEGURA
    .technician = El certificado de la pasarela no es de confianza{ $detail }; compruebe el reloj, y ca-file y ca-pins de [gateway].
gateway-certificate-expired =
    .cashier = La conexión con el banco no es segura y por eso no se ha enviado nada; avise al técnico.
    .customer = SIN CONEXIÓN SEGURA
    .technician = El certificado de la pasarela ha caducado{ $detail }; compruebe el reloj del terminal y avise al proveedor de la pasarela.
gateway-own-certificate-refused =
    .cashier = El banco no acepta este terminal; avise al técnico.
    .customer = SIN CONEXIÓN
    .technician = La pasarela no acepta nuestro certificado, o exige uno{ $detail }; compruebe client-certificate-file de [gateway].
gateway-own-certificate-expired =
    .cashier = El banco ya no acepta este terminal; avise al técnico.
    .customer = SIN CONEXIÓN
    .technician = La pasarela rechaza nuestro certificado, que ha caducado{ $detail }; sustituya client-certificate-file de [gateway] y su clave.
gateway-not-usable =
    .cashier = La conexión con el banco no funciona y por eso no se ha enviado nada; avise al técnico.
    .customer = SIN CONEXIÓN
    .technician = El servidor no es una pasarela utilizable{ $detail }; compruebe url y los archivos de [gateway], y ejecute pos-agent doctor.
gateway-refuses-token =
    .cashier = El banco no acepta este terminal; avise al técnico.
    .customer = TERMINAL NO ACEPTADO
    .technician = La pasarela rechaza el token de acceso{ $detail }; obtenga uno nuevo y póngalo donde lo espera [gateway].
gateway-wrong-address =
    .cashier = El terminal no encuentra el banco en la dirección configurada; avise al técnico.
    .customer = SERVICIO NO DISPONIBLE
    .technician = La pasarela no tiene nada en la dirección solicitada{ $detail }; compruebe url de [gateway] y las rutas de [gateway.assumptions].
gateway-throttles =
    .cashier = El banco está saturado; espere un momento y empiece de nuevo.
    .customer = SERVICIO SATURADO
    .technician = La pasarela tiene demasiadas peticiones y no ha procesado esta{ $detail }; si ocurre a menudo, pida a su proveedor un límite mayor.
never-received =
    .cashier = La petición no ha llegado al banco; empiece de nuevo.
    .customer = NO HA LLEGADO AL BANCO
    .technician = La pasarela no conoce la petición, y ha pasado el tiempo en que aún podía llegar{ $detail }; compruebe la red.

## Reasons: the cause of an unconfirmed outcome

gateway-no-answer =
    .cashier = El banco no ha respondido; compruebe la red si vuelve a ocurrir.
    .customer = SIN RESPUESTA DEL BANCO
    .technician = La petición se ha enviado, pero no ha llegado respuesta{ $detail }; compruebe la red.
gateway-out-of-order =
    .cashier = El banco ha tenido un problema técnico; avise al técnico si vuelve a ocurrir.
    .customer = PROBLEMA DEL SERVICIO
    .technician = La pasarela ha fallado{ $detail }; consulte a su proveedor.
answer-unclear =
    .cashier = La respuesta del banco no está clara; avise al técnico si vuelve a ocurrir.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = La respuesta de la pasarela no se puede leer o se contradice{ $detail }; consulte a su proveedor.
code-unknown =
    .cashier = El terminal no conoce el significado de la respuesta del banco; avise al técnico.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = El código de resultado de la pasarela no está en ninguna lista{ $detail }; pregunte su significado al proveedor y añada el código en [gateway.assumptions].
decline-in-doubt =
    .cashier = El banco ha respondido con una denegación inusual; avise al técnico si vuelve a ocurrir.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = La pasarela ha respondido con una denegación, pero no con HTTP 400{ $detail }, así que el agente lo ha consultado; si es habitual, consulte believe-declines-at-200 de [gateway.assumptions].
another-payment-answered =
    .cashier = La respuesta del banco es de otro pago; avise al técnico.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = La respuesta de la pasarela es de otro pago, otra referencia u otro tipo de operación{ $detail }; consulte a su proveedor.
not-decided-in-time =
    .cashier = El banco ha tardado demasiado en decidir; avise al técnico si vuelve a ocurrir.
    .customer = EL BANCO HA TARDADO DEMASIADO
    .technician = La pasarela no ha decidido a tiempo{ $detail }; consulte a su proveedor o aumente answer-timeout-ms de [gateway].
another-amount-approved =
    .cashier = El banco ha aprobado otro importe{ $detail }; avise al técnico.
    .customer = IMPORTE APROBADO INCORRECTO{ $detail }
    .technician = La pasarela ha aprobado un importe o una divisa distintos de los solicitados{ $detail }; consulte a su proveedor.
amount-unreadable =
    .cashier = El banco ha aprobado un importe que no se puede leer; avise al técnico.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = La pasarela ha aprobado un importe que no se puede leer{ $detail }; consulte a su proveedor.
chip-contradicted =
    .cashier = El banco ha dado respuestas distintas al terminal y a la tarjeta; avise al técnico si vuelve a ocurrir.
    .customer = RESPUESTA CONFUSA DEL BANCO
    .technician = El resultado de la pasarela y su respuesta al chip (8A) se contradicen{ $detail }; consulte a su proveedor.
partial-not-taken =
    .cashier = El banco solo ha aprobado una parte{ $detail }, y esta caja no lo acepta; pruebe con otra tarjeta u otra forma de pago.
    .customer = SOLO SE HA APROBADO UNA PARTE{ $detail }
    .technician = Solo se ha aprobado una parte{ $detail }, y la petición de la caja no admite partes; no hay que hacer nada.
card-refused =
    .cashier = La tarjeta ha rechazado la operación después de que el banco la aprobara; pida otra tarjeta.
    .customer = RECHAZADA POR LA TARJETA
    .technician = El chip ha rechazado la operación (AAC) después de que el emisor la aprobara{ $detail }; si ocurre con muchas tarjetas, consulte al proveedor de la pasarela.
card-lost =
    .cashier = La tarjeta se ha retirado antes de tiempo; la próxima vez, no la retire hasta que el lector lo pida.
    .customer = TARJETA RETIRADA ANTES DE TIEMPO
    .technician = Se ha retirado la tarjeta o se ha perdido el lector antes de que el chip confirmara la aprobación{ $detail }; si ocurre a menudo, compruebe el cable del lector.
restarted-before-answer =
    .cashier = El terminal se ha reiniciado antes de registrar la respuesta del banco; avise al técnico si vuelve a ocurrir.
    .customer = TERMINAL REINICIADO
    .technician = El agente se ha reiniciado antes de registrar la respuesta de la pasarela{ $detail }; su log anterior al reinicio muestra el motivo.
restarted-before-card =
    .cashier = El terminal se ha reiniciado antes de que la tarjeta confirmara el pago; avise al técnico si vuelve a ocurrir.
    .customer = TERMINAL REINICIADO
    .technician = El agente se ha reiniciado antes de que el chip confirmara la aprobación{ $detail }; su log anterior al reinicio muestra el motivo.
signature-refused =
    .cashier = La firma se ha rechazado en caja; pida otra tarjeta.
    .customer = FIRMA NO ACEPTADA
    .technician = La firma se ha rechazado en caja{ $detail }; no hay que hacer nada.
signature-not-checked =
    .cashier = La firma no se ha comparado a tiempo; la próxima vez, acéptela o rechácela inmediatamente.
    .customer = FIRMA NO COMPARADA
    .technician = La firma no se ha comparado en el plazo signature-timeout-s de [terminal]{ $detail }; aumente el valor si la comparación requiere más tiempo.
not-taken =
    .cashier = La caja no ha aceptado el pago; inicie uno nuevo si aún se desea.
    .customer = NO ACEPTADA POR EL COMERCIO
    .technician = La caja no ha aceptado el pago aprobado{ $detail }; su log muestra el motivo.
till-silent =
    .cashier = La caja no ha confirmado el pago a tiempo; compruebe la caja y empiece de nuevo.
    .customer = NO CONFIRMADA POR EL COMERCIO
    .technician = La caja no ha indicado en el plazo till-confirm-s de [terminal] si acepta el pago{ $detail }; compruebe la caja y su conexión, o aumente el valor.
taken-back-by-person =
    .cashier = El pago se ha revertido a mano, porque el diario del terminal era una copia antigua.
    .customer = REVERTIDA POR EL COMERCIO
    .technician = Se ha revertido con pos-agent settle --reverse{ $detail }; el diario era una copia antigua.
not-sent-in-copy =
    .cashier = El diario del terminal es una copia antigua, hecha antes de que esto se enviara; consulte al técnico.
    .customer = TERMINAL RESTAURADO
    .technician = La copia antigua del diario se hizo antes de que esto se enviara{ $detail }; arranque desde una copia solo si no hay otro remedio.
open-in-copy =
    .cashier = El diario del terminal es una copia antigua, hecha antes de que esto se confirmara; consulte al técnico.
    .customer = TERMINAL RESTAURADO
    .technician = La copia antigua del diario se hizo antes de que esto se confirmara{ $detail }; consúltelo en la pasarela, porque el terminal no lo vuelve a enviar.
signature-in-copy =
    .cashier = El diario del terminal es una copia antigua, hecha antes de comparar la firma; consulte al técnico.
    .customer = TERMINAL RESTAURADO
    .technician = La copia antigua del diario se hizo mientras se comparaba la firma{ $detail }; arranque desde una copia solo si no hay otro remedio.
till-in-copy =
    .cashier = El diario del terminal es una copia antigua, hecha antes de que la caja confirmara; consulte al técnico.
    .customer = TERMINAL RESTAURADO
    .technician = La copia antigua del diario se hizo mientras se esperaba la confirmación de la caja{ $detail }; arranque desde una copia solo si no hay otro remedio.

## Reasons: the outcome is not confirmed yet

gateway-cannot-be-asked =
    .cashier = No se puede consultar al banco; compruebe la red. El terminal vuelve a consultarlo automáticamente.
    .customer = SIN CONEXIÓN
    .technician = No se puede consultar el resultado a la pasarela{ $detail }; compruebe la red y ejecute pos-agent doctor.
till-not-heard =
    .cashier = La caja aún no lo ha confirmado; espere a la caja.
    .customer = EL COMERCIO AÚN NO HA CONFIRMADO
    .technician = La caja aún no ha indicado si acepta el pago{ $detail }; tiene para ello till-confirm-s de [terminal].
not-decided-yet =
    .cashier = El banco aún no ha decidido; el terminal vuelve a consultarlo automáticamente.
    .customer = EL BANCO AÚN NO HA DECIDIDO
    .technician = La pasarela aún no ha decidido{ $detail }; el agente vuelve a consultarla.
not-listed-yet =
    .cashier = La operación aún no consta en el banco; el terminal vuelve a consultarlo automáticamente.
    .customer = AÚN NO CONSTA EN EL BANCO
    .technician = La operación aún no consta en la pasarela{ $detail }; el agente vuelve a consultarla, durante absence-final-after-h de [gateway.assumptions].
reversal-not-listed =
    .cashier = La reversión aún no consta en el banco; el terminal vuelve a consultarlo automáticamente.
    .customer = SE ESTÁ REVIRTIENDO
    .technician = La reversión aún no consta en la pasarela{ $detail }; el agente vuelve a consultarla, y la reenvía tras resend-after-s de [gateway].
reversal-on-its-way =
    .cashier = Se está revirtiendo; el terminal vuelve a consultar al banco automáticamente.
    .customer = SE ESTÁ REVIRTIENDO
    .technician = Una reversión anterior aún puede realizarse{ $detail }; el agente lo consulta.
reversal-not-answered =
    .cashier = Aún no se ha podido revertir; el terminal vuelve a intentarlo automáticamente.
    .customer = SE ESTÁ REVIRTIENDO
    .technician = Una reversión no se ha podido enviar o no tiene respuesta{ $detail }; el agente la consulta y vuelve a intentarlo.
reversal-held-back =
    .cashier = Puede que ya se haya revertido o devuelto; el terminal lo comprueba antes.
    .customer = SE ESTÁ REVIRTIENDO
    .technician = La reversión espera hasta saber si el pago se ha revertido o devuelto de otra forma{ $detail }; el agente lo consulta.
earlier-try-open =
    .cashier = Una petición anterior aún puede realizarse; el terminal vuelve a consultar al banco automáticamente.
    .customer = EN COMPROBACIÓN
    .technician = Se ha denegado una petición, pero una anterior aún puede realizarse{ $detail }; el agente lo consulta.
stray-answer =
    .cashier = Ha llegado una respuesta de otra petición; el terminal vuelve a consultar al banco automáticamente.
    .customer = EN COMPROBACIÓN
    .technician = Ha llegado una respuesta de otra petición{ $detail }; si vuelve a ocurrir, consulte al proveedor de la pasarela.

## Reasons: a person must resolve it

reversal-refused =
    .cashier = El banco no acepta la reversión; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela no acepta la reversión{ $detail }; pida a su proveedor que revierta el pago.
another-amount-done =
    .cashier = El banco ha procesado otro importe; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela ha revertido o procesado un importe distinto del solicitado{ $detail }; resuelva el resto con su proveedor.
reversed-in-part =
    .cashier = Solo se ha revertido una parte{ $detail }; el técnico lo resuelve con el banco.
    .customer = SOLO SE HA REVERTIDO UNA PARTE{ $detail }
    .technician = La pasarela solo ha revertido una parte del importe solicitado{ $detail }; resuelva el resto con su proveedor.
another-kind-listed =
    .cashier = En el banco consta otro tipo de operación con esta referencia; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = En la pasarela consta como otro tipo de operación{ $detail }; pregunte a su proveedor de qué se trata.
list-contradicts =
    .cashier = Las respuestas del banco se contradicen; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = Las listas y las respuestas de la pasarela se contradicen{ $detail }; pregunte a su proveedor cuál es correcta.
not-listed-any-more =
    .cashier = El banco aprobó la operación, pero ya no le consta; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela aprobó la operación, pero ya no le consta{ $detail }; pregunte el resultado a su proveedor.
whose-is-not-said =
    .cashier = El banco no indica a qué pago pertenece la operación; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela no indica de quién es la operación o a qué pago pertenece{ $detail }; consulte a su proveedor.
rest-not-given-back =
    .cashier = La parte que la caja no aceptó no se ha devuelto{ $detail }; devuélvala con una nueva referencia.
    .customer = DEVOLUCIÓN NO REALIZADA
    .technician = La devolución de la parte que la caja no aceptó se ha denegado o no ha sido posible{ $detail }; devuelva el resto con pos-agent refund.
rest-given-back-in-part =
    .cashier = La caja solo aceptó una parte, y el resto se ha devuelto solo en parte{ $detail }; devuelva el importe que falta con una nueva referencia.
    .customer = SOLO SE HA DEVUELTO UNA PARTE{ $detail }
    .technician = La parte que la caja no aceptó se ha devuelto solo en parte{ $detail }; devuelva el importe que falta con pos-agent refund.
done-twice =
    .cashier = El banco ha realizado la operación dos veces; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela ha realizado la operación dos veces{ $detail }; pida a su proveedor que revierta una de las dos.
second-payment =
    .cashier = El banco tiene un segundo pago; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = La pasarela tiene un segundo pago además del que se mantiene{ $detail }; anúlelo con su id. de pago.
old-copy =
    .cashier = El diario del terminal es una copia antigua sin el resultado; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = El diario es una copia antigua sin el resultado{ $detail }. Compruebe en la pasarela o en los recibos si la operación se pagó y ejecute pos-agent settle NUMBER --keep o --reverse.
given-back-by-id =
    .cashier = Puede que ya se haya revertido o devuelto; el técnico lo resuelve con el banco.
    .customer = EN COMPROBACIÓN
    .technician = Puede que el pago ya se haya revertido o devuelto por su id. de pago{ $detail }; búsquelo en la pasarela y resuelva el resto.
not-settled-here =
    .cashier = Se inició con otros ajustes de este terminal y espera a que vuelvan; avise al técnico.
    .customer = EN COMPROBACIÓN
    .technician = Este terminal no puede resolverla con sus ajustes actuales{ $detail }; el agente no envía nada y continúa automáticamente cuando vuelvan los ajustes anteriores.

## Records of earlier versions: these have a sentence; this message is for records without one

recorded =
    .cashier = No consta el motivo; consulte al técnico.
    .customer = CONSULTE EN CAJA
    .technician = Una versión anterior no registró el motivo; consulte su log.
