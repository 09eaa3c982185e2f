"""Webhooks: the public test vector, and the public implementation as a stranger."""

from __future__ import annotations

import base64
import json
import secrets
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from pos_agent_client import InvalidWebhook, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AT = 1614265330
BODY = b'{"test": 2432232314}'
HEADERS = {
    "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(AT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


def test_the_public_test_vector() -> None:
    assert verify_webhook(HEADERS, BODY, SECRET, now=AT) == {"test": 2432232314}
    assert verify_webhook(HEADERS, BODY.decode(), SECRET.removeprefix("whsec_"), now=AT + 300)


@pytest.mark.parametrize(
    "change",
    [
        {"now": AT + 301},
        {"now": AT - 301},
        {"now": None},
        {"body": b'{"test": 2432232315}'},
        {"secret": "whsec_" + base64.b64encode(b"another").decode()},
        {"secret": []},
        {"headers": {}},
        {"headers": HEADERS | {"webhook-timestamp": "soon"}},
        {"headers": HEADERS | {"webhook-timestamp": "-5"}},
        {"headers": HEADERS | {"Webhook-Id": "msg_other"}},
        {"headers": HEADERS | {"webhook-signature": "v2,g0hM9SsE+OTPJTt/tmKtSyEUKJVU0Y/3hvtZr6jzR/w="}},
        {"headers": HEADERS | {"webhook-signature": "v1,g0hM9SsE v1, , v1,ä"}},
    ],
)
def test_what_is_wrong_is_refused(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"headers": HEADERS, "body": BODY, "secret": SECRET, "now": AT} | change
    with pytest.raises(InvalidWebhook):
        verify_webhook(**given)


def test_secrets_and_signatures_may_be_several() -> None:
    other = "whsec_" + base64.b64encode(b"new").decode()
    headers = HEADERS | {"webhook-signature": "v1a,xx v1,AAAA " + HEADERS["webhook-signature"]}
    assert verify_webhook(headers, BODY, [other, SECRET], now=AT)


def test_a_wrong_secret_is_not_in_the_error() -> None:
    with pytest.raises(ValueError, match="is whsec_ and base64") as error:
        verify_webhook(HEADERS, BODY, "whsec_not base64", now=AT)
    assert error.value.__suppress_context__
    assert "not base64" not in str(error.value)


def test_the_public_implementation_agrees() -> None:
    secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    stranger, now = Webhook(secret), datetime.now(UTC)
    body = json.dumps({"type": "ended", "timestamp": "2026-11-20T10:00:00Z", "data": {"text": "ä"}})
    headers = {
        "webhook-id": "1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": stranger.sign("1", now, body),
    }
    assert verify_webhook(headers, body.encode(), secret) == stranger.verify(body, headers)


def test_a_test_of_the_terminal_is_a_message_like_any_other() -> None:
    body = json.dumps({"type": "test", "timestamp": "2021-02-22T20:25:30Z", "data": {"webhook": "books"}})
    signature = Webhook(SECRET).sign("test_1", datetime.fromtimestamp(AT, UTC), body)
    headers = HEADERS | {"Webhook-Id": "test_1", "webhook-signature": signature}
    content = verify_webhook(headers, body, SECRET, now=AT)
    assert (content["type"], content["data"]) == ("test", {"webhook": "books"})
