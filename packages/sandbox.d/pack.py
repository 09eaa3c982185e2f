"""Packs the sandbox: pack.py PROGRAM amd64|arm64 VERSION OUT writes a wheel and two npm packages.

The same program gives the same bytes: the packages contain no time and no owner.
"""

import base64
import gzip
import hashlib
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
# The program contains its C library, so it runs beside any other.
WHEEL_TAGS = {"amd64": "manylinux2014_x86_64.musllinux_1_1_x86_64", "arm64": "manylinux2014_aarch64.musllinux_1_1_aarch64"}
NODE = {"amd64": "x64", "arm64": "arm64"}
SUMMARY = "A payment terminal for developers: the real programs with simulated devices, in one file"
LICENCE = "MIT OR Apache-2.0"
# The earliest time that a zip file can hold.
TIME = (1980, 1, 1, 0, 0, 0)


def wheel(program: bytes, architecture: str, version: str, out: Path) -> Path:
    """Write the wheel (PEP 427)."""
    tags = WHEEL_TAGS[architecture]
    info = f"pos_sandbox-{version}.dist-info"
    files = {f"pos_sandbox/{file.name}": file.read_bytes() for file in sorted((HERE / "pypi/pos_sandbox").glob("*.py*")) if file.is_file()}
    files["pos_sandbox/pos-sandbox"] = program
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: pos-sandbox\nVersion: {version}\nSummary: {SUMMARY}\n"
        f"License: {LICENCE}\nRequires-Python: >=3.11\n"
    ).encode()
    lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: pos-sandbox\nRoot-Is-Purelib: false\n{lines}".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\npos-sandbox = pos_sandbox.__main__:main\n"
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    file = out / f"pos_sandbox-{version}-py3-none-{tags}.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("/pos-sandbox") else 0o100644) << 16
            archive.writestr(entry, content)
    return file


def npm(file: Path, package: dict[str, object], files: dict[str, bytes]) -> Path:
    """Write an npm package."""
    files = {"package.json": json.dumps(package, indent=2).encode() + b"\n", **files}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            entry.mode = 0o755 if name in ("pos-sandbox", "pos-sandbox.js") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    with file.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as compressed:
        compressed.write(packed.getvalue())
    return file


def main() -> None:
    """Write all packages of one architecture."""
    program_file, architecture, version, out = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    program = program_file.read_bytes()
    common: dict[str, object] = {"version": version, "description": SUMMARY, "license": LICENCE}
    platform = f"pos-sandbox-linux-{NODE[architecture]}"
    own = {"name": platform, **common, "os": ["linux"], "cpu": [NODE[architecture]],
           "exports": {"./pos-sandbox": "./pos-sandbox"}, "files": ["pos-sandbox"]}
    every = {"name": "pos-sandbox", **common, "type": "module", "bin": {"pos-sandbox": "pos-sandbox.js"},
             "exports": "./pos-sandbox.js", "files": ["pos-sandbox.js"], "engines": {"node": ">=20.11"},
             "optionalDependencies": {f"pos-sandbox-linux-{cpu}": version for cpu in NODE.values()}}
    starter = (HERE / "npm/pos-sandbox.js").read_bytes()
    for file in (
        wheel(program, architecture, version, out),
        npm(out / f"{platform}-{version}.tgz", own, {"pos-sandbox": program}),
        npm(out / f"pos-sandbox-{version}.tgz", every, {"pos-sandbox.js": starter}),
    ):
        print(f"{file.name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
