"""Writes and checks the bills of materials of a release, in CycloneDX JSON.

    sbom.py write FOLDER COMMIT TIME PROGRAM:ARCHITECTURE:TARGET...   writes one file for each program and target
    sbom.py check FILE:TARGET...                                     checks files

A bill lists what `cargo tree` lists for the program alone: the packages of a build for this target, with the features
of this build. Cargo's own metadata of the whole workspace would add the features of the other programs. Macros run in
the compiler only, and have the scope `excluded`. Parts that Cargo does not know are inside the package that contains
them: SQLite, the page's font, Rust's standard library.

The same commit gives the same bytes. The serial number comes from the commit, the program and the target.
"""

import json
import re
import subprocess
import sys
import tomllib
import uuid
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.lifecycle import LifecyclePhase, PredefinedLifecycle
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

# No program for a terminal or a server may contain a simulator, and the agent no block cipher either (the lap
# `no-decryption`). The front has one, for the messages of nexo.
SIMULATORS = {"pos-sim", "pos-payment-service", "pos-keys"}
CIPHERS = {"aes", "des", "cipher", "aes-gcm", "block-modes", "cbc", "ecb", "openssl", "aws-lc-rs"}
# A bill without these packages is not the agent's.
OF_THE_AGENT = {"ring", "rusqlite", "libsqlite3-sys"}
# The namespace of the serial numbers (RFC 9562, version 5).
SERIAL = uuid.uuid5(uuid.NAMESPACE_URL, "urn:pos-agent:release")


class Fault(Exception):
    """Why a bill cannot be written, or is wrong."""


class Package(NamedTuple):
    """A line of `cargo tree`."""

    name: str
    version: str

    @property
    def ref(self) -> str:
        """The package's name within a bill."""
        return f"{self.name}@{self.version}"


def output_of(*command: str) -> str:
    """Run a command, and return what it prints."""
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise Fault(f"{' '.join(command[:2])}: {ended.stderr.strip()}")
    return ended.stdout


def cargo(verb: str, *arguments: str) -> str:
    """Run cargo, without network and with the versions of Cargo.lock."""
    return output_of("cargo", verb, "--locked", "--offline", *arguments)


@cache
def tree(program: str, target: str, edges: str, prefix: str) -> list[tuple[int, Package]]:
    """Return the lines of `cargo tree`, each with its depth (0 without a prefix)."""
    lines = cargo("tree", "--package", program, "--edges", edges, "--target", target, "--prefix", prefix, "--format", " {p}")
    found = []
    for line in filter(str.strip, lines.splitlines()):
        match = re.match(r"(\d*) (\S+) v(\S+)", line)
        if not match:
            raise Fault(f"cargo tree: {line!r} has no package and version: has its output changed?")
        found.append((int(match[1] or 0), Package(match[2], match[3])))
    return found


def built_in(program: str, target: str) -> set[Package]:
    """Return the packages of a program, without its macros."""
    return {package for _, package in tree(program, target, "normal,no-proc-macro", "none")}


def needed(program: str, target: str) -> dict[Package, set[Package]]:
    """Return all packages of a program, each with the packages that it uses."""
    uses: dict[Package, set[Package]] = defaultdict(set)
    path: list[Package] = []
    for depth, package in tree(program, target, "normal", "depth"):
        del path[depth:]
        if path:
            uses[path[-1]].add(package)
        path.append(package)
        uses.setdefault(package, set())
    return uses


def only(pattern: str, text: str, where: object) -> str:
    """Return the group of a pattern that a text must contain."""
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise Fault(f"{where} contains no {pattern!r}")
    return match[1]


class Writer:
    """Writes the bills of one commit."""

    def __init__(self, commit: str, time: int) -> None:
        """Read Cargo.lock, which has the checksum of each package of the registry."""
        self.commit, self.time = commit, datetime.fromtimestamp(time, UTC)
        lock = tomllib.loads(Path("Cargo.lock").read_text())
        self.checksums = {Package(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
        self.licences = LicenseFactory()
        self.facts: dict[str, dict[Package, dict]] = {}
        self.rust = only(r"^release: (\S+)$", output_of("rustc", "--version", "--verbose"), "rustc --version")
        # The licence file of the packages names the font's version too.
        licences = Path("crates/docs/src/licences.rs")
        self.font = only(r"\bInter (\d+\.\d+)", licences.read_text(), licences)

    def write(self, folder: Path, program: str, architecture: str, target: str) -> Path:
        """Write the bill of a program for a target."""
        facts = self.facts_of(target)
        uses, runs = needed(program, target), built_in(program, target)
        components = {package: self.component(facts[package], package in runs) for package in uses}
        whole = next(package for package in uses if package.name == program)
        root = components.pop(whole)
        root.type, root.scope = ComponentType.APPLICATION, None
        root.properties.add(Property(name="pos-agent:target", value=target))
        root.properties.add(Property(name="pos-agent:commit", value=self.commit))
        root.components.add(self.part("rust-std", self.rust, "MIT OR Apache-2.0", "https://github.com/rust-lang/rust"))
        for package, component in components.items():
            self.with_parts(component, facts[package])
        self.with_parts(root, facts[whole])
        bom = Bom(components=components.values(), serial_number=uuid.uuid5(SERIAL, f"{self.commit} {program} {target}"))
        bom.metadata.component, bom.metadata.timestamp = root, self.time
        bom.metadata.lifecycles.add(PredefinedLifecycle(phase=LifecyclePhase.BUILD))
        bom.metadata.tools.components.add(this_component())
        components[whole] = root
        for package, used in uses.items():
            bom.register_dependency(components[package], [components[one] for one in used])
        file = folder / f"{program}-{whole.version}-{architecture}.cdx.json"
        file.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n")
        return file

    def facts_of(self, target: str) -> dict[Package, dict]:
        """Return what cargo knows of each package for a target."""
        if target not in self.facts:
            packages = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))["packages"]
            self.facts[target] = {Package(one["name"], one["version"]): one for one in packages}
        return self.facts[target]

    def component(self, facts: dict, runs: bool) -> Component:
        """Describe a package of Cargo."""
        package = Package(facts["name"], facts["version"])
        if not facts["license"]:
            raise Fault(f"{package.name} {package.version} names no licence")
        component = Component(
            type=ComponentType.LIBRARY, name=package.name, version=package.version, bom_ref=package.ref,
            scope=ComponentScope.REQUIRED if runs else ComponentScope.EXCLUDED,
            # Some packages still have the form before SPDX: `MIT/Apache-2.0`.
            licenses=[self.licences.make_from_string(re.sub(r"\s*/\s*", " OR ", facts["license"]))],
        )
        # A package of this source is in no registry, so it has no address there.
        if facts["source"]:
            component.purl = PackageURL("cargo", None, *package)
            component.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=self.checksums[package]))
            if facts["repository"]:
                component.external_references.add(
                    ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(facts["repository"])))
        return component

    def with_parts(self, component: Component, facts: dict) -> None:
        """Add the parts of a package that Cargo does not know."""
        if component.name == "libsqlite3-sys":
            header = Path(facts["manifest_path"]).parent / "sqlite3/sqlite3.h"
            version = only(r'^#define SQLITE_VERSION\s+"([\d.]+)"', header.read_text(), header)
            part = self.part("sqlite", version, "blessing", "https://sqlite.org")
            # The name in the public lists of weaknesses.
            part.cpe = f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*"
            component.components.add(part)
        if component.name == "pos-front":
            component.components.add(self.part("inter", self.font, "OFL-1.1", "https://github.com/rsms/inter"))

    def part(self, name: str, version: str, licence: str, site: str) -> Component:
        """Describe a part that Cargo does not know."""
        return Component(
            type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"{name}@{version}",
            purl=PackageURL("generic", None, name, version), licenses=[self.licences.make_from_string(licence)],
            external_references=[ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(site))],
        )


def valid(text: str) -> None:
    """Check a bill against CycloneDX's own schema."""
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        raise Fault(f"not valid against the schema of CycloneDX 1.6: {wrong.data.message} at {wrong.data.json_path}")


def complete(bill: dict, target: str) -> str:
    """Compare a bill with cargo, and say what it contains."""
    root = bill["metadata"]["component"]
    program = root["name"]
    listed = [Package(one["name"], one["version"]) for one in [root, *bill["components"]]]
    real = {package for _, package in tree(program, target, "normal", "none")}
    for fault, packages in (
        ("lists what the program must never contain", {one for one in listed if one.name in never(program)}),
        ("lists twice", {one for one in listed if listed.count(one) > 1}),
        ("leaves out", real - set(listed)),
        ("lists what is not in the program", set(listed) - real),
        ("lists as built in what is not, or the reverse", {
            Package(one["name"], one["version"]) for one in bill["components"] if one["scope"] == "required"
        } ^ (built_in(program, target) - {listed[0]})),
        ("leaves out", {Package(name, "") for name in OF_THE_AGENT - {one.name for one in listed}} if program == "pos-agent" else set()),
    ):
        if packages:
            raise Fault(f"{fault}: {', '.join(sorted(f'{one.name} {one.version}'.strip() for one in packages))}")
    parts = {}
    for one in every([root, *bill["components"]]):
        # A licence that the writer cannot read gets a name of its own, not one of SPDX.
        if not one.get("licenses") or not all("expression" in each or "id" in each["license"] for each in one["licenses"]):
            raise Fault(f"{one['name']} has no licence of SPDX")
        if one.get("purl", "").startswith("pkg:generic/"):
            parts[one["name"]] = one["version"]
        elif one.get("purl") and not one.get("hashes"):
            raise Fault(f"{one['name']} has no checksum")
    if "libsqlite3-sys" in {one.name for one in listed} and "sqlite" not in parts:
        raise Fault("leaves out SQLite itself")
    macros = sum(one["scope"] == "excluded" for one in bill["components"])
    known = ", ".join(f"{name} {version}" for name, version in sorted(parts.items()))
    return f"{len(listed) - macros} packages, {macros} of the compiler's; {known}"


def never(program: str) -> set[str]:
    """Return the packages that a program must never contain."""
    return SIMULATORS | CIPHERS if program == "pos-agent" else SIMULATORS if program != "pos-sandbox" else set()


def every(components: list[dict]) -> list[dict]:
    """Return components and all that are inside them."""
    return [one for outer in components for one in [outer, *every(outer.get("components", []))]]


def check(file_and_target: str) -> str:
    """Check a file, given as FILE:TARGET."""
    file, _, target = file_and_target.rpartition(":")
    try:
        text = Path(file).read_text()
        valid(text)
        return complete(json.loads(text), target)
    except Fault as fault:
        raise Fault(f"{file}: {fault}") from fault


def main() -> None:
    """Write or check."""
    verb, arguments = sys.argv[1], sys.argv[2:]
    try:
        if verb == "write":
            writer = Writer(arguments[1], int(arguments[2]))
            for one in arguments[3:]:
                print(writer.write(Path(arguments[0]), *one.split(":")).name)
        elif verb == "check":
            # The schema's check takes seconds for each file, so it runs on all processors.
            with ProcessPoolExecutor() as pool:
                for one, line in zip(arguments, pool.map(check, arguments), strict=True):
                    print(f"{Path(one).name.partition(':')[0]}: {line}")
        else:
            raise Fault(f"{verb} is not known: write, check")
    except Fault as fault:
        sys.exit(f"sbom.py {verb}: {fault}")


if __name__ == "__main__":
    main()
