package purchase

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

type call struct {
	Signature, Data string
	Args            object
}

var vectors struct {
	TypedData map[string]struct {
		TypedData         TypedData `json:"typed_data"`
		Digest, Signature string
	} `json:"typed_data"`
	Ids      map[string]string
	Calldata map[string]call
	Decision struct {
		Value           object
		Bytes, Approval string
		PrivateKey      string `json:"private_key"`
	}
}

// TestMain reads the vectors of the package.
func TestMain(m *testing.M) {
	file := os.Getenv("ROUTING_VECTORS")
	if file == "" {
		file = "node_modules/routing-sandbox/docs/vectors.json"
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestTypedData(t *testing.T) {
	for name, vector := range vectors.TypedData {
		if digest := Digest(vector.TypedData); digest != vector.Digest {
			t.Error(name, digest, vector.Digest)
		}
	}
	claim := vectors.TypedData["claim"].TypedData
	if made := ClaimTypedData(claim.Domain, claim.Message); !reflect.DeepEqual(made, claim) {
		t.Error(made, claim)
	}
}

func TestCalldata(t *testing.T) {
	// JSON objects have no order in Go: the members of a struct are in the order of its EIP-712 type.
	order := map[string][]string{
		"approve": {"spender", "value"}, "pay": {"id", "amount"}, "claim": {"id", "claimHash"},
		"collectRefund": {"id", "award", "decisionHash"}, "expire": {"id"}, "withdrawOffer": {"id"},
	}
	for name, members := range order {
		vector, values := vectors.Calldata[name], []any{}
		for _, member := range members {
			values = append(values, vector.Args[member])
		}
		if data := Calldata(vector.Signature, values...); data != vector.Data {
			t.Error(name, data, vector.Data)
		}
	}
	for name, message := range map[string]string{"offer": "commitment", "register": "commitment", "enroll": "funding_authorization"} {
		typedData, values := vectors.TypedData[message], []any{}
		for _, field := range typedData.TypedData.Types[typedData.TypedData.PrimaryType] {
			values = append(values, typedData.TypedData.Message[field.Name])
		}
		signature, err := hex.DecodeString(strings.TrimPrefix(typedData.Signature, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		if data := Calldata(vectors.Calldata[name].Signature, append(values, signature)...); data != vectors.Calldata[name].Data {
			t.Error(name, data)
		}
	}
}

func TestHashes(t *testing.T) {
	for id, hash := range vectors.Ids {
		if made := "0x" + hex.EncodeToString(Keccak([]byte(id))); made != hash {
			t.Error(id, made, hash)
		}
	}
}

func TestDecision(t *testing.T) {
	decision := vectors.Decision
	if text := string(DecisionBytes(decision.Value)); text != decision.Bytes {
		t.Error(text, decision.Bytes)
	}
	if approval, err := Approve(decision.PrivateKey, decision.Value); err != nil || approval != decision.Approval {
		t.Error(approval, err)
	}
}
