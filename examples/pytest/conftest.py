"""Leases a reset sandbox from `routing-sandbox pool` for each test, in the fixture `sandbox`."""
import json
import os
import urllib.error
import urllib.request

import pytest


def request(method, url, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as refusal:
        raise AssertionError(json.load(refusal)["detail"]) from None


class Sandbox:
    def __init__(self, description):
        vars(self).update(description)
        account, self.api = self.accounts[0], self.urls["api"] + "/v1/routing"
        access = request("POST", self.api + "/access", {}, Authorization="Bearer " + account["key"])
        self.purchases = f"{self.api}/programs/{account['program']}/purchases"
        self.headers = {"Authorization": "Bearer " + access["credential"]}

    def write(self, path, body):
        return request("POST", self.purchases + path, body, **self.headers, **{"Idempotency-Key": "test-key" + path})

    def rpc(self, method, *params):
        return request("POST", self.urls["rpc"], {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]


@pytest.fixture
def sandbox():
    leases = os.environ.get("ROUTING_POOL_URL", "http://127.0.0.1:4030") + "/leases"
    lease = request("POST", leases, {"seconds": 300})
    yield Sandbox(lease["sandbox"])
    request("DELETE", leases + "/" + lease["id"])
