"""Finds a terminal as tills do: found.py NAMESPACE-OF-THE-BOARD POS-FRONT, inside the till's network namespace."""

import contextlib
import hashlib
import json
import queue
import random
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from zeroconf import ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf

BOARD, FRONT = sys.argv[1], sys.argv[2]
SERVICE = "_pos-agent._tcp.local."
ADDRESS, TILL, MULTICAST = "10.77.0.1", "10.77.0.2", ("224.0.0.251", 5353)
FLOOD = 20_000
MOST_GROWTH_KB = 4096


class Front:
    """The real front on the board, without an agent."""

    def __init__(self, https: str, more: str = "") -> None:
        self.folder = tempfile.TemporaryDirectory()
        at = Path(self.folder.name)
        config = at / "front.toml"
        config.write_text(
            f'state = "{at}/state"\ncontrol = "{at}/control.sock"\nagent = "{at}/agent.sock"\ndoctor = "{at}/doctor.sock"\n'
            f'[listen]\nhttps = ["{https}"]\nhttp = ["127.0.0.1:0"]\n{more}\n'
        )
        (at / "state").mkdir(mode=0o700)
        # The board has a host name of its own.
        named = "hostname kasse-1 && exec ip netns exec $0 $1 run --config $2"
        self.process = subprocess.Popen(
            ["unshare", "--uts", "sh", "-c", named, BOARD, FRONT, str(config)], stderr=subprocess.PIPE, text=True
        )
        self.log = ""
        while "https://" not in self.log:
            self.log += self.line()

    def line(self) -> str:
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line, f"the front ended: {self.log}"
        return line

    def logs(self, words: str) -> None:
        """Waits for a line of the log."""
        while words not in self.log:
            self.log += self.line()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=15) == 0

    def rss_kb(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def listens_for_queries(self) -> bool:
        """Looks for a socket at the port of multicast DNS in the board's namespace."""
        return any(f":{5353:04X} " in Path(f"/proc/{self.process.pid}/net/{udp}").read_text() for udp in ("udp", "udp6"))


@contextlib.contextmanager
def front(https: str = "0.0.0.0:8443", more: str = "") -> Iterator[Front]:
    running = Front(https, more)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


class Seen(ServiceListener):
    """What a till hears of terminals, in order."""

    def __init__(self) -> None:
        self.events: queue.Queue[tuple[str, str]] = queue.Queue()

    def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.events.put(("added", name))

    def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.events.put(("removed", name))

    def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.events.put(("updated", name))

    def next(self, expected: str, within_s: float = 15) -> str:
        while True:
            event, name = self.events.get(timeout=within_s)
            if event == expected:
                return name


def found(zeroconf: Zeroconf, name: str) -> ServiceInfo:
    info = zeroconf.get_service_info(SERVICE, name, timeout=10_000)
    assert info is not None, f"{name} was found, but not where it is"
    return info


def unproven(url: str) -> str:
    """Reads an answer from a terminal whose certificate is not known yet."""
    unchecked = ssl.create_default_context()
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    with urllib.request.urlopen(url, context=unchecked, timeout=10) as answer:
        return answer.read().decode()


def proven(info: ServiceInfo) -> None:
    """Connects to the terminal as announced, and checks its certificate against the announced CA."""
    pem = unproven(f"https://{info.parsed_addresses()[0]}:{info.port}/front/certificate.pem")
    fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()
    announced = (info.properties[b"ca"] or b"").decode().replace(":", "").lower()
    assert fingerprint == announced, (fingerprint, announced)
    checked = ssl.create_default_context(cadata=pem)
    for host in (info.parsed_addresses()[0], (info.server or "").rstrip(".")):
        with socket.create_connection((info.parsed_addresses()[0], info.port or 0), timeout=10) as plain:
            checked.wrap_socket(plain, server_hostname=host).close()


def a_till_finds_the_terminal() -> None:
    with front() as running, contextlib.closing(Zeroconf(interfaces=[TILL])) as zeroconf:
        assert running.listens_for_queries()
        seen = Seen()
        ServiceBrowser(zeroconf, SERVICE, seen)
        info = found(zeroconf, seen.next("added"))
        assert (info.name, info.port) == (f"kasse-1.{SERVICE}", 8443), info
        assert info.parsed_addresses() == [ADDRESS], info
        assert (info.properties[b"txtvers"], info.properties[b"api"]) == (b"1", b"1"), info
        proven(info)
        said = subprocess.run(["node", "tests/found/found.cjs"], check=False, capture_output=True, text=True, timeout=30)
        assert said.returncode == 0, said.stderr
        other = json.loads(said.stdout)
        assert (other["name"], f"{other['host']}.", other["port"]) == ("kasse-1", info.server, 8443), other
        assert other["addresses"] == [ADDRESS] and other["txt"]["ca"] == (info.properties[b"ca"] or b"").decode(), other
        # A terminal that ends says so.
        running.stop()
        assert seen.next("removed", within_s=5) == f"kasse-1.{SERVICE}"


def loopback_and_a_shop_that_wants_none_announce_nothing() -> None:
    for https, more in (("127.0.0.1:8443", ""), ("0.0.0.0:8443", "announce = false")):
        with front(https, more) as running:
            assert not running.listens_for_queries(), (https, more)
            with contextlib.closing(Zeroconf(interfaces=[TILL])) as zeroconf:
                assert zeroconf.get_service_info(SERVICE, f"kasse-1.{SERVICE}", timeout=3000) is None


def one_address_is_announced_alone() -> None:
    subprocess.run(["ip", "-n", BOARD, "address", "add", "10.77.0.3/24", "dev", "shop"], check=True)
    with front("10.77.0.3:8443") as running, contextlib.closing(Zeroconf(interfaces=[TILL])) as zeroconf:
        seen = Seen()
        ServiceBrowser(zeroconf, SERVICE, seen)
        assert found(zeroconf, seen.next("added")).parsed_addresses() == ["10.77.0.3"]
        running.stop()
    subprocess.run(["ip", "-n", BOARD, "address", "del", "10.77.0.3/24", "dev", "shop"], check=True)


def a_name_that_another_device_has_is_changed_and_logged() -> None:
    with contextlib.closing(Zeroconf(interfaces=[TILL])) as other:
        stranger = ServiceInfo(
            SERVICE, f"kasse-1.{SERVICE}", 9, parsed_addresses=[TILL], server="kasse-1.local.", properties={"txtvers": "1"}
        )
        other.register_service(stranger)
        with front() as running, contextlib.closing(Zeroconf(interfaces=[TILL])) as zeroconf:
            running.logs("another device in the network has the terminal's name")
            seen = Seen()
            ServiceBrowser(zeroconf, SERVICE, seen)
            names = {seen.next("added"), seen.next("added")}
            (own,) = names - {f"kasse-1.{SERVICE}"}
            info = found(zeroconf, own)
            assert (info.parsed_addresses(), info.port) == ([ADDRESS], 8443), info
            proven(info)


def question(name: bytes, kind: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b".")) + b"\0"
    return struct.pack("!6H", 0, 0, 1, 0, 0, 0) + labels + struct.pack("!2H", kind, 1)


def hostile(dice: random.Random) -> bytes:
    """Makes one message that no honest device sends."""
    header = struct.pack("!6H", 0, 0x8400, 0, 1, 0, 0)
    name = b"\x07kasse-1\x0a_pos-agent\x04_tcp\x05local\0"
    kinds = [
        lambda: dice.randbytes(dice.randrange(0, 1400)),
        # Compression pointers that lead to themselves and beyond the message (RFC 1035, 4.1.4).
        lambda: struct.pack("!6H", 0, 0, 1, 0, 0, 0) + b"\xc0\x0c" + struct.pack("!2H", 12, 1),
        lambda: struct.pack("!6H", 0, 0, 1, 0, 0, 0) + b"\xff\xff" + struct.pack("!2H", 12, 1),
        # Counts without records.
        lambda: struct.pack("!6H", 0, dice.choice([0, 0x8400]), 65535, 65535, 65535, 65535),
        # Records of names that no device asked for, each another one.
        lambda: header + b"\x20" + dice.randbytes(16).hex().encode() + b"\x05local\0" + struct.pack("!2HIH4s", 1, 1, 4500, 4, b"\x0a\x4d\0\x09"),
        # A farewell in the terminal's name, a record of another port, a text with a wrong length.
        lambda: header + name + struct.pack("!2HIH", 33, 0x8001, 0, 6) + b"\0\0\0\0\0\x09",
        lambda: header + name + struct.pack("!2HIH", 16, 0x8001, 4500, 3) + b"\xffab",
        lambda: header + name + struct.pack("!2HIH", 33, 0x8001, 4500, 65535),
        # Questions with more known answers to come (RFC 6762, 7.2).
        lambda: struct.pack("!6H", 0, 0x0200, 1, 0, 0, 0) + question(b"_pos-agent._tcp.local", 12)[12:],
        lambda: question(b"_pos-agent._tcp.local", 255),
    ]
    return dice.choice(kinds)()


def hostile_messages_cost_neither_memory_nor_the_service() -> None:
    dice = random.Random(1)
    with front() as running, contextlib.closing(Zeroconf(interfaces=[TILL])) as zeroconf:
        seen = Seen()
        ServiceBrowser(zeroconf, SERVICE, seen)
        proven(found(zeroconf, seen.next("added")))
        before, began = running.rss_kb(), time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
            flood.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            flood.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            flood.bind((TILL, 5353))
            for count in range(FLOOD):
                flood.sendto(hostile(dice), MULTICAST)
                # The front reads what it got before the next thousand, and answers tills meanwhile.
                if count % 1000 == 999:
                    assert json.loads(unproven(f"https://{ADDRESS}:8443/front/health"))["agent"] == "down"
        flooded = time.monotonic() - began
        with contextlib.closing(Zeroconf(interfaces=[TILL])) as fresh:
            newcomer = Seen()
            ServiceBrowser(fresh, SERVICE, newcomer)
            while (name := newcomer.next("added", within_s=30)) != f"kasse-1.{SERVICE}":
                print(f"a stranger's name: {name}")
            proven(found(fresh, name))
        grown = running.rss_kb() - before
        print(f"{FLOOD} messages in {flooded:.1f} s: {grown} kB more, {before} kB before")
        assert grown < MOST_GROWTH_KB, grown
        running.stop()


for test in (
    a_till_finds_the_terminal,
    loopback_and_a_shop_that_wants_none_announce_nothing,
    one_address_is_announced_alone,
    a_name_that_another_device_has_is_changed_and_logged,
    hostile_messages_cost_neither_memory_nor_the_service,
):
    start = time.monotonic()
    test()
    print(f"{test.__name__.replace('_', ' ')}: {time.monotonic() - start:.1f} s", flush=True)
print("test result: ok. 5 passed; 0 failed")
