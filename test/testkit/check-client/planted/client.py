"""A backend in Python that sells one purchase and has its claim filed. It makes no mistake, and uses the standard library only."""
import json
import os
import time
import urllib.error
import urllib.request
import uuid

with open(os.environ["ROUTING_SANDBOX_FILE"]) as file:
    sandbox = json.load(file)
urls, wallets = sandbox["urls"], sandbox["wallets"]
access = {}


def exchange(method, url, body, headers):
    """Returns the status and the body; a status of 0 if no complete response came."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.loads(refusal.read())
    except Exception:
        return 0, None


def renew():
    url = urls["api"] + "/v1/routing/access"
    answer = send("POST", url, {}, {"Authorization": "Bearer " + sandbox["accounts"][0]["key"]})
    access["Authorization"] = "Bearer " + answer["credential"]


def send(method, url, body=None, headers=None):
    """Sends the identical request until its outcome is known."""
    key = str(uuid.uuid4())
    for _ in range(20):
        status, answer = exchange(method, url, body, headers or {**access, "Idempotency-Key": key})
        if status in (200, 201):
            return answer
        if status == 401 and headers is None:
            renew()
        elif 400 <= status < 500 and status != 429:
            raise RuntimeError(answer["detail"])
        else:
            time.sleep(0.05)
    raise RuntimeError(method + " " + url + " has no outcome")


def rpc(method, *params):
    status, answer = exchange("POST", urls["rpc"], {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, {})
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def act(name, wallet, query=""):
    """Does an action of the purchase's wallet route; the node signs for the test wallets."""
    actions = send("GET", purchase["wallet_url"] + query)["actions"]
    found = next(one for one in actions if one["name"] == name)
    if not found["allowed"]:
        raise RuntimeError(found["why_not"])
    address = wallets[wallet]["address"]
    typed_data = (found.get("sign") or {}).get("typed_data")
    signature = rpc("eth_signTypedData_v4", address, typed_data) if typed_data else None
    transaction = found["transaction"]
    call = {"from": address, "to": transaction["to"], "data": transaction["data"]}
    return rpc("eth_sendTransactionSync", call)["transactionHash"], signature


renew()
merchant = send("POST", urls["control"] + "/given", {"merchant": {"state": "funded"}}, {"Accept": "*/*"})["merchant"]
purchases = urls["api"] + "/v1/routing/programs/" + merchant["program"] + "/purchases"
purchase = send("POST", purchases, {"merchant_id": merchant["id"], "buyer": wallets["buyer"]["address"],
                                    "beneficiary": wallets["beneficiary"]["address"],
                                    "amount": "25000000", "terms": {"sku": "course-42"}})
this = purchases + "/" + purchase["id"]
send("POST", this + "/activate", {"commitment_hash": purchase["commitment"]["hash"]})
act("approve", "buyer")
# A payment counts when a fresh read has it: a reorg can remove one that was reconciled.
while send("GET", this)["figures"]["paid"] != "25000000":
    act("pay", "buyer")
    send("POST", this + "/reconcile", {})
hash, signature = act("claim", "beneficiary", "?amount=10000000&reason=late")
claim = {"transaction_hash": hash, "requested_amount": "10000000", "reason": "late", "signature": signature}
send("POST", this + "/claims", claim)
print(send("GET", this)["status"])
