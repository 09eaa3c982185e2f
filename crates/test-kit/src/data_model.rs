//! The data model, copied by hand from the interface document, chapter by chapter, in the document's order. It is not
//! derived from the table in `crates/gateway-model/src/table`; it checks that table. If such a test fails, read the
//! document first.
//!
//! A heading has the form `# group direction call number-of-fields`. A line has a name, a requirement (R, C, O) and a
//! format. The formats are:
//!
//! | | |
//! |---|---|
//! | `an:8-255` | free text with this many characters |
//! | `n:1-32` `ld:` `w:` `a:` `up:` `hex:` | digits; letters and digits; letters, digits and underscores; letters; capitals; lower-case hex |
//! | `amount:10` | at most this many digits, then a dot and two decimals |
//! | `v:A\|B` | one of these values |
//! | `x:good;good!bad;bad` | good and bad examples; `~` is a space, and `%` is an empty value |

pub const DOCUMENT: &str = r"
# resource response checkout 1
id R x:0123456789ABCDEF0123456789ABCDEF;8ac7a4a1.8c25-0123456789abcdef.uat01-vm-tx01!short;0123456789ABCDEF0123456789ABCDE_;0123456789ABCDEF0123456789ABCDEF01234567890123456
# resource response payment 2
id R x:8ac7a4a17e0b1c3a017e0b1c3a017e0b!8ac7a4a17e0b1c3a017e0b1c3a017e0;8ac7a4a17e0b1c3a017e0b1c3a017e0bb;8ac7a4a17e0b1c3a-17e0b1c3a017e0b
registrationId C ld:32-32
# resource response registration 1
id R ld:32-32

# payment request payment 24
amount R amount:10
taxAmount C amount:10
discountAmount O amount:10
currency R up:3-3
paymentBrand C w:1-32
paymentType R x:DB;PA;RV!D;DBX;3D;%
integrity O v:true|false
descriptor O an:1-127
merchantTransactionId C an:8-255
merchantInvoiceId O an:8-255
merchantMemo O an:8-255
transactionCategory O ld:1-32
sequence O an:1-2048
numberOfCaptures O x:1;98!0;99;100;1.5
promotionCode O ld:1-15
locale O an:1-10
transactionPurposeCode O an:1-12
integrationType O an:1-10
transactionBai O an:1-2
transactionTti O an:1-3
transactionProcessingCode O v:PURCHASE|FUNDING|PAYMENT
lifecycleId O an:1-35
referenceUuid O an:1-32
testMode O v:EXTERNAL|INTERNAL
# payment request checkout 1
overridePaymentType[brand] O x:DB!D;DBX

# forex request payment 2
forex.amount C amount:10
forex.currency C up:3-3

# authentication request any 2
entityId C hex:32-32
Authorization R x:Bearer~abc123!abc123;Bearer;Basic~abc123

# card request payment 6
card.holder O x:Jane~Jones;Zoë~O'Neil!Jo;Jane~2
card.number R n:8-32
card.expiryMonth R x:01;12!00;13;1;001
card.expiryYear R x:1999;2030!1899;2130;30;20301
card.cvv C n:3-4
card.numberType O v:PAN|DPAN

# wallet request payment 8
<wallet_a>.paymentToken R x:token!%
<wallet_a>.cardNetwork O x:network!%
<wallet_a>.cardType O x:type!%
<wallet_a>.source R v:web|app
<wallet_b>.paymentToken R x:token!%
<wallet_b>.source R v:web|app
<wallet_c>.paymentToken R x:token!%
<wallet_c>.source R v:web|app

# virtual-account request payment 1
virtualAccount.accountId R an:1-100

# bank-account request payment 10
bankAccount.holder R an:4-128
bankAccount.bankName C an:1-255
bankAccount.number C ld:3-64
bankAccount.iban C x:NO9386011117947;DE89370400440532013000;MT84MALT011000012345MTLCAST001S!NO938601111794;MT84MALT011000012345MTLCAST001S9;D189370400440532013000;DEX9370400440532013000;DE89-37040044053201
bankAccount.bankCode C ld:1-12
bankAccount.bic C x:DEUTDEFF;DEUTDEFF500!DEUTDEF;DEUTDEFF5;DEUTDEFF5000;DEUTDE-F
bankAccount.country C x:DE;de!D;DEU;D1
bankAccount.mandate.id C x:mandate-a!mandate1;a_b
bankAccount.mandate.dateOfSignature C x:2026-02-28!2026-02-29;26-02-28
transactionDueDate C x:2026-12-31!2026-12-32

# token-account request payment 6
tokenAccount.number R n:12-19
tokenAccount.type R v:EXTERNAL|NETWORK
tokenAccount.expiryMonth O x:01;12!00;13
tokenAccount.expiryYear O x:2030!2130
tokenAccount.cryptogram C x:AAAAAAAAAAAAAAAAAAAAAAAAAAA=;ABCDEFGHIJKLMNOPQRSTUVWXYZ+/0123!AAAAAAAAAAAAAAAAAAAAAAA=;AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA;AAAAAAAAAAAAAAAAAAAAAAAAAAA_
tokenAccount.dtvc C n:3-4

# customer request payment 32
customer.merchantCustomerId O an:1-255
customer.givenName C an:1-50
customer.middleName O an:2-50
customer.surname C an:1-50
customer.sex O v:M|F
customer.birthDate O x:1980-01-31;2000-02-29!1880-01-31;2100-01-01;1980-1-31;1980-13-01;1980/01/31;2001-02-29
customer.phone O x:+49~(89)~1234-5/6.7;0891234567!x891234567;+49:89;++49;+4989123456789012345678901
customer.mobile O x:+491701234567!mobile
customer.workPhone O an:1-25
customer.email O an:6-128
customer.companyName O an:1-60
customer.identificationDocType C v:IDCARD|PASSPORT|TAXSTATEMENT
customer.identificationDocId C an:8-64
customer.ip O an:1-255
customer.merchantReference O an:1-255
customer.salutation O v:MR|MRS|MS|MX
customer.language O up:2-2
customer.category O v:INDIVIDUAL|COMPANY
customer.browserFingerprint.id O an:1-255
customer.browserFingerprint.value O an:1-4096
customer.browser.acceptHeader C an:1-2048
customer.browser.language C an:1-8
customer.browser.screenHeight C an:1-6
customer.browser.screenWidth C an:1-6
customer.browser.timezone C an:1-5
customer.browser.userAgent C an:1-2048
customer.browser.javaEnabled C v:true|false
customer.browser.screenColorDepth O n:1-2
customer.browser.challengeWindow O n:1-1
customer.browser.deviceId O an:1-32
customer.app.deviceId O an:1-40
customer.status O v:NEW|EXISTING

# billing request payment 10
billing.street1 C an:1-100
billing.street2 C an:1-100
billing.houseNumber1 O an:1-100
billing.houseNumber2 O an:1-100
billing.city C an:1-80
billing.state C x:CA;N.Y.;Bayern!North-Carolina;%
billing.postcode C ld:1-16
billing.country C up:2-2
billing.normalized O an:1-255
billing.validationStatus O an:1-255

# merchant-billing request payment 8
merchant.billing.givenName O x:Jane!%
merchant.billing.surname O x:Jones!%
merchant.billing.middleName O x:Q!%
merchant.billing.companyName O an:1-60
merchant.billing.phone O an:1-25
merchant.billing.workPhone O an:1-25
merchant.billing.mobile O x:+12345;+4989123456789012345678901;0~(89)~12/34-5.6!+1234;x12345;+49891234567890123456789012
merchant.billing.email O an:6-128

# shipping request payment 26
shipping.street1 C an:1-100
shipping.street2 C an:1-100
shipping.houseNumber1 O an:1-100
shipping.houseNumber2 O an:1-100
shipping.city C x:New~York;München!Town5;%
shipping.state C x:CA;N.Y.!N_Y
shipping.postcode C ld:1-16
shipping.country C a:2-2
shipping.method C v:CARRIER_DESIGNATED_BY_CUSTOMER|ELECTRONIC_DELIVERY|EXPEDITED|GROUND|INTERNATIONAL|LOWEST_COST|MILITARY|NEXT_DAY_OVERNIGHT|OTHER|POINT_PICKUP|PUDO|SAME_DAY_SERVICE|STORE_PICKUP|THREE_DAY_SERVICE|TWO_DAY_SERVICE
shipping.cost C amount:10
shipping.comment C an:1-160
shipping.expectedDate O x:2026-12-24!24.12.2026
shipping.logisticsProvider O an:1-255
shipping.trackingNumber O an:1-255
shipping.returnTrackingNumber O an:1-255
shipping.normalized O an:1-255
shipping.validationStatus O an:1-255
shipping.warehouse O an:1-100
shipping.preference O v:GET_FROM_FILE|NO_SHIPPING|SET_PROVIDED_ADDRESS
shipping.middleName O x:Q!%
shipping.companyName O an:1-60
shipping.phone O x:+49~89~123!phone
shipping.workPhone O an:1-25
shipping.mobile O x:+49~170~123!mobile
shipping.email O an:6-128
shipping.type O v:RETURN|SHIPMENT

# corporate request payment 13
corporate.name O an:1-30
corporate.description O an:1-160
corporate.street O an:1-100
corporate.address O an:1-100
corporate.city O an:1-80
corporate.state O an:1-50
corporate.postCode O an:1-16
corporate.suite O an:1-30
corporate.postboxNumber O an:1-15
corporate.purchase O v:Y|N
corporate.phone O n:1-25
corporate.fax O n:1-25
corporate.vatId O an:1-255

# sender request payment 17
sender.name O x:Jane~Jones~2!Jane-Jones;%
sender.givenName O x:Jane!Jane.
sender.middleName O x:Q!Q.
sender.surname O x:Jones!O'Neil
sender.birthDate O x:1980-01-31!1980-02-31;80-01-31
sender.accountNumber O an:1-32
sender.street O an:1-100
sender.city O x:New~York~1!New-York
sender.state O x:Bavaria!Ba.
sender.country O an:1-3
sender.postcode O an:1-30
sender.accountNumberType O v:OTHER|RTN_AND_BANK_ACCOUNT|IBAN|IBAN_AND_BIC|CARD_ACCOUNT
sender.sourceOfFunds O x:01;09!00;10;1
sender.entityType O an:1-50
sender.nationality O x:South~African!German1
sender.occupation O an:1-50
sender.birthCountry O a:1-3

# recipient request payment 19
recipient.givenName O x:Jane!Jane.
recipient.middleName O x:Q!Q.
recipient.surname O x:Jones!O'Neil
recipient.birthDate O x:1980-01-31!1980-02-31
recipient.phone O x:+1234567;+49~891234567;+4989123456789012345678901!+123456;1-x;+49891234567890123456789012
recipient.accountNumber O an:1-32
recipient.street O an:1-100
recipient.city O an:1-50
recipient.state O an:1-50
recipient.country O an:1-3
recipient.postcode O an:1-30
recipient.accountNumberType O v:OTHER|RTN_AND_BANK_ACCOUNT|IBAN|PHONE_NUMBER|BAN_AND_BIC|WALLET_ID|SOCIAL_NETWORK_ID
recipient.nationality O x:South~African!German1
recipient.identificationType O an:1-50
recipient.identificationValue O an:1-50
recipient.entityType O an:1-50
recipient.relationship O an:1-50
recipient.occupation O an:1-50
recipient.birthCountry O a:1-3

# merchant request payment 30
merchant.name O an:1-100
merchant.mcc O ld:1-4
merchant.street O an:1-100
merchant.city O an:1-100
merchant.state O an:1-50
merchant.countryCode O n:1-3
merchant.country O a:2-2
merchant.postcode O x:12345-678;AB1!A_B;AB1~2CD;12345678901234567
merchant.geographicCoordinates O x:48.1,11.5;-33.8688,+151.2093;-90,180;48.135100,11.582000!48.1;48.1,;,11.5;48.1;91,0;0,181;48.1,11.5,1;a,b;48.1~11.5;48.135100000,11.5820000
merchant.serviceLocationCity O an:1-100
merchant.serviceLocationState O an:1-50
merchant.serviceLocationCountryCode O an:1-3
merchant.serviceLocationPostCode O an:1-16
merchant.serviceLocationGeographicCoordinates O x:48.1,11.5;-33.8688,+151.2093;-90,180;48.135100,11.582000!48.1;48.1,;,11.5;48.1;91,0;0,181;48.1,11.5,1;a,b;48.1~11.5;48.135100000,11.5820000
merchant.additionalContact O an:1-255
merchant.phone O an:1-25
merchant.customerContactPhone O an:1-25
merchant.websiteId O an:1-255
merchant.url O an:1-255
merchant.partnerIdCode O an:1-60
merchant.isoId O an:1-255
merchant.payFacId O an:1-255
merchant.payFacName O an:1-255
merchant.submerchantId O an:1-100
merchant.marketplaceId O an:1-255
merchant.taxId O an:1-60
merchant.data[key] O any:2048
merchant.foreignRetailIndicator O an:1-25
merchant.legalName O an:1-100
merchant.app.schemeUrl O an:1-255

# cart request payment 45
cart.items[n].name C an:1-255
cart.items[n].merchantItemId C an:1-255
cart.items[n].quantity C x:1;123456789012;1.5;1.125!1234567890123;1.1255;.5;-1;1,5
cart.items[n].type C v:PHYSICAL|DIGITAL|MIXED|ANONYMOUS_DONATION|AUTHORITIES_PAYMENT
cart.items[n].sku O an:1-255
cart.items[n].currency C x:EUR!EU;EURO;E1R
cart.items[n].description C an:1-2048
cart.items[n].commodityCode O n:1-8
cart.items[n].commodityDescription O an:1-50
cart.items[n].originalPrice O an:1-255
cart.items[n].price C amount:10
cart.items[n].totalAmount C amount:10
cart.items[n].taxAmount C amount:10
cart.items[n].totalTaxAmount C amount:10
cart.items[n].tax C x:0;19;7.7;100;100.00;99.99!100.01;101;-1;1.234;%
cart.items[n].taxCategory C v:AA|S|E|Z
cart.items[n].shipping C amount:10
cart.items[n].discount C amount:10
cart.items[n].giftMessage O an:1-255
cart.items[n].shippingMethod O an:1-255
cart.items[n].shippingInstructions O an:1-255
cart.items[n].shippingTrackingNumber O an:1-255
cart.items[n].quantityUnit O v:M|CM|KG|G|COUNT
cart.items[n].productUrl O x:https://shop.example/1!shop;https://;https://shop.example/a~b
cart.items[n].imageUrl O x:https://shop.example/1.png!1.png
cart.items[n].totalDiscountAmount O amount:10
cart.items[n].productCode O an:1-30
cart.items[n].partNumber O an:1-30
cart.items[n].itemNumber O x:1;999!0;1000
cart.items[n].vatReferenceNumber O an:1-30
cart.items[n].sellerId O an:1-255
cart.items[n].recipient.salutation O an:1-5
cart.items[n].recipient.firstName O an:1-48
cart.items[n].recipient.middleName O an:1-50
cart.items[n].recipient.lastName O an:1-48
cart.items[n].recipient.apartment O an:1-100
cart.items[n].recipient.street O an:1-100
cart.items[n].recipient.address O an:1-100
cart.items[n].recipient.city O an:1-80
cart.items[n].recipient.state O an:1-50
cart.items[n].recipient.postcode O an:1-16
cart.items[n].recipient.country O x:DE;276!D;DEU;27;2766
cart.items[n].recipient.phone O n:1-25
cart.items[n].recipient.email O an:1-128
cart.items[n].deliveryDate O x:2026-12-24!2026-24-12

# cart-payments request payment 7
cart.payments[n].name O an:1-255
cart.payments[n].type O v:GIFTCARD|PROMOTION
cart.payments[n].amount O amount:10
cart.payments[n].currency O x:EUR!EU;E2R
cart.payments[n].status O v:pending|authorized|captured
cart.payments[n].brand O an:1-255
cart.payments[n].primary O v:true|false

# marketplace request payment 2
marketPlace.sellers[n].id O an:1-255
marketPlace.sellers[n].amount O amount:10

# airline request payment 46
airline.totalTaxAmount C amount:10
airline.totalFeesAmount C amount:10
airline.totalFareAmount C amount:10
airline.ticketIssueDate C x:2026-01-02!2026-1-2
airline.ticketIssueAddress C an:1-255
airline.thirdPartyBooking C an:1-255
airline.bookingtype C an:1-255
airline.ticketDeliveryMethod C an:1-255
airline.bookingRefNum C an:1-255
airline.agentName C an:1-255
airline.agentCode C an:1-255
airline.passengers[n].type C an:1-255
airline.passengers[n].name C an:1-255
airline.passengers[n].ticketRestricted C an:1-255
airline.passengers[n].ticketNumber C an:1-255
airline.passengers[n].status C an:1-255
airline.passengers[n].phone C an:1-255
airline.passengers[n].frequentFlyerNumber C an:1-255
airline.passengers[n].email C an:1-255
airline.passengers[n].dob C an:1-255
airline.passengers[n].checkDigit C an:1-255
airline.passengers[n].residenceCountry C a:2-2
airline.passengers[n].legs[n].taxAmount C amount:10
airline.passengers[n].legs[n].feesAmount C amount:10
airline.passengers[n].legs[n].fareAmount C amount:10
airline.passengers[n].legs[n].departureTaxAmount C amount:10
airline.passengers[n].legs[n].departureDate C x:2026-01-02!2026-1-2
airline.passengers[n].legs[n].arrivalDate C x:2026-01-02!2026-1-2
airline.passengers[n].legs[n].timeToDeparture C an:1-10
airline.passengers[n].legs[n].ticketNumber C an:1-255
airline.passengers[n].legs[n].stopOverAllowed C an:1-255
airline.passengers[n].legs[n].restrictions C an:1-255
airline.passengers[n].legs[n].flightNumber C an:1-255
airline.passengers[n].legs[n].fareBasis C an:1-255
airline.passengers[n].legs[n].exchangeTicketNum C an:1-255
airline.passengers[n].legs[n].departureCountry C an:1-255
airline.passengers[n].legs[n].departureAirport C an:1-255
airline.passengers[n].legs[n].airlineName C an:1-255
airline.passengers[n].legs[n].airlineCode C an:1-255
airline.passengers[n].legs[n].departureTime C an:1-255
airline.passengers[n].legs[n].arrivalCountry C an:1-255
airline.passengers[n].legs[n].arrivalAirport C an:1-255
airline.passengers[n].legs[n].arrivalTime C an:1-255
airline.passengers[n].legs[n].couponNumber C an:1-255
airline.passengers[n].legs[n].classOfService C an:1-255
airline.passengers[n].legs[n].carrierCode C an:1-255

# registration request payment 2
createRegistration O v:true|false
overrideHolder O v:true|false

# registration response payment 1
registration.id C ld:32-32

# recurring-migration request registration 6
recurringMigration.paymentType R v:DB|CD|PA
recurringMigration.amount O x:1;12345678;12345678.90!123456789;1.5;1.
recurringMigration.requestTimestamp C x:2026-01-02~03:04:05!2026-01-02;2026-01-02T03:04:05
recurringMigration.connectorTxId1 C an:1-128
recurringMigration.connectorTxId2 C an:1-128
recurringMigration.connectorTxId3 C an:1-128

# three-d-secure request payment 25
threeDSecure.amount O amount:9
threeDSecure.currency O x:EUR!EU;EUR1
threeDSecure.deviceInfo C x:anything!%
threeDSecure.merchant.name O an:1-100
threeDSecure.merchant.url O an:1-2048
threeDSecure.merchant.country O a:3-3
threeDSecure.v2.<scheme>.requestorId O an:1-100
threeDSecure.v2.<scheme>.requestorName O an:1-100
threeDSecure.channel O x:1;99!0;100
threeDSecure.npa O v:true|false
threeDSecure.decoupled O v:true|false
threeDSecure.threeRIInd O v:RECURRING|SPLIT_SHIPMENT|DELAYED_SHIPMENT
threeDSecure.authenticationInd O v:PAYMENT|RECURRING|INSTALLMENT|ADD_CARD|MAINTAIN_CARD|EMV_ID|BILLING_AGREEMENT|SPLIT_SHIPMENT|_DELAYED_SHIPMENT|SPLIT_PAYMENT
threeDSecure.disable O v:true|false
threeDSecure.eci C x:01;08!00;09;1
threeDSecure.verificationId C an:28-28
threeDSecure.authenticationStatus C v:Y|A|U|N
threeDSecure.dsTransactionId O an:36-36
threeDSecure.acsTransactionId O an:36-36
threeDSecure.challengeMandatedIndicator O v:Y|N
threeDSecure.version O x:2.1.0;2.2.0;1.0.2!3.0.0;2.1;2.1.0.0;2.x.0;0.1.0
threeDSecure.authType O x:01;04!00;05;4
threeDSecure.transactionStatusReason O n:1-2
threeDSecure.challengeIndicator O x:01;09!00;10;1
threeDSecure.exemptionFlag O x:01;04!00;05;1

# custom request payment 4
customParameters[name] C any:2048
threeDSecure.schemeData[CB-ITEMSNB] C n:1-2
threeDSecure.schemeData[CB-SCORE_MERCHANT] C an:1-20
threeDSecure.schemeData[CB-USECASE] C n:1-2

# asynchronous request payment 2
shopperResultUrl C x:https://a;https://shop.example/result?a=b%26c;app.shop://result!a://b;/result;result;https://shop.example/a~b;https://shop.example/ä
notificationUrl O x:https://shop.example/n!a://b;https://shop.example/a~b
# asynchronous response payment 3
redirect.url C an:1-2048
redirect.parameters[n].name C an:1-255
redirect.parameters[n].value C an:1-255

# webhook response webhook 6
type R v:PAYMENT|REGISTRATION
action C v:CREATED|UPDATED|DELETED
payload R x:{};{'id':1}!{;%
presentationAmount C amount:10
presentationCurrency C a:3-3
referencedId C ld:32-32

# pos request payment 16
pos.deviceId O n:1-32
pos.deviceType O an:1-32
pos.encryptedPin.data O ld:1-2048
pos.encryptedPin.ksn O ld:1-2048
pos.encryptedSred.data O ld:1-2048
pos.encryptedSred.ksn O ld:1-2048
pos.entryMode R v:MANUAL|MAGSTRIPE|MAGSTRIPE_AS_FALLBACK|ICC|NFC_ICC|NFC_MAGSTRIPE
pos.iccDataRequest O ld:1-2048
pos.location.accuracy O n:1-32
pos.location.latitude O x:52.5;-1.12345678;+52.5!152.5;52;52.;--1.5;1.123456789
pos.location.longitude O x:-179.5;179.12345678!1179.5;1.123456789;179
pos.panSequenceNumber O n:1-32
pos.pinEntryCapability O v:PIN_ENTRY_AVAILABLE|PIN_ENTRY_UNAVAILABLE
pos.terminalId R n:1-32
pos.transactionSequenceNumber O n:1-32
pos.transactionSource O v:POS
# pos response payment 7
pos.clearing.authorizationAcquirerCode O ld:1-2048
pos.clearing.authorizationIssuerCode O ld:1-2048
pos.clearing.identifier O ld:1-2048
pos.merchantId O ld:1-2048
pos.iccDataResponse O ld:1-2048
pos.statusText O ld:1-2048
pos.timestamp O x:2026-01-02~03:04:05!2026-01-02~24:00:00;2026-01-02~03:60:00;2026-01-02~3:04:05

# report request report 4
date.from R x:2026-01-02!2126-01-02;2026-01-32
date.to R x:2026-01-02!2126-01-02
sortValue O v:SettlementTxDate
sortOrder O v:ASC|DESC|asc|desc

# gift-card request payment 5
giftCard.number O an:2-255
giftCard.pin O an:2-255
giftCard.holder O an:2-255
giftCard.message O an:2-160
giftCard.type O v:ANNIVERSARY|BIRTHDAY|CONGRATULATIONS|APRIL_FOOLS_DAY|EASTER|FATHERS_DAY|GRADUATION|HOLIDAY|SEASONS_GREETINGS|PASSOVER|KWANZAA|HALLOWEEN|MOTHERS_DAY|NEW_YEARS_DAY|BOSSES_DAY|ST_PATRICKS_DAY|SWEETEST_DAY|CHRISTMAS|BABY_SHOWER|THANKSGIVING|OTHER|VALENTINES_DAY|WEDDING|SECRETARYS_DAY|CHINESE_NEW_YEAR|HANUKKAH|CELEBRATE_FALL|GRANDPARENTS_DAY|INDEPENDENCE_DAY

# risk request payment 8
risk.channelId O an:1-255
risk.serviceId O an:1-255
risk.amount O amount:10
risk.orderTimestamp O x:2026-01-02~03:04:05!2026-01-02
risk.brand O an:1-255
risk.parameters[name] O any:2048
risk.merchantWebsite O an:1-60
risk.accountToken O an:1-64

# job request schedule 16
job.name O an:1-64
job.year O x:%;*;1970;2099;2026-2030;2026,2028;*/2;2026/3!1969;2100;26;L;?
job.month O x:1;12;*;1-6;1,6;*/3;2-12/5!0;13;JAN;6-1;?;1,;/3;*/0;*/13
job.dayOfMonth O x:1;31;*;?;L;LW;L-3;15W;1-15;1,15;*/5;L,1;1,15W;L-3,LW,20-25!0;32;W;L15;1#2;32W;1-;~;L,32;?,1;L,;,L;15W,LL
job.dayOfWeek O x:1;7;SUN;SAT;MON-FRI;MON,WED;?;*;L;6L;FRIL;6#3;FRI#1;2/2;MON#1,FRI#3;6L,2;MON-WED,FRIL,L!0;8;MON#1,?;MON#6,FRI;6L,;15W,L;SUNDAY;sun;6#6;6#0;#1;LW;15W
job.hour O x:0;23;*;8-18;8,12;*/6!24;-1;?;L
job.minute O x:0;59;05!60;-1;*;*/5;1-2;%
job.second O x:0;59;*;*/10;0,30!60;?
job.startDate O x:2026-01-02~03:04:05!2026-01-02
job.endDate O x:2026-01-02~03:04:05!2026-01-02
job.noticeUnit O v:YEAR|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND
job.noticeNumber O n:1-16
job.noticeCallable O v:ANYTIME|DURATION_END
job.durationUnit O v:YEAR|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND
job.durationNumber O n:1-16
job.expression O x:0~0~0~1~*~?~*;0~0~12~?~*~MON-FRI;0~*/15~8-18~L~1~?~2026-2030;0~0~12~15W,L~*~?;0~0~12~?~*~MON#1,FRIL!0~0~0~1~*;0~0~0~1~*~?~*~*;60~0~0~1~*~?;0~0~0~?~0~1;%

# response response payment 28
paymentType C x:DB!DBX;D1
paymentBrand C w:1-32
amount C amount:10
currency C a:3-3
descriptor C an:1-127
result.code R x:000.100.110;00!0;000.100.1100;000-100-110
result.description O an:1-255
result.avsResponse C v:A|Z|N|U|F
result.cvvResponse C a:1-1
resultDetails O x:{'AcquirerResponse':'00'};{}!{'ab':'00'};[];00
resultDetails.AcquirerResponse C any:2048
resultDetails.MerchantAdviceCode O n:1-2
card.bin O n:6-6
card.last4Digits O an:4-4
card.holder O x:Jane~Jones!%
card.expiryMonth O n:2-2
card.expiryYear O n:4-4
card.issuer.bank O an:1-2048
card.issuer.phone O an:1-2048
card.issuer.website O an:1-2048
card.type O an:1-2048
card.level O x:GOLD!%
card.regulatedFlag O v:true|false
risk.score C x:0;-99999;+99999;99999!100000;-100000;1.5;--1;%
buildNumber R an:1-255
timestamp R x:2026-01-02~03:04:05+0000;2026-01-02~03:04:05-05:30!2026-01-02~03:04:05;2026-01-02~03:04:05+00;2026-01-02~03:04:05Z
ndc R x:8a8294174b7ecb28014b9699220015ca-4711!8a82_4711;%
brandResult O a:1-16
# merchant-bank-account response payment 4
merchant.bankAccount.holder R an:4-128
merchant.bankAccount.number C an:1-64
merchant.bankAccount.bic C x:DEUTDEFF!DEUTDEF
merchant.bankAccount.country C a:2-2

# reconciliation response reconciliation 40
recordType R x:SETTLED;CHARGEBACK;CHARGEBACK~REVERSAL;FEE!CHARGEBACK_REVERSAL;settled
transactionType R v:DEBIT|CREDIT|REFUND|BATCH|MONTHLY|SUBMERCHANT|PAYMENT_FACILITATOR|AUTH_FEE|CAPTURE_FEE|CANCEL_FEE|REFUND_FEE
settlement.cashflow R v:POS|NEG
clearingInstitute.merchantId R an:5-64
merchantAccount.id R ld:32-32
merchantAccount.name O an:1-32
pspEntityId R ld:32-32
divisionEntityId O ld:32-32
merchantEntityId R ld:32-32
settlement.id O an:1-64
payment.id O ld:32-32
ShortId O an:1-14
clearingInstitute.txId1 O an:1-64
clearingInstitute.txId2 O an:1-64
clearingInstitute.txId3 O an:1-64
merchantTransactionId R an:8-255
merchantInvoiceId O an:8-255
amount R amount:10
currency R a:3-3
paymentBrand O a:1-16
presentmentDate O x:2026-01-02~03:04:05!%
settlement.amount R amount:10
settlement.currency R a:3-3
settlement.fee O amount:10
settlement.fxRate R amount:10
settlement.date R x:2026-01-02!%
settlement.status R v:SUCCESS|FAILED
descriptor O an:1-128
card.last4Digits O an:1-4
bankAccount.last4Digits O an:1-4
bankAccount.bankCode O an:1-12
card.holder O an:1-128
bankAccount.holder O an:1-128
result.code O x:000.100.200!0
result.description O an:1-128
settlement.format R an:1-32
clearingInstitute.name R an:1-64
matchedTransactions.status C v:MATCHED|MULTIPLE_MATCHES|NOT_MATCHED
matchedTransactions.payment[n].id C ld:32-32
chargebackTransaction.id C ld:32-32

# standing-instruction request payment 10
standingInstruction.type C v:UNSCHEDULED|INSTALLMENT|RECURRING
standingInstruction.recurringType C v:STANDING_ORDER|SUBSCRIPTION
standingInstruction.mode C v:INITIAL|REPEATED
standingInstruction.source C v:CIT|MIT
standingInstruction.initialTransactionId C x:MCC123456;123!%
standingInstruction.industryPractice C v:INCREMENTAL_AUTH|RESUBMISSION|REAUTHORIZATION|DELAYED_CHARGES|NO_SHOW
standingInstruction.expiry C x:2026-12-31!2026-13-01;261231
standingInstruction.frequency C n:1-4
standingInstruction.numberOfInstallments C n:1-3
standingInstruction.agreementId O an:1-35

# chargeback request payment 1
chargebackResultCode O x:000.100.200;000.100.299!000.100.300;000.100.2;000.100.2000;000.100.2a0

# query request query 8
merchantTransactionId O an:1-255
limit O x:100;500!99;501;1000;0100
date.from O x:2026-01-02~03:04:05!2026-01-02;2026-01-02~03:04
date.to O x:2026-01-02~03:04:05!2026-01-02
paymentTypes O x:CB,CD,CR,DB,CP,IV,PA,RB,RC,RF,RL,RV,AD,IN,FI,CL,CF,DR,RG,RR,TE,CT,DS,RS,SD,AC,MD,EA,RI,3D,SA,EN,ID,IC,DP,CG,TG,SF,IS,VD,DV,AF,GK,RD,TM,FT,KT,AR,AL,PL,FN,FZ,RE,RX,FO,CS,EX,SE,AU,TK,TF,ER;DB!db;DB,;DB,~RV;XX
paymentMethods O x:DD,CT,CC,WA,VA,UA,OT,DC,ET,NT,IV,PP,OD,RM;CC!cc;XX;CC,
includeLinkedTransactions O v:true|false
shortId O an:1-14
";

/// Structures that the document repeats with another prefix. Each row has the group, the original prefix, the new
/// prefix, the omitted names, and the number of fields. All fields are optional.
#[allow(clippy::type_complexity, reason = "a line of a table is as wide as the table")]
pub const REPEATED: &[(&str, &str, &str, &[&str], usize)] = &[
    (
        "shipping-customer",
        "customer.",
        "shipping.customer.",
        &[
            "customer.browserFingerprint.id",
            "customer.browserFingerprint.value",
            "customer.browser.deviceId",
            "customer.app.deviceId",
        ],
        28,
    ),
    ("merchant-billing", "billing.", "merchant.billing.", &[], 10),
    ("merchant-shipping", "shipping.", "merchant.shipping.", &[], 26),
];

/// The columns of the reconciliation file with their names in the interface, in the document's order.
pub const COLUMNS: &[(&str, &[&str])] = &[
    ("ReconciliationType", &["recordType"]),
    ("PaymentType", &["transactionType"]),
    ("Cashflow", &["settlement.cashflow"]),
    ("ClearingInstituteMerchantId", &["clearingInstitute.merchantId"]),
    ("MerchantAccountId", &["merchantAccount.id"]),
    ("MerchantAccountName", &["merchantAccount.name"]),
    ("PspId", &["pspEntityId"]),
    ("DivisionId", &["divisionEntityId"]),
    ("MerchantId", &["merchantEntityId"]),
    ("SettlementTxId", &["settlement.id"]),
    ("UniqueID", &["payment.id"]),
    ("ShortId", &["ShortId"]),
    ("ConnectorTxId1", &["clearingInstitute.txId1"]),
    ("ConnectorTxId2", &["clearingInstitute.txId2"]),
    ("ConnectorTxId3", &["clearingInstitute.txId3"]),
    ("TransactionId", &["merchantTransactionId"]),
    ("InvoiceId", &["merchantInvoiceId"]),
    ("Amount", &["amount"]),
    ("Currency", &["currency"]),
    ("Brand", &["paymentBrand"]),
    ("TxRequestTime", &["presentmentDate"]),
    ("SettlementAmount", &["settlement.amount"]),
    ("SettlementCurrency", &["settlement.currency"]),
    ("SettlementFee", &["settlement.fee"]),
    ("SettlementFxRate", &["settlement.fxRate"]),
    ("SettlementDate", &["settlement.date"]),
    ("SettlementStatus", &["settlement.status"]),
    ("Descriptor", &["descriptor"]),
    ("AccountNumberLast4", &["card.last4Digits", "bankAccount.last4Digits"]),
    ("BankCode", &["bankAccount.bankCode"]),
    ("AccountHolder", &["card.holder", "bankAccount.holder"]),
    ("ReasonCode", &["result.code"]),
    ("ReasonDesc", &["result.description"]),
    ("SettlementFileFormat", &["settlement.format"]),
    ("ClearingInsitituteName", &["clearingInstitute.name"]),
    ("MatchingStatus", &["matchedTransactions.status"]),
    ("MatchedTransactions", &["matchedTransactions.payment[n].id"]),
    ("ChargebackId", &["chargebackTransaction.id"]),
];
