package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type object = map[string]any

var sandbox struct {
	Urls     struct{ Api, Control, Rpc string }
	Accounts []struct{ Key string }
	Wallets  map[string]struct{ Address string }
	Reviewer struct {
		KeyID      string `json:"key_id"`
		PrivateKey string `json:"private_key"`
	}
}
var credential, purchases string

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func send(method, url string, body any, headers object) object {
	request := must(http.NewRequest(method, url, bytes.NewReader(must(json.Marshal(body)))))
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value.(string))
	}
	answer := must(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	var result object
	must(0, json.NewDecoder(answer.Body).Decode(&result))
	if answer.StatusCode >= 300 || result["error"] != nil {
		panic(fmt.Sprint(url, " answered ", answer.Status, " ", result))
	}
	return result
}

func rpc(method string, params ...any) any {
	call := object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	return send("POST", sandbox.Urls.Rpc, call, nil)["result"]
}

func write(path string, body object) object {
	key := fmt.Sprintf("go-%d", time.Now().UnixNano())
	return send("POST", purchases+path, body, object{"Authorization": "Bearer " + credential, "Idempotency-Key": key})
}

// act does an action of the purchase's wallet route.
func act(purchase object, name, wallet, query string) (transaction, signature string) {
	address := sandbox.Wallets[wallet].Address
	for _, one := range send("GET", purchase["wallet_url"].(string)+query, nil, nil)["actions"].([]any) {
		action := one.(object)
		if action["name"] != name {
			continue
		}
		if action["allowed"] != true {
			panic(action["why_not"])
		}
		if sign, ok := action["sign"].(object); ok {
			signature = rpc("eth_signTypedData_v4", address, sign["typed_data"]).(string)
		}
		call := action["transaction"].(object)
		receipt := rpc("eth_sendTransactionSync", object{"from": address, "to": call["to"], "data": call["data"]})
		return receipt.(object)["transactionHash"].(string), signature
	}
	panic("no action " + name)
}

func main() {
	file := os.Getenv("ROUTING_SANDBOX_FILE")
	if file == "" {
		file = ".sandbox/sandbox.json"
	}
	must(0, json.Unmarshal(must(os.ReadFile(file)), &sandbox))
	api := sandbox.Urls.Api + "/v1/routing"
	account := object{"Authorization": "Bearer " + sandbox.Accounts[0].Key}
	credential = send("POST", api+"/access", object{}, account)["credential"].(string)
	given := send("POST", sandbox.Urls.Control+"/given", object{"merchant": object{"state": "funded"}}, nil)
	merchant := given["merchant"].(object)
	purchases = fmt.Sprint(api, "/programs/", merchant["program"], "/purchases")

	purchase := write("", object{
		"merchant_id": merchant["id"], "buyer": sandbox.Wallets["buyer"].Address,
		"beneficiary": sandbox.Wallets["beneficiary"].Address, "amount": "25000000", "terms": object{"sku": "course-42"},
	})
	this := "/" + purchase["id"].(string)
	commitment := purchase["commitment"].(object)["hash"]
	write(this+"/activate", object{"commitment_hash": commitment})
	act(purchase, "approve", "buyer", "")
	act(purchase, "pay", "buyer", "")
	write(this+"/reconcile", object{})
	transaction, signature := act(purchase, "claim", "beneficiary", "?amount=10000000&reason=late")
	claim := write(this+"/claims", object{
		"transaction_hash": transaction, "requested_amount": "10000000", "reason": "late", "signature": signature,
	})

	capabilities := send("GET", api+"/capabilities", nil, nil)
	decision := object{
		"claim_id": claim["id"], "outcome": "approved", "award": "10000000", "decided_at": capabilities["now"],
		"reviewer_key_id": sandbox.Reviewer.KeyID,
	}
	signed := object{
		"chain_id": capabilities["chain"].(object)["chain_id"],
		"claim_hash": claim["claim_hash"], "program": purchase["program"],
		"purchase": purchase["id"], "commitment_hash": commitment,
	}
	for name, value := range decision {
		signed[name] = value
	}
	// encoding/json writes the RFC 8785 form (sorted names, no spaces) of integers and of strings without <, > and &.
	text := append([]byte("routing-sandbox/decision/v1\n"), must(json.Marshal(signed))...)
	key := ed25519.NewKeyFromSeed(must(hex.DecodeString(sandbox.Reviewer.PrivateKey)))
	decision["approval"] = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, text))
	decided := write(this+"/decisions", decision)
	refund := write(this+"/refunds", object{"decision_id": decided["id"]})["refund"].(object)
	fmt.Println(refund["status"], refund["transaction_hash"])
}
