"""A purchase from its creation to its refund. Every test has its own lease, so tests can run in parallel."""
import hashlib

from conftest import request
from messages import approve, calldata, claim_typed_data, decision_bytes, digest, keccak


def test_a_purchase_is_refunded(sandbox):
    buyer, beneficiary = (sandbox.wallets[name]["address"] for name in ("buyer", "beneficiary"))
    token, registrar = sandbox.contracts["token"], sandbox.contracts["registrar"]
    reviewer = sandbox.reviewer

    def send(wallet, to, data):
        """Sends a transaction; the node signs for the test wallets, and answers when it is in a block."""
        return sandbox.rpc("eth_sendTransactionSync", {"from": wallet, "to": to, "data": data})["transactionHash"]

    merchant = request("POST", sandbox.urls["control"] + "/given", {"merchant": {"state": "funded"}})["merchant"]
    purchase = sandbox.write("", {"merchant_id": merchant["id"], "buyer": buyer, "beneficiary": beneficiary,
                                  "amount": "25000000", "terms": {"sku": "course-42"}})
    commitment, this = purchase["commitment"], "/" + purchase["id"]
    assert digest(commitment["typed_data"]) == commitment["hash"]

    sandbox.write(this + "/activate", {"commitment_hash": commitment["hash"]})
    send(buyer, token, calldata("approve(address,uint256)", registrar, 25_000_000))
    send(buyer, registrar, calldata("pay(bytes32,uint256)", commitment["hash"], 25_000_000))
    assert sandbox.write(this + "/reconcile", {})["purchase"]["payment_status"] == "paid"

    typed_data = claim_typed_data(commitment["typed_data"]["domain"], {
        "commitment": commitment["hash"], "beneficiary": beneficiary, "requestedAmount": "10000000",
        "reasonHash": "0x" + keccak(b"late").hex()})
    signature = sandbox.rpc("eth_signTypedData_v4", beneficiary, typed_data)
    hash_of_claim = digest(typed_data)
    transaction = send(beneficiary, registrar, calldata("claim(bytes32,bytes32)", commitment["hash"], hash_of_claim))
    claim = sandbox.write(this + "/claims", {"transaction_hash": transaction, "requested_amount": "10000000",
                                             "reason": "late", "signature": signature})
    assert claim["claim_hash"] == hash_of_claim

    decision = {"claim_id": claim["id"], "outcome": "approved", "award": "10000000",
                "decided_at": request("GET", sandbox.api + "/capabilities")["now"], "reviewer_key_id": reviewer["key_id"]}
    signed = {**decision, "chain_id": sandbox.chain["chain_id"], "claim_hash": hash_of_claim,
              "program": purchase["program"], "purchase": purchase["id"], "commitment_hash": commitment["hash"]}
    decided = sandbox.write(this + "/decisions", {**decision, "approval": approve(reviewer["private_key"], signed)})
    refund = sandbox.write(this + "/refunds", {"decision_id": decided["id"]})["refund"]
    assert refund["status"] == "collected"
    sent = sandbox.rpc("eth_getTransactionByHash", refund["transaction_hash"])["input"]
    hash_of_decision = "0x" + hashlib.sha256(decision_bytes(signed)).hexdigest()
    signature = "collectRefund(bytes32,uint256,bytes32)"
    assert sent == calldata(signature, commitment["hash"], 10_000_000, hash_of_decision)
    print("fingerprint", request("GET", sandbox.urls["control"] + "/fingerprint")["digest"])
