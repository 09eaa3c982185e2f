"""The check of a webhook that the front sends (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

TOLERANCE_S = 300
"""How far the time of a webhook may be from now, in seconds."""


class InvalidWebhook(Exception):
    """The webhook is not from this terminal, or it is too old."""


def verify_webhook(
    headers: Mapping[str, str], body: bytes | str, secret: str | Iterable[str], *, now: float | None = None
) -> dict[str, Any]:
    """Returns the content of a webhook if its signature and time are right. Otherwise it raises `InvalidWebhook`.

    `body` is the body as it arrived. While secrets are exchanged, `secret` may be several. Ignore a `webhook-id` that
    was received before.
    """
    given = {name.lower(): value for name, value in headers.items()}
    name, at, signatures = (given.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
    body = body.encode() if isinstance(body, str) else body
    if not (name and signatures and at.isascii() and at.isdigit() and len(at) < 20):
        raise InvalidWebhook("a header is missing or unreadable")
    signed = f"{name}.{at}.".encode() + body
    secrets = [secret] if isinstance(secret, str) else list(secret)
    wanted = [hmac.new(_key(one), signed, hashlib.sha256).digest() for one in secrets]
    # Every pair is compared, so the time says nothing.
    matches = [hmac.compare_digest(one, two) for one in wanted for two in _signatures(signatures)]
    if not any(matches):
        raise InvalidWebhook("no signature matches")
    if abs((time.time() if now is None else now) - int(at)) > TOLERANCE_S:
        raise InvalidWebhook("the time is too far from now")
    try:
        content = json.loads(body)
    except ValueError:
        raise InvalidWebhook("the body is not JSON") from None
    if not isinstance(content, dict):
        raise InvalidWebhook("the body is not an object")
    return content


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except binascii.Error:
        # The error itself would have the secret in its traceback.
        raise ValueError("a webhook secret is whsec_ and base64") from None


def _signatures(header: str) -> list[bytes]:
    found = []
    for one in header.split():
        version, _, text = one.partition(",")
        try:
            found += [base64.b64decode(text, validate=True)] if version == "v1" else []
        except ValueError:
            continue
    return found
