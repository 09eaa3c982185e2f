"""Which servers are trusted: one CA and no other, or the system's CAs if none is named."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from .errors import WrongCertificate

Ca: TypeAlias = str | bytes | os.PathLike[str] | ssl.SSLContext
"""A CA certificate: PEM text, the path of a PEM file, or a context that trusts it."""
_PATH = re.compile(r"/?|/terminals/[a-z0-9-]{1,64}/?")
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def pem_of(ca: str | bytes | os.PathLike[str]) -> str:
    """Returns the PEM text of a CA."""
    if isinstance(ca, bytes):
        return ca.decode("ascii")
    return ca if isinstance(ca, str) and "-----BEGIN" in ca else Path(ca).read_text("ascii")


def trusting(ca: Ca | None) -> ssl.SSLContext:
    """Returns a context that trusts only this CA."""
    if ca is None:
        return ssl.create_default_context()
    if isinstance(ca, ssl.SSLContext):
        return ca
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(cadata=pem_of(ca))
    return context


def trusting_nobody_yet() -> ssl.SSLContext:
    """Returns a context without verification, which is only for the download of the CA itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def checked_url(url: str) -> str:
    """Returns the terminal's address. Without TLS, only loopback is accepted.

    It has no path, or that of a terminal at the server of a fleet: `https://fleet.example.org:8885/terminals/shop-17-1`.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError("url: must be like https://kasse.local:8443")
    if not _PATH.fullmatch(parts.path) or parts.query or parts.fragment:
        raise ValueError("url: must be like https://kasse.local:8443")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("url: http is only for a terminal on the same computer; use https")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def fingerprint_of(pem: str) -> str:
    """Returns the SHA-256 fingerprint of the one certificate in `pem`, as `pos-front certificate` prints it."""
    found = _CERTIFICATE.findall(pem)
    if len(found) != 1:
        raise WrongCertificate("the terminal must send exactly one CA certificate")
    try:
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(found[0])).hexdigest().upper()
    except ValueError:
        raise WrongCertificate("the terminal's CA certificate cannot be read") from None
    return ":".join(digest[at : at + 2] for at in range(0, 64, 2))


def is_fingerprint(pem: str, wanted: str) -> bool:
    """Returns whether this is the certificate's fingerprint. Case, colons and spaces do not count."""
    plain = re.sub(r"[\s:]", "", wanted).upper()
    return hmac.compare_digest(fingerprint_of(pem).replace(":", "").encode(), plain.encode())
