"""A till with the unmodified payment module of Odoo's community, without Odoo.

The classes below provide only what `fr_caisse_ap_ip_send_payment` uses. The module does everything else: it writes the
request, opens the connection, reads once and judges the answer. The result goes to standard output as JSON.

  python3 till.py MODULE.py PORT AMOUNT CURRENCY card|check TIMEOUT_MS
"""

import importlib.util
import json
import sys
import types


class Model:
    """Stands in for a model with one record."""

    _inherit = None

    def __init__(self, env):
        self.env = env

    def browse(self, _id):
        return self

    def ensure_one(self):
        return self


class Currency(Model):
    """Stands in for `res.currency`, with two decimals."""

    decimal_places = 2

    def __init__(self, env, name):
        super().__init__(env)
        self.name = name

    def compare_amounts(self, one, other):
        return (round(one, 2) > round(other, 2)) - (round(one, 2) < round(other, 2))


class Environment(dict):
    """Stands in for the environment, without translations."""

    def _(self, text, *values, **named):
        return text % (named or values) if named or values else text


def without_effect(*_arguments, **_named):
    """Stands in for a field, or for a decorator with arguments."""
    return lambda decorated: decorated


def module(path):
    odoo = types.ModuleType("odoo")
    odoo.api = types.SimpleNamespace(constrains=without_effect, model=lambda method: method)
    odoo.fields = types.SimpleNamespace(Selection=without_effect, Char=without_effect, Integer=without_effect)
    odoo.models = types.SimpleNamespace(Model=Model)
    exceptions = types.ModuleType("odoo.exceptions")
    exceptions.ValidationError = type("ValidationError", (Exception,), {})
    sys.modules.update({"odoo": odoo, "odoo.exceptions": exceptions})
    spec = importlib.util.spec_from_file_location("pos_payment_method", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def main():
    path, port, amount, currency, mode, timeout_ms = sys.argv[1:]
    env = Environment()
    env["res.currency"] = Currency(env, currency)
    method = module(path).PosPaymentMethod(env)
    method.fr_caisse_ap_ip_mode = mode
    method.fr_caisse_ap_ip_address = "127.0.0.1"
    method.fr_caisse_ap_ip_port = int(port)
    data = {"amount": float(amount), "currency_id": 1, "payment_method_id": 1, "timeout": int(timeout_ms)}
    print(json.dumps(method.fr_caisse_ap_ip_send_payment(data), ensure_ascii=False))


main()
