"""A till made of nothing but the client that openapi-python-client generates.

It pairs, takes a sale, follows it by events and reads its receipt. Argument: the file with the sandbox's line of JSON.
"""

import json
import sys
import urllib.request
from pathlib import Path

from pos_agent_and_pos_front_client import AuthenticatedClient, Client
from pos_agent_and_pos_front_client.api.front import ask_for_pairing, take_token
from pos_agent_and_pos_front_client.api.sales import begin_sale, receipt, show_sale
from pos_agent_and_pos_front_client.models import (
    Event,
    PairedTill,
    PairingCode,
    PairingName,
    PairingRequest,
    Problem,
    Receipt,
    Sale,
)
from pos_agent_and_pos_front_client.models.begin_sale_body import BeginSaleBody

SHOP = json.loads(Path(sys.argv[1]).read_text())


def person(body: object = None) -> dict:
    """Act as the person at the terminal."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{SHOP['simulator']}/simulator/pairing", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def main() -> None:
    """Pair, sell, listen, and read."""
    person({"open": True})
    with Client(SHOP["http"]) as stranger:
        asked = ask_for_pairing.sync(client=stranger, body=PairingName(name="till-4"))
        assert isinstance(asked, PairingRequest), asked
        code = next(one["code"] for one in person()["waiting"] if one["name"] == "till-4")
        person({"approve": code})
        paired = take_token.sync(asked.request, client=stranger, body=PairingCode(code=code))
        assert isinstance(paired, PairedTill), paired
    with AuthenticatedClient(SHOP["http"], paired.token) as till:
        steps = []
        # The generated functions read whole answers, so the stream is read with the generated client's own connection.
        with till.get_httpx_client().stream("GET", "/v1/events", timeout=30) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith(":")
            begun = begin_sale.sync(client=till, body=BeginSaleBody.from_dict({"reference": "generated-py", "amount": "12.34"}))
            assert isinstance(begun, Sale), begun
            for line in lines:
                if not line.startswith("data:"):
                    continue
                event = Event.from_dict(json.loads(line.removeprefix("data:")))
                if event.reference == "generated-py":
                    steps.append(event.step)
                    if event.step == "ended":
                        break
        sale = show_sale.sync("generated-py", client=till)
        assert isinstance(sale, Sale), sale
        assert str(sale.outcome) == "approved", sale
        paper = receipt.sync("generated-py", client=till)
        assert isinstance(paper, Receipt), paper
        assert len(paper.rows) > 5, paper
        missing = show_sale.sync("nowhere", client=till)
        assert isinstance(missing, Problem), missing
        assert missing.code == "no-such-sale", missing
    print("openapi-python-client:", *steps)


main()
