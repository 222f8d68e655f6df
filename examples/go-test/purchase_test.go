package purchase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// TestPurchase takes a purchase from its creation to its refund. Every test has its own lease, so tests can run in parallel.
func TestPurchase(t *testing.T) {
	t.Parallel()
	sandbox := lease(t)
	urls, wallets, contracts := sandbox["urls"].(object), sandbox["wallets"].(object), sandbox["contracts"].(object)
	account, reviewer := sandbox["accounts"].([]any)[0].(object), sandbox["reviewer"].(object)
	buyer, beneficiary := wallets["buyer"].(object)["address"], wallets["beneficiary"].(object)["address"]
	api := urls["api"].(string) + "/v1/routing"
	bearer := func(key any) object { return object{"Authorization": fmt.Sprint("Bearer ", key)} }
	credential := ask(t, "POST", api+"/access", object{}, bearer(account["key"]))["credential"]
	write := func(path string, body object) object {
		headers := bearer(credential)
		headers["Idempotency-Key"] = "test-key" + path
		return ask(t, "POST", fmt.Sprint(api, "/programs/", account["program"], "/purchases", path), body, headers)
	}
	rpc := func(method string, params ...any) any {
		return ask(t, "POST", urls["rpc"].(string), object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, nil)["result"]
	}
	// The node signs for the test wallets, and answers when the transaction is in a block.
	send := func(wallet, to any, data string) any {
		return rpc("eth_sendTransactionSync", object{"from": wallet, "to": to, "data": data}).(object)["transactionHash"]
	}

	given := ask(t, "POST", urls["control"].(string)+"/given", object{"merchant": object{"state": "funded"}}, nil)
	purchase := write("", object{
		"merchant_id": given["merchant"].(object)["id"], "buyer": buyer, "beneficiary": beneficiary,
		"amount": "25000000", "terms": object{"sku": "course-42"},
	})
	commitment, this := purchase["commitment"].(object), "/"+purchase["id"].(string)
	hash, domain := commitment["hash"], commitment["typed_data"].(object)["domain"].(object)
	write(this+"/activate", object{"commitment_hash": hash})
	send(buyer, contracts["token"], Calldata("approve(address,uint256)", contracts["registrar"], "25000000"))
	send(buyer, contracts["registrar"], Calldata("pay(bytes32,uint256)", hash, "25000000"))
	write(this+"/reconcile", object{})

	typedData := ClaimTypedData(domain, object{
		"commitment": hash, "beneficiary": beneficiary, "requestedAmount": "10000000",
		"reasonHash": "0x" + hex.EncodeToString(Keccak([]byte("late"))),
	})
	signature := rpc("eth_signTypedData_v4", beneficiary, typedData)
	claimHash := Digest(typedData)
	transaction := send(beneficiary, contracts["registrar"], Calldata("claim(bytes32,bytes32)", hash, claimHash))
	claim := write(this+"/claims", object{
		"transaction_hash": transaction, "requested_amount": "10000000", "reason": "late", "signature": signature,
	})
	if claim["claim_hash"] != claimHash {
		t.Fatal(claim["claim_hash"], claimHash)
	}

	decision := object{
		"claim_id": claim["id"], "outcome": "approved", "award": "10000000",
		"decided_at": ask(t, "GET", api+"/capabilities", nil, nil)["now"], "reviewer_key_id": reviewer["key_id"],
	}
	signed := object{
		"chain_id": sandbox["chain"].(object)["chain_id"], "claim_hash": claimHash, "program": purchase["program"],
		"purchase": purchase["id"], "commitment_hash": hash,
	}
	for name, value := range decision {
		signed[name] = value
	}
	approval, err := Approve(reviewer["private_key"].(string), signed)
	if err != nil {
		t.Fatal(err)
	}
	decision["approval"] = approval
	decided := write(this+"/decisions", decision)
	refund := write(this+"/refunds", object{"decision_id": decided["id"]})["refund"].(object)
	decisionHash := sha256.Sum256(DecisionBytes(signed))
	expected := Calldata("collectRefund(bytes32,uint256,bytes32)", hash, "10000000", "0x"+hex.EncodeToString(decisionHash[:]))
	sent := rpc("eth_getTransactionByHash", refund["transaction_hash"]).(object)["input"]
	if refund["status"] != "collected" || sent != expected {
		t.Fatal(refund, sent, expected)
	}
	fmt.Println("fingerprint", ask(t, "GET", urls["control"].(string)+"/fingerprint", nil, nil)["digest"])
}
