import base64
import json
import os
import urllib.error
import urllib.request
import uuid

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

with open(os.environ.get("ROUTING_SANDBOX_FILE", ".sandbox/sandbox.json")) as file:
    sandbox = json.load(file)
urls, wallets = sandbox["urls"], sandbox["wallets"]


def post(url, body, headers=None):
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        raise RuntimeError(json.load(refusal)["detail"]) from None


def rpc(method, *params):
    answer = post(urls["rpc"], {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def write(path, body):
    return post(purchases + path, body, {**access, "Idempotency-Key": str(uuid.uuid4())})


def action(name, wallet, query=""):
    """Does an action of the purchase's wallet route."""
    with urllib.request.urlopen(purchase["wallet_url"] + query) as answer:
        found = next(one for one in json.load(answer)["actions"] if one["name"] == name)
    if not found["allowed"]:
        raise RuntimeError(found["why_not"])
    address = wallets[wallet]["address"]
    call = {"from": address, "to": found["transaction"]["to"], "data": found["transaction"]["data"]}
    typed_data = (found.get("sign") or {}).get("typed_data")
    signature = rpc("eth_signTypedData_v4", address, typed_data) if typed_data else None
    return rpc("eth_sendTransactionSync", call)["transactionHash"], signature


key = {"Authorization": "Bearer " + sandbox["accounts"][0]["key"]}
access = {"Authorization": "Bearer " + post(urls["api"] + "/v1/routing/access", {}, key)["credential"]}
given = post(urls["control"] + "/given", {"merchant": {"state": "funded"}})
purchases = urls["api"] + "/v1/routing/programs/" + given["merchant"]["program"] + "/purchases"

purchase = write("", {"merchant_id": given["merchant"]["id"], "buyer": wallets["buyer"]["address"],
                      "beneficiary": wallets["beneficiary"]["address"],
                      "amount": "25000000", "terms": {"sku": "course-42"}})
this = "/" + purchase["id"]
write(this + "/activate", {"commitment_hash": purchase["commitment"]["hash"]})
action("approve", "buyer")
action("pay", "buyer")
write(this + "/reconcile", {})
transaction, signature = action("claim", "beneficiary", "?amount=10000000&reason=late")
claim = write(this + "/claims", {"transaction_hash": transaction, "requested_amount": "10000000",
                                 "reason": "late", "signature": signature})

with urllib.request.urlopen(urls["api"] + "/v1/routing/capabilities") as answer:
    now = json.load(answer)["now"]
reviewer = sandbox["reviewer"]
decision = {"claim_id": claim["id"], "outcome": "approved", "award": "10000000", "decided_at": now,
            "reviewer_key_id": reviewer["key_id"]}
signed = {**decision, "chain_id": sandbox["chain"]["chain_id"], "claim_hash": claim["claim_hash"], "program": purchase["program"],
          "purchase": purchase["id"], "commitment_hash": purchase["commitment"]["hash"]}
text = json.dumps(signed, sort_keys=True, separators=(",", ":"))  # RFC 8785, for strings and integers
approval = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(reviewer["private_key"])).sign(
    b"routing-sandbox/decision/v1\n" + text.encode())
decided = write(this + "/decisions", {**decision, "approval": base64.urlsafe_b64encode(approval).rstrip(b"=").decode()})
refund = write(this + "/refunds", {"decision_id": decided["id"]})["refund"]
print(refund["status"], refund["transaction_hash"])
