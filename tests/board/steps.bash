# shellcheck shell=bash disable=SC2034,SC2153
# The steps of tests/board/run with a package, each a function step_NAME. They ask the agent only what they cannot learn
# from the ledger, the printer's paper, systemd or the kernel.

# Later than any version.
readonly LATER=99:1

# name | test
readonly STEPS="\
install      | dpkg installs the package; the page of the first boot sets it up; a configuration by hand; the package's program runs
sales        | insert, tap and swipe; a decline; a reversal; a lost answer
figures      | memory when idle and in a sale, time to READY, processor time of a sale
front        | the page over HTTPS with the board's own certificate; a till is paired; its sale survives a kill -9 of the front
replug       | the reader's cable is pulled and plugged in again; the service does not restart
watchdog     | systemd restarts an agent that hangs (SIGSTOP)
stop         | SIGTERM during a sale; the next start reverses the payment
second-agent | another agent on the same journal is refused
directory    | a reader's port that is a folder
bad-config   | a mistake in the configuration: few starts, one line in the log, and the next start after the mistake is gone
link         | the network has no link: no card is asked for, and sales again when it is back
credential   | the gateway's token is missing
encrypted    | the gateway's token is encrypted for this board, as in the package's example
full-disk    | no space for the journal: no sale, no loss, and sales again when there is space
power-cut    | the power fails during the gateway's request; the next start reverses the payment
clock        | the board's clock shows 1970
read-only    | a start without a battery, with a read-only root and writable folders of the agent and the front
upgrade      | a later package, and back to the earlier one: configuration, token and journal stay, front and agent run
remove       | the package is removed and purged: the journal stays
books        | the gateway's whole ledger matches the sales of the steps"

# The step that all others need.
readonly FIRST=install

step_install() {
  local in_package
  cp "$PACKAGE" "$RUN/hand/pos-agent.deb"
  in_package=$(dpkg-deb --fsys-tarfile "$PACKAGE" | tar -xO ".$AGENT" | sha256sum | cut -d ' ' -f 1)
  guest "dpkg -i /hand/pos-agent.deb" || fail "dpkg -i: $SAID"
  names_setup
  takes_a_first_sale
  guest "install -d -m 755 /etc/pos-agent
    install -m 644 /hand/config.toml /hand/gateway-ca.pem /etc/pos-agent/
    install -m 600 /hand/gateway-token /etc/pos-agent/
    pos-agent check /etc/pos-agent/config.toml
    systemctl enable pos-agent
    sync" || fail "the configuration: $SAID"
  restart
  is_ready
  must "systemctl show -P Documentation pos-agent pos-front"
  says "man:pos-agent(1)"
  says "man:pos-front(1)"
  until_guest "systemd shows the state of the agent" "systemctl show pos-agent -P StatusText | grep '^ready'"
  guest "journalctl -b -u pos-agent -o cat --no-pager | grep 'the agent has started' | grep 'terminal='" || fail "the log does not mention the start"
  must "sha256sum <$AGENT; sha256sum <$RUNNING/exe; readlink $RUNNING/exe"
  [[ $SAID == "$in_package  -"$'\n'"$in_package  -"$'\n'"$AGENT" ]] ||
    fail "the package has $in_package; the board's installed program, running program and path are: $SAID"
  echo "   installed and running: sha256 $in_package, as in the package"
  # 75: only warnings.
  guest "pos-agent doctor" || [[ $? == 75 ]] || fail "the doctor: $SAID"
  grep -A 1 'WARNING' <<<"$SAID" | sed 's/^/   /' || true
  must "chmod 644 /etc/pos-agent/gateway-token"
  guest "pos-agent doctor" && fail "the doctor accepts a token that every user can read"
  says "/etc/pos-agent/gateway-token: other users may open it (mode 0644)"
  must "chmod 600 /etc/pos-agent/gateway-token"
  finds_the_devices
  keeps_the_log
}

# Checks that a board without a configuration says how to make one.
names_setup() {
  local command
  for command in "pos-agent status" "pos-agent sale 1.00" "pos-agent doctor" "pos-agent check" "pos-front status"; do
    guest "$command" && fail "without a configuration this works: $command"
    says "run pos-agent setup as root"
  done
}

# Sets the terminal up at its page, and sells. The other steps have a configuration by hand, and no front.
takes_a_first_sale() {
  sets_up_at_the_page
  is_ready
  approves 9.01 tap tap
  until_true "$PATIENCE" "the doctor's findings are at the page" doctor_at_the_page
  must "systemctl show -P ActiveState pos-front-first-boot.service; systemctl show -P Result pos-front-first-boot.service"
  [[ $SAID == $'inactive\nsuccess' ]] || fail "the first boot is: $SAID"
  guest "journalctl -b -o cat --no-pager | grep -F -f /etc/pos-agent/gateway-token" && fail "the log has the token: $SAID"
  must "systemctl stop pos-front pos-agent.socket pos-agent"
  must "rm /etc/pos-agent/front.toml"
}

# The browser that gave the code is paired with the terminal, so its page may ask for the findings.
doctor_at_the_page() {
  at_the_page GET /front/doctor && [[ $SAID == *'"findings"'* ]]
}

# Runs setup unattended. The printer's adapter comes before the reader's in /dev/serial/by-id, and must get no byte of the
# search for a reader.
finds_the_devices() {
  local paper by_id=/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL
  must "systemctl stop pos-agent.socket pos-agent"
  paper=$(cksum <"$RUN/printer")
  must "value() { sed -n \"s/^\$1 = \\\"\(.*\)\\\"/\1/p\" /etc/pos-agent/config.toml; }
    pos-agent setup --yes --no-doctor --config /tmp/setup/config.toml --board qemu-virt --terminal-id 12345678 --merchant Shop \
      --currency EUR --gateway-url \$(value url) --entity-id \$(value entity-id) --ca-file /etc/pos-agent/gateway-ca.pem \
      --token-file /etc/pos-agent/gateway-token --mode external"
  says "${by_id}_READER-if00-port0: M000-MPI"
  says "${by_id}_PRINTER-if00-port0: a printer"
  [[ $(cksum <"$RUN/printer") == "$paper" ]] || fail "setup has printed: $(tail -n 5 "$RUN/printer")"
  must "rm -r /tmp/setup; systemctl start pos-agent.socket pos-agent"
  is_ready
}

# The board's log is in memory: its image has no /var/log/journal. The package's example changes that, and the other
# steps run without it.
keeps_the_log() {
  # shellcheck disable=SC2016 # it is the guest that asks
  local log='log/journal/$(cat /etc/machine-id)/system.journal'
  must "test -e /run/$log"
  guest "pos-agent doctor" || true
  says "keeps its log in memory"
  must "install -D -m 644 /usr/share/doc/pos-agent/examples/persistent-log.conf /etc/systemd/journald.conf.d/pos-agent.conf
    systemctl restart systemd-journald
    journalctl --flush
    test -e /var/$log"
  guest "pos-agent doctor" || true
  ! grep -q "keeps its log in memory" <<<"$SAID" || fail "the example does not keep the log: $SAID"
  must "rm /etc/systemd/journald.conf.d/pos-agent.conf
    journalctl --relinquish-var
    rm -r /var/log/journal
    systemctl restart systemd-journald"
}

step_sales() {
  approves 10.01 chip-pin insert
  approves 10.02 tap tap
  approves 10.03 swipe swipe --signature accept
  ends_with 1 sell 10.51 tap tap
  in_ledger 10.51 "DB declined"
  printed 10.51 DECLINED
  approves 10.04 tap-pin tap
  ends_with 0 guest "pos-agent reverse sale-10.04"
  in_ledger 10.04 "DB reversed, RV approved"
  # The till gets the outcome after the payment is found and reversed.
  ends_with 5 sell 10.73 chip-pin insert
  in_ledger -t 60 10.73 "DB reversed, RV approved"
}

# The kernel's own counts: VmRSS, VmHWM (reset before the sales), utime and stime; systemd's own times.
step_figures() {
  local times before after sale
  restart
  is_ready
  must "systemctl show pos-agent -P InactiveExitTimestampMonotonic; systemctl show pos-agent -P ActiveEnterTimestampMonotonic"
  times=$SAID
  echo "   start to READY: $((($(tail -n 1 <<<"$times") - $(head -n 1 <<<"$times")) / 1000)) ms"
  approves 11.00 tap tap
  must "grep VmRSS $RUNNING/status; systemctl show pos-agent -P MemoryCurrent"
  echo "   memory when idle: $(head -n 1 <<<"$SAID"), the unit's cgroup $(($(tail -n 1 <<<"$SAID") / 1024)) kB"
  must "echo 5 >$RUNNING/clear_refs; cut -d ' ' -f 14,15 $RUNNING/stat; getconf CLK_TCK"
  before=$SAID
  for sale in 11.01 11.02 11.03 11.04 11.05; do
    approves "$sale" chip-pin insert
  done
  must "cut -d ' ' -f 14,15 $RUNNING/stat; grep VmHWM $RUNNING/status"
  after=$SAID
  echo "   memory at most in five sales: $(tail -n 1 <<<"$after")"
  echo "   processor time of a sale: $((($(ticks "$after") - $(ticks "$before")) * 1000 / $(tail -n 1 <<<"$before") / 5)) ms" \
    "(mean of five, chip and PIN, both receipts)"
}

# Prints the sum of the two numbers in the first line.
ticks() {
  local user system
  read -r user system <<<"$1"
  echo $((user + system))
}

# Connects from this machine, as from the shop's network. The agent gives the front's user two tills: the page's, and
# one that may be paired.
step_front() {
  local request code token sale=11.21 seen
  starts_front
  trust_front
  grep -q '<!DOCTYPE html>' <<<"$(ask_front /)" || fail "the front does not serve the page"
  ask_front /front/health --cacert /dev/null 2>/dev/null && fail "the front's certificate is accepted without its CA"
  must "pos-front pair open"
  request=$(ask_front /front/pair -d '{"name":"kasse-2"}' | sed -n 's/.*"request":"\([^"]*\)".*/\1/p')
  must "pos-front pair list"
  code=$(grep 'kasse-2 at' <<<"$SAID" | cut -d ' ' -f 1)
  must "pos-front pair approve $code"
  token=$(ask_front "/front/pair/$request" -d "{\"code\":\"$code\"}" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
  [[ -n $token ]] || fail "the till with the code $code gets no token"
  seen=$(wc -l <"$RUN/reader")
  sell_by_front "$token" "$sale" | grep -q '"state":"waiting-for-card"' || fail "the front begins no sale"
  until_true "$PATIENCE" "the reader asks for a card" reader_asks "$seen"
  # shellcheck disable=SC2016 # it is the guest that asks
  must 'kill -KILL $(systemctl show pos-front -P MainPID)'
  hand reader tap tap
  in_ledger -t "$PATIENCE" "$sale" "DB approved"
  printed "$sale" APPROVED
  front_is_up
  sell_by_front "$token" "$sale" | grep -q '"outcome":"approved".*"replayed":true' || fail "after the kill the front has another sale"
  in_ledger "$sale" "DB approved"
  # shellcheck disable=SC2016 # it is the guest that asks
  must 'cd /proc/$(systemctl show pos-front -P MainPID); grep VmRSS status; stat -c %U .'
  [[ $(tail -n 1 <<<"$SAID") == pos-front ]] || fail "the front runs as $(tail -n 1 <<<"$SAID")"
  echo "   memory of the front: $(head -n 1 <<<"$SAID")"
  must "journalctl -b -u pos-front -o cat --no-pager"
  says "pos-front starts version="
  guest "pos-agent doctor --bundle /tmp/support.tar" || [[ $? == 75 ]] || fail "the archive: $SAID"
  must "tar -tf /tmp/support.tar; tar -xOf /tmp/support.tar pos-agent-support/front-log.txt; rm /tmp/support.tar"
  says front.toml
  says front-status.json
  says "pos-front starts version="
  stops_front
}

# The other steps test the agent: without its own configuration the front does not start.
stops_front() {
  must "systemctl stop pos-front; rm /etc/pos-agent/front.toml"
}

# Writes the front's own configuration. Once, it also adds the tills of the front's user to the agent's configuration.
starts_front() {
  printf '%s\n' 'names = ["kasse.local"]' 'tills = ["kasse-2"]' '[listen]' 'https = ["0.0.0.0:8443"]' '[page]' 'till = "counter"' \
    >"$RUN/hand/front.toml"
  # shellcheck disable=SC2016 # it is the guest that asks
  must 'grep -q kasse-2 /etc/pos-agent/config.toml ||
      printf "\n[[till.peer]]\nuid = %s\ntills = [\"counter\", \"kasse-2\"]\n" "$(id -u pos-front)" >>/etc/pos-agent/config.toml
    install -m 644 /hand/front.toml /etc/pos-agent/
    pos-front check
    systemctl start pos-front'
  restart
  is_ready
  front_is_up
}

# Keeps the CA of the front's certificate, for ask_front.
trust_front() {
  must "pos-front certificate --pem"
  echo "$SAID" >"$RUN/front-ca.pem"
}

front_is_up() {
  until_guest "the front has found the agent" "pos-front status | grep '\"state\": \"up\"'"
}

# ask_front PATH [ARGUMENTS of curl ...]
ask_front() {
  curl --silent --show-error --max-time 60 --cacert "$RUN/front-ca.pem" --resolve "kasse.local:$FRONT_PORT:127.0.0.1" \
    -H 'Content-Type: application/json' "https://kasse.local:$FRONT_PORT$1" "${@:2}"
}

sell_by_front() {
  ask_front /v1/sales -H "Authorization: Bearer $1" -d "{\"reference\":\"sale-$2\",\"amount\":\"$2\"}"
}

step_replug() {
  local before
  must "systemctl show pos-agent -P MainPID"
  before=$SAID
  hand reader unplug
  pull reader
  until_guest "the agent reports that its reader is missing" "! pos-agent status >/dev/null"
  guest "pos-agent status" || true
  grep -q 'no reader at /dev/serial/by-id/' <<<"$SAID" || fail "without a reader the status says: $SAID"
  hand reader plug
  plug reader
  is_ready
  approves 12.01 chip-pin insert
  must "systemctl show pos-agent -P MainPID"
  [[ $SAID == "$before" ]] || fail "the service was restarted"
}

step_watchdog() {
  local before
  must "systemctl show pos-agent -P MainPID"
  before=$SAID
  must "kill -STOP $before"
  until_guest "systemd has started another agent" "pid=\$(systemctl show pos-agent -P MainPID); [ \$pid != 0 ] && [ \$pid != $before ]"
  guest "journalctl -b -u pos-agent -o cat --no-pager | grep -i watchdog" || fail "systemd's log does not mention the watchdog"
  tell
  is_ready
  approves 13.01 tap tap
}

# Stops the agent during a request: the gateway has an approval that the agent does not know.
step_stop() {
  begin_sale 14.71 chip-pin insert
  until_true "$PATIENCE" "the gateway has the request" is_booked 14.71 "DB approved"
  guest -t 120 "time systemctl stop pos-agent" || fail "systemctl stop: $SAID"
  echo "   systemctl stop took$(sed -n 's/^real//p' <<<"$SAID")"
  guest "systemctl is-failed pos-agent" && fail "after SIGTERM the unit has failed: $SAID"
  restart
  in_ledger -t 60 14.71 "DB reversed, RV approved"
  is_ready
  approves 14.01 tap tap
}

step_second_agent() {
  must "sed 's|^token-credential = .*|token-file = \"/tmp/second/token\"|' /etc/pos-agent/config.toml >/tmp/second.toml
    printf '[till]\nsocket = \"/tmp/second/till.sock\"\nhttp = \"127.0.0.1:8651\"\n' >>/tmp/second.toml
    install -d -o pos-agent /tmp/second
    install -m 600 -o pos-agent /etc/pos-agent/gateway-token /tmp/second/token"
  ends_with 74 guest "setpriv --reuid pos-agent --regid pos-agent --init-groups pos-agent run --config /tmp/second.toml"
  says "the journal /var/lib/pos-agent/journal.db is in use by another pos-agent; stop that one first"
  approves 15.01 tap tap
  # Root does not run the agent of another user.
  ends_with 77 guest "pos-agent run"
  says "runuser -u pos-agent"
  must "find /var/lib/pos-agent -user root"
  [[ -z $SAID ]] || fail "root has left files: $SAID"
}

step_directory() {
  must "cp /etc/pos-agent/config.toml /tmp/good.toml; sed -i '0,/^port = .*/s||port = \"/dev/serial\"|' /etc/pos-agent/config.toml"
  restart
  ends_with 69 guest "pos-agent status"
  says "/dev/serial"
  says "check"
  must "cp /tmp/good.toml /etc/pos-agent/config.toml"
  restart
  is_ready
  approves 16.01 tap tap
}

# The first start fails at once. The next ones keep the cause and wait, longer each time.
step_bad_config() {
  must "cp /etc/pos-agent/config.toml /tmp/good.toml; sed -i '1i colour = \"red\"' /etc/pos-agent/config.toml"
  guest "systemctl restart pos-agent" && fail "with a mistake in its configuration the service started"
  must "sleep 20; systemctl show pos-agent -P NRestarts"
  # They wait 2 s, 4 s, 8 s and 16 s, each after one more second of systemd.
  ((SAID >= 1 && SAID <= 5)) || fail "the service was started again $SAID times in 20 s"
  must "journalctl -b -u pos-agent -o cat --no-pager | grep -c colour"
  [[ $SAID == 1 ]] || fail "the log has the cause $SAID times"
  # Between two starts there is no state.
  until_guest "systemd shows the cause" "systemctl show pos-agent -P StatusText | grep 'cannot start: .*colour'"
  guest "pos-agent status" && fail "an agent that cannot start has a status: $SAID"
  says colour
  guest "pos-agent sale 16.11 --reference sale-16.11" && fail "the agent took a sale: $SAID"
  [[ -z $(booked 16.11) ]] || fail "the gateway was asked: $(booked 16.11)"
  must "cp /tmp/good.toml /etc/pos-agent/config.toml"
  # It starts without a command.
  is_ready
  approves 16.12 tap tap
}

step_link() {
  network false
  until_guest "the status reports the missing link" "said=\$(pos-agent status || true); grep 'no link' <<<\"\$said\""
  ends_with 69 guest "pos-agent sale 16.21 --reference sale-16.21"
  says "no link"
  [[ -z $(booked 16.21) ]] || fail "the gateway was asked: $(booked 16.21)"
  network true
  is_ready
  approves 16.22 tap tap
}

step_credential() {
  guest "mv /etc/pos-agent/gateway-token /root/; systemctl restart pos-agent" && fail "without its token the service started"
  must "journalctl -b -u pos-agent -o cat --no-pager -n 20; systemctl status --no-pager pos-agent || true"
  tell
  says "/etc/pos-agent/gateway-token"
  must "mv /root/gateway-token /etc/pos-agent/"
  # It tries again automatically.
  is_ready
  approves 17.01 tap tap
}

# Encrypted with the key of this board: without that key the service does not start, because the token is in no other
# place.
step_encrypted() {
  local examples=/usr/share/doc/pos-agent/examples folder=/etc/systemd/system/pos-agent.service.d
  must "systemd-creds encrypt --name=gateway-token /etc/pos-agent/gateway-token /etc/pos-agent/gateway-token.cred
    rm /etc/pos-agent/gateway-token
    install -D -m 644 -t $folder $examples/encrypted-token.conf
    systemctl daemon-reload
    if grep -rqF -f /hand/gateway-token /etc; then exit 1; fi"
  restart
  is_ready
  approves 17.11 tap tap
  must "mv /var/lib/systemd/credential.secret /root/"
  guest "systemctl restart pos-agent" && fail "with another board's key the service started"
  must "journalctl -b -u pos-agent -o cat --no-pager -n 20"
  tell
  must "mv /root/credential.secret /var/lib/systemd/
    rm -r $folder /etc/pos-agent/gateway-token.cred
    install -m 600 /hand/gateway-token /etc/pos-agent/
    systemctl daemon-reload
    sync"
  restart
  is_ready
  approves 17.13 tap tap
}

# A running agent has freed space at its start, and continues (400 such sales were tried by hand). An agent that starts
# needs some space. tests/journal/journal.rs and the storms test an agent without any space.
step_full_disk() {
  local head sale
  restart
  is_ready
  fill_the_disk
  for sale in 18.11 18.12 18.13; do
    approves "$sale" chip-pin insert
  done
  must "rm /var/lib/pos-agent/filling"
  is_ready
  journal_head
  head=$SAID
  must "systemctl stop pos-agent"
  fill_the_disk
  guest "systemctl start pos-agent" && fail "the agent starts without space for its journal"
  must "journalctl -b -u pos-agent -o cat --no-pager -n 20 | grep '^pos-agent:' | tail -n 1"
  tell
  says "the journal"
  says "is full"
  says "space"
  guest "pos-agent sale 18.01 --reference sale-18.01" && fail "the agent took a sale without space for the journal: $SAID"
  [[ -z $(booked 18.01) ]] || fail "the gateway was asked: $(booked 18.01)"
  must "rm /var/lib/pos-agent/filling"
  # It tries again automatically.
  is_ready
  approves 18.02 chip-pin insert
  guest "pos-agent journal verify --head $head" || fail "the journal has changed: $SAID"
}

fill_the_disk() {
  must "cd /var/lib/pos-agent; fallocate -l \$(df --output=avail -B 1 . | tail -n 1) filling || true
    while dd if=/dev/zero bs=1k count=64 >>filling 2>/dev/null; do :; done; df . | tail -n 1"
  tell
}

step_power_cut() {
  begin_sale 19.71 chip-pin insert
  until_true "$PATIENCE" "the gateway has the request" is_booked 19.71 "DB approved"
  power_cut
  is_booked 19.71 "DB approved" || fail "the ledger changed without power: $(booked 19.71)"
  power_on net=off
  # Without a network, the open sale is looked up in vain, and no one is alarmed yet.
  until_guest "the gateway is unreachable" "said=\$(pos-agent status --json || true); grep gateway-unreachable <<<\"\$said\""
  # The USB printer appears some seconds after the agent, and is found at once.
  must "for _ in 1 2 3 4 5; do
    said=\$(pos-agent status --json || true)
    if grep -q gateway-unreachable <<<\"\$said\" && ! grep -q printer-absent <<<\"\$said\"; then exit 0; fi
    sleep 1
  done
  echo \"\$said\"
  exit 1"
  network true
  in_ledger -t "$PATIENCE" 19.71 "DB reversed, RV approved"
  must "! journalctl -b -u pos-agent -o cat --no-pager | grep ALARM"
  is_ready
  guest "pos-agent journal verify" || fail "the journal: $SAID"
  approves 19.01 chip-pin insert
}

# Neither the board nor the reader knows the time. When the board learns it, the agent takes sales.
step_clock() {
  other_reader
  must "date -s 1970-01-02; systemctl restart pos-agent"
  no_sale_without_a_clock 20.01
  must "date -s @$(date +%s)"
  is_ready
  approves 20.02 chip-pin insert
}

no_sale_without_a_clock() {
  # The reader's USB port appears some seconds after the agent: until then the reader is missing too.
  until_guest "only the clock is wrong" "case \$(pos-agent status || true) in
      *reader-absent*|*reader-opening*|*reader-restarting*) false ;;
      *'neither the board'*'clock nor the reader'*'can be right'*) true ;;
      *) false ;;
    esac"
  ends_with 69 guest "pos-agent sale $1 --reference sale-$1"
  says "neither the board's clock nor the reader's can be right"
  [[ -z $(booked "$1") ]] || fail "the gateway was asked: $(booked "$1")"
  guest "journalctl -b -u pos-agent -o cat --no-pager | grep clock-untrusted" || fail "the log does not mention the clock"
}

# The board has no battery, and the reader has no time. systemd changes 1970 to the time of its own build, which cannot
# be right either. /tmp is read-only too: the front starts without it.
step_read_only() {
  local dropin=/run/systemd/system/pos-front.service.d/planted.conf
  starts_front
  trust_front
  power_off
  other_reader
  power_on root=ro clock=1970-01-01
  must "date --iso-8601=seconds"
  echo "   the board says that it is $SAID"
  no_sale_without_a_clock 21.01
  must "date -s @$(date +%s)"
  guest "! touch /usr/written 2>/dev/null && touch /var/lib/pos-agent/written && rm /var/lib/pos-agent/written" ||
    fail "the root is writable, or the journal's folder is not"
  is_ready
  approves 21.02 chip-pin insert
  guest "pos-agent journal verify" || fail "the journal: $SAID"
  front_is_up
  ask_front /front/health >/dev/null || fail "on a read-only system the front does not serve"
  # The step notices a setting that needs /tmp.
  must "mkdir -p ${dropin%/*}; printf '[Service]\nPrivateDevices=yes\n' >$dropin; systemctl daemon-reload"
  guest "systemctl restart pos-front" && fail "with PrivateDevices=yes the front starts on a read-only system too"
  must "rm $dropin; systemctl daemon-reload; systemctl restart pos-front"
  front_is_up
}

# The same files with another version: this tests dpkg and the package's scripts.
step_upgrade() {
  local version kept head package
  version=$(dpkg-deb --field "$PACKAGE" Version)
  repack_later
  is_writable
  starts_front
  approves 22.01 tap tap
  must "sha256sum /etc/pos-agent/*"
  kept=$SAID
  journal_head
  head=$SAID
  for package in later pos-agent; do
    guest "dpkg -i /hand/$package.deb" || fail "dpkg -i $package.deb: $SAID"
    must "dpkg-query -W -f '\${Version} \${db:Status-Abbrev}' pos-agent; echo; readlink $RUNNING/exe"
    echo "   $(head -n 1 <<<"$SAID")"
    [[ $SAID == "$([[ $package == later ]] && echo "$LATER" || echo "$version") ii "$'\n'"$AGENT" ]] || fail "the installed version and the running program are: $SAID"
    is_ready
    front_is_up
    # shellcheck disable=SC2016 # it is the guest that asks
    must 'readlink /proc/$(systemctl show pos-front -P MainPID)/exe'
    [[ $SAID == /usr/bin/pos-front ]] || fail "the running front is $SAID"
    must "sha256sum /etc/pos-agent/*"
    [[ $SAID == "$kept" ]] || fail "the configuration was changed: $SAID"
    guest "pos-agent journal verify --head $head" || fail "the journal: $SAID"
    # The same reference is the same sale: the agent answers from the journal.
    ends_with 0 guest "pos-agent sale 22.01 --reference sale-22.01"
    in_ledger 22.01 "DB approved"
  done
  approves 22.02 chip-pin insert
  stops_front
}

# Packs the package again, with the version LATER.
repack_later() {
  local folder=$RUN/later
  rm -rf "$folder"
  dpkg-deb --raw-extract "$PACKAGE" "$folder"
  sed -i "s/^Version: .*/Version: $LATER/" "$folder/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip --build "$folder" "$RUN/hand/later.deb" >/dev/null
}

# Copies the program first, because it reads the journal after the package is removed.
step_remove() {
  local head
  is_writable
  approves 23.01 tap tap
  journal_head
  head=$SAID
  must "cp $AGENT /root/kept"
  guest "dpkg -r pos-agent
    if systemctl is-active pos-agent; then exit 1; fi
    ls $AGENT /etc/pos-agent/config.toml /etc/pos-agent/gateway-token 2>&1 || true" || fail "dpkg -r: $SAID"
  says "cannot access '$AGENT'"
  says $'\n'/etc/pos-agent/config.toml$'\n'/etc/pos-agent/gateway-token
  guest "dpkg -P pos-agent
    if dpkg-query -W pos-agent; then exit 1; fi
    /root/kept journal verify --journal /var/lib/pos-agent/journal.db --head $head" || fail "after dpkg -P: $SAID"
  tell
  must "ls -A /var/lib/pos-front"
  [[ -z $SAID ]] || fail "a purge leaves the front's state: $SAID"
}

step_books() {
  books_agree
  echo "   $(ledger "SELECT count(*) FROM payment") entries, as sold"
}
