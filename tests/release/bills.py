"""Plants faults into the agent's bill of materials: bills.py FILE TARGET. The check of a release must find each one."""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path

import sbom


def of(bill: dict, name: str) -> dict:
    """Return a package of the bill."""
    return next(one for one in bill["components"] if one["name"] == name)


def without(name: str) -> Callable[[dict], None]:
    """Remove a package."""
    return lambda bill: bill["components"].remove(of(bill, name))


def added(name: str) -> Callable[[dict], None]:
    """Add a package."""
    return lambda bill: bill["components"].append({**of(bill, "hex"), "bom-ref": name, "name": name, "version": "9.8.7"})


# Each fault, with words of the answer.
FAULTS: list[tuple[Callable[[dict], object], str]] = [
    (without("ring"), "leaves out: ring"),
    (without("rusqlite"), "leaves out: rusqlite"),
    (without("pos-core"), "leaves out: pos-core"),
    (without("serde_derive"), "leaves out: serde_derive"),
    (added("aes"), "lists what the program must never contain: aes 9.8.7"),
    (added("pos-sim"), "lists what the program must never contain: pos-sim 9.8.7"),
    (added("rand"), "lists what is not in the program: rand 9.8.7"),
    (lambda bill: bill["components"].append(of(bill, "hex")), "lists twice: hex"),
    (lambda bill: of(bill, "hex").update(version="9.8.7"), "leaves out: hex"),
    (lambda bill: of(bill, "ring").pop("licenses"), "ring has no licence of SPDX"),
    (lambda bill: of(bill, "ring").update(licenses=[{"license": {"name": "free"}}]), "ring has no licence of SPDX"),
    (lambda bill: of(bill, "rusqlite").pop("hashes"), "rusqlite has no checksum"),
    (lambda bill: of(bill, "libsqlite3-sys").pop("components"), "leaves out SQLite itself"),
    (lambda bill: of(bill, "serde_derive").update(scope="required"), "or the reverse: serde_derive"),
]


def fault_of(check: Callable[[], object]) -> str:
    """Return what a check finds."""
    try:
        check()
    except sbom.Fault as fault:
        return str(fault)
    return "nothing"


def main() -> None:
    """Plant all faults."""
    whole, target = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
    for plant, words in FAULTS:
        bill = copy.deepcopy(whole)
        plant(bill)
        found = fault_of(lambda bill=bill: sbom.complete(bill, target))
        if words not in found:
            sys.exit(f"FAILED: the check does not say {words!r}, but {found!r}")
    found = fault_of(lambda: sbom.valid(json.dumps({**whole, "bomFormat": "SPDX"})))
    if "not valid against the schema" not in found:
        sys.exit(f"FAILED: a bill of another format is valid: {found!r}")
    print(f"{len(FAULTS) + 1} faults in a bill of materials are found")


if __name__ == "__main__":
    main()
