"""A whole sale: sale.py REFERENCE AMOUNT. Exits with 0 when it is approved."""
import json
import os
import sys
import time
import urllib.error
import urllib.request

AT = os.environ.get("POS_AGENT", "http://127.0.0.1:8650")
with open(os.environ["POS_AGENT_TOKEN_FILE"]) as file:
    TOKEN = file.read().strip()


def ask(path, body=None, accept="application/json"):
    """Sends a request. When the answer is lost, it sends it again: the reference makes both one sale."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": accept}
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(10):
        try:
            request = urllib.request.Request(AT + path, data, headers)
            with urllib.request.urlopen(request, timeout=90) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            problem = json.load(refused)
            if problem["code"] not in ("no-answer", "too-many-requests", "no-place", "timeout", "agent-down"):
                sys.exit(f"refused: {problem['detail']}")
        except OSError as lost:
            print(f"asked again: {lost}", file=sys.stderr)
        time.sleep(1)
    sys.exit("the terminal does not answer: ask for the same reference later")


reference, amount = sys.argv[1:]
sale = json.loads(ask("/v1/sales", {"reference": reference, "amount": amount}))
while sale["state"] != "ended":
    # The text for the cashier. With awaiting-signature: compare it, and post {"accepted":true} or false to …/signature.
    print(sale["text"])
    time.sleep(1)  # a sale that waits for a person is answered at once
    sale = json.loads(ask(f"/v1/sales/{reference}?wait-s=60"))
print(f"{sale['outcome']}: {sale['text']}")
if sale["outcome"] != "approved":
    sys.exit(1)
print(ask(f"/v1/sales/{reference}/receipt?width=32", accept="text/plain"))
