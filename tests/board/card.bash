# shellcheck shell=bash disable=SC2034,SC2153
# The steps of tests/board/run with a card that packages/image has built. What a person does to the card goes through its
# boot partition: ssh's keys and the Wi-Fi.

# name | test
readonly STEPS="\
start        | the power fails three times in the first starts; then the board has a name, the whole card, a read-only root, no password
first-boot   | the page of the first boot in Chromium: the first sale in training, a real one that is reversed, a power cut in one, a sale
wifi         | a file on the boot partition sets the Wi-Fi and is removed; a wrong one is refused, and its reason is next to it
shop         | sales; without a page of the first boot, the configuration is written by hand
cuts         | the power fails in a sale, and at two random moments; the board starts, and the journal is whole
upgrades     | apt makes the root writable and read-only again; at night, security only, and not while a program holds a lock
first-boot-cuts | on another card, the power fails in each step of the page and of the writing; then a sale
books        | the gateway's whole ledger matches the sales of the steps"

# The step that all others need.
readonly FIRST=start

# In the guest: the gateway's name leads to this machine, through QEMU's user network.
readonly GATEWAY_IS_HERE="grep -q gateway.test /etc/hosts || echo '10.0.2.2 gateway.test' >>/etc/hosts; sync"

# Creates the key of ssh, and lays it on the boot partition of the card, which is in no board yet.
lays_keys() {
  tool ssh-keygen -q -t ed25519 -N '' -f "$RUN/key"
  lay "$RUN/key.pub" ssh-authorized-keys
}

# Copies a file to the boot partition: lay FILE NAME. The board is off.
lay() {
  tool mcopy -o -i "$RUN/card.img@@1M" "$1" "::$2"
}

# Prints a file of the boot partition, or fails.
on_boot() {
  tool mtype -i "$RUN/card.img@@1M" "::$1" 2>/dev/null
}

# The first start already runs. Its naming, growing and machine's number may be cut at any point.
step_start() {
  local cut said
  for cut in 1 2 3; do
    cut_at_random 25
  done
  until_true "$BOOT_PATIENCE" "the board comes up" board_is_up
  must "systemctl --no-legend --plain list-units --failed"
  [[ -z $SAID ]] || fail "these units have failed: $SAID"
  must "cat /etc/hostname; hostname; wc -c </etc/machine-id; findmnt --noheadings --output OPTIONS / | cut -d , -f 1"
  mapfile -t said <<<"$SAID"
  [[ ${said[0]} =~ ^pos-[a-z0-9]{4}$ && ${said[1]} == "${said[0]}" && ${said[2]} == 33 && ${said[3]} == ro ]] ||
    fail "name, machine and root: $SAID"
  tell
  NAME=$(head -n 1 <<<"$SAID")
  must "! touch /usr/written 2>/dev/null; touch /etc/written /var/written; rm /etc/written /var/written"
  # The card has 8 GiB, of which 3 GiB are the system's.
  must "df --output=size -B 1M /data | tail -n 1"
  ((SAID > 4500)) || fail "the data partition has only $SAID MiB"
  must "awk -F : '\$2 !~ /^[!*]/' /etc/shadow"
  [[ -z $SAID ]] || fail "these users have a password: $SAID"
  must "ss --tcp --listening --numeric --no-header || true; systemctl is-active systemd-timesyncd avahi-daemon NetworkManager"
  must "grep -c . /proc/swaps"
  [[ $SAID == 1 ]] || fail "there is swap: $SAID"
  must "systemctl show -P RuntimeWatchdogUSec; ls /dev/watchdog0; journalctl --list-boots --no-pager | wc -l; ls -d /var/log/journal/*"
  says 15s
  tell
  [[ -z $PACKAGE ]] || installs_the_package
}

# Installs another package than the image's, as a technician does: apt makes the root writable.
installs_the_package() {
  put "$PACKAGE" /var/tmp/pos-agent.deb 644
  must "apt-get install --yes --allow-downgrades /var/tmp/pos-agent.deb; rm /var/tmp/pos-agent.deb; sync
    dpkg-query --show pos-agent"
  tell
}

# Cuts the power of a starting board after at most so many seconds, and starts it again.
cut_at_random() {
  local after=$((RANDOM % $1 + 1))
  # Nothing is ever written here.
  read -r -t "$after" _ <>"$RUN/order.out" || true
  power_cut
  echo "   the power failed $after s after the start"
  power_on wait=no
}

# A shop's owner at the page of the first boot, in a real Chromium and without a shell. The program counts the acts.
step_first_boot() {
  must "$GATEWAY_IS_HERE"
  owner_sets_up straight
  # The page's owner has compared them with what the terminal says.
  in_ledger 0.01 "${BOOKED[0.01]}"
  in_ledger 14.01 "DB approved"
  printed 14.01 APPROVED
  keeps_no_secret
}

# The same on another card, with a power cut in each step of the page and of the writing.
step_first_boot_cuts() {
  power_off
  new_card
  lay "$RUN/key.pub" ssh-authorized-keys
  power_on
  must "cat /etc/hostname; $GATEWAY_IS_HERE"
  NAME=$(head -n 1 <<<"$SAID")
  [[ -z $PACKAGE ]] || installs_the_package
  # This card's terminal has another journal and the same keys of the reader.
  owner_sets_up cuts
  in_ledger 14.02 "DB approved"
  printed 14.02 APPROVED
  keeps_no_secret
}

# The token and the operator's PIN are in no log and in no archive of the doctor.
keeps_no_secret() {
  power_off
  power_on
  is_ready
  guest "systemctl is-active pos-front-first-boot.service" && fail "the first boot goes on beside a configuration"
  guest "pos-agent doctor --bundle /var/tmp/support.tar" || [[ $? == 75 ]] || fail "the archive: $SAID"
  must "token=\$(cat /etc/pos-agent/gateway-token)
    mkdir /var/tmp/support
    tar -xf /var/tmp/support.tar -C /var/tmp/support
    journalctl --no-pager >/var/tmp/support/all
    ! grep -rlF -e \"\$token\" -e 918273 /var/tmp/support
    rm -r /var/tmp/support /var/tmp/support.tar"
}

# Lets crates/front/tests/board.rs set the terminal up, and does for it what a person does beside the page: owner_sets_up
# straight|cuts. It asks by lines in RUN/page.ask, and each line in RUN/page.told is an answer.
owner_sets_up() {
  local words amount state asks tells owner seen=0 start
  rm -f "$RUN"/page.{ask,told}
  mkfifo "$RUN"/page.{ask,told}
  exec {asks}<>"$RUN/page.ask" {tells}<>"$RUN/page.told"
  (cd "$HERE/../.." && POS_BOARD=$RUN exec cargo test --quiet --test board -- "$1" "$FRONT_PORT") >"$RUN/owner" 2>&1 &
  owner=$!
  while kill -0 "$owner" 2>/dev/null; do
    IFS= read -r -t 1 -u "$asks" words || continue
    case $words in
      # The address and the code, as the console shows them.
      console)
        until_true "$BOOT_PATIENCE" "the console shows the code" code_on_console
        echo "https://$NAME.local:8443/ $CODE" >&"$tells"
        ;;
      cut)
        power_cut
        start=$EPOCHREALTIME
        power_on wait=no
        until_true "$BOOT_PATIENCE" "a page answers" page_answers
        echo "$(since "$start")" >&"$tells"
        ;;
      # The next card is for the next question of the reader.
      card)
        until_true "$PATIENCE" "the reader asks for a card" reader_asks "$seen"
        seen=$(wc -l <"$RUN/reader")
        hand reader tap tap
        echo tapped >&"$tells"
        ;;
      booked*)
        read -r _ amount state <<<"$words"
        in_ledger -t "$PATIENCE" "$amount" "$state"
        echo booked >&"$tells"
        ;;
      *) fail "the page's owner asks: $words" ;;
    esac
  done
  exec {asks}<&- {tells}<&-
  wait "$owner" || fail "at the page: $(tail -n 20 "$RUN/owner")"
  grep '^   ' "$RUN/owner"
}

# The front answers, that of the first boot or the terminal's own.
page_answers() {
  curl --silent --insecure --max-time 5 --output /dev/null "https://127.0.0.1:$FRONT_PORT/assets/counter.svg"
}

step_wifi() {
  power_off
  printf 'name=Caf\xc3\xa9; [1]\r\npassword=back\\slash and words\r\n' >"$RUN/wifi"
  lay "$RUN/wifi" pos-wifi.conf
  power_on
  must "ls /boot/firmware; stat -c %a /etc/NetworkManager/system-connections/pos-wifi.nmconnection"
  [[ $SAID != *pos-wifi.conf* && $SAID == *600 ]] || fail "the file stays, or the connection is open: $SAID"
  # NetworkManager has read what the file says.
  must "LC_ALL=C.UTF-8 nmcli --escape no --show-secrets --get-values 802-11-wireless.ssid,802-11-wireless-security.psk connection show pos-wifi"
  [[ $SAID == $'Caf\xc3\xa9; [1]\nback\\slash and words' ]] || fail "NetworkManager has: $SAID"
  guest "journalctl -b --no-pager | grep -F 'and words'" && fail "the log shows the password: $SAID"
  power_off
  echo 'name=Shop' >"$RUN/wifi"
  echo 'password=short' >>"$RUN/wifi"
  lay "$RUN/wifi" pos-wifi.conf
  power_on
  guest "systemctl is-failed pos-image-wifi" || fail "a wrong file is accepted"
  must "cat /boot/firmware/pos-wifi-error.txt"
  says "password= must have 8 to 63"
  must "mount -o remount,rw /boot/firmware; rm /boot/firmware/pos-wifi*; mount -o remount,ro /boot/firmware"
}

step_shop() {
  if guest "test ! -e /etc/pos-agent/config.toml"; then
    put "$RUN/hand/config.toml" /etc/pos-agent/config.toml 644
    put "$RUN/hand/gateway-ca.pem" /etc/pos-agent/gateway-ca.pem 644
    put "$RUN/hand/gateway-token" /etc/pos-agent/gateway-token 600
    must "$GATEWAY_IS_HERE; pos-agent check /etc/pos-agent/config.toml; systemctl start pos-agent.socket"
    restart
  fi
  is_ready
  approves 11.01 chip-pin insert
  approves 11.02 tap tap
}

# Copies a file to the board: put FILE PLACE MODE.
put() {
  over_ssh 20 "cat >$2.new && chmod $3 $2.new && mv $2.new $2 && sync $2" <"$1" || fail "$1 is not copied to $2"
}

step_cuts() {
  local cut
  begin_sale 12.01 chip-pin insert
  until_true "$PATIENCE" "the gateway has the request" is_booked 12.01 "DB approved"
  power_cut
  power_on wait=no
  for cut in 1 2; do
    cut_at_random 60
  done
  until_true "$BOOT_PATIENCE" "the board comes up" board_is_up
  in_ledger -t "$PATIENCE" 12.01 "DB reversed, RV approved"
  is_ready
  must "pos-agent journal verify; cat /etc/hostname; journalctl --list-boots --no-pager | wc -l"
  says "$NAME"
  (($(tail -n 1 <<<"$SAID") > 3)) || fail "the log of earlier starts is lost: $SAID"
  approves 12.02 tap tap
}

step_upgrades() {
  local folder=$RUN/probe holder
  mkdir -p "$folder"/{DEBIAN,usr/share/probe}
  echo probe >"$folder/usr/share/probe/file"
  printf '%s\n' "Package: probe" "Version: 1" "Architecture: all" "Maintainer: test <test@example.org>" "Description: probe" \
    >"$folder/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$folder" "$RUN/probe.deb" >/dev/null
  put "$RUN/probe.deb" /var/tmp/probe.deb 644
  must "apt-get install --yes /var/tmp/probe.deb; cat /usr/share/probe/file; sync
    findmnt --noheadings --output OPTIONS / | cut -d , -f 1"
  [[ $(tail -n 1 <<<"$SAID") == ro ]] || fail "the root stays writable: $SAID"
  must "unattended-upgrade --dry-run --debug 2>&1 | grep 'Allowed origins'"
  tell
  [[ $SAID == *security* && $SAID != *"codename=bookworm,"* ]] || fail "not only fixes of security: $SAID"
  must "systemctl show apt-daily-upgrade.timer -P NextElapseUSecRealtime"
  tell
  [[ $SAID =~ \ 0[34]:[0-9]{2}:[0-9]{2}\  ]] || fail "the upgrade is not at night: $SAID"
  must "systemd-run --quiet --unit=holder systemd-inhibit --what=shutdown --who=till --why=test sleep infinity
    until systemd-inhibit --list | grep -q till; do :; done
    systemctl start apt-daily-upgrade.service
    systemctl show -P Result apt-daily-upgrade.service; journalctl -b -u apt-daily-upgrade -o cat --no-pager"
  says exec-condition
  says "not now: a program holds a lock against a shutdown"
  must "systemctl stop holder
    systemctl start apt-daily-upgrade.service
    systemctl show -P Result apt-daily-upgrade.service"
  says success
  approves 13.01 tap tap
}

step_books() {
  books_agree
  echo "   $(ledger "SELECT count(*) FROM payment") entries, as sold"
}
