// Package purchase makes typed data, calldata and decisions with the standard library only.
package purchase

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/bits"
	"strings"
)

// Field is a member of an EIP-712 type.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// TypedData is EIP-712 typed data whose members have no nested types.
type TypedData struct {
	Domain      map[string]any     `json:"domain"`
	Types       map[string][]Field `json:"types"`
	PrimaryType string             `json:"primaryType"`
	Message     map[string]any     `json:"message"`
}

// Digest returns the EIP-712 digest of typed data.
func Digest(data TypedData) string {
	domain := data.hashStruct("EIP712Domain", data.Domain)
	message := data.hashStruct(data.PrimaryType, data.Message)
	return "0x" + hex.EncodeToString(Keccak([]byte{0x19, 1}, domain, message))
}

func (data TypedData) hashStruct(name string, values map[string]any) []byte {
	var fields []string
	var encoded []byte
	for _, field := range data.Types[name] {
		fields = append(fields, field.Type+" "+field.Name)
		if field.Type == "string" {
			encoded = append(encoded, Keccak([]byte(values[field.Name].(string)))...)
		} else {
			encoded = append(encoded, word(values[field.Name])...)
		}
	}
	return Keccak(Keccak([]byte(name+"("+strings.Join(fields, ",")+")")), encoded)
}

// ClaimTypedData returns what the beneficiary signs.
func ClaimTypedData(domain, message map[string]any) TypedData {
	return TypedData{
		Domain: domain,
		Types: map[string][]Field{
			"EIP712Domain": {{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}},
			"Claim":        {{"commitment", "bytes32"}, {"beneficiary", "address"}, {"requestedAmount", "uint256"}, {"reasonHash", "bytes32"}},
		},
		PrimaryType: "Claim",
		Message:     message,
	}
}

// Calldata encodes a call: a value is "0x…" of at most 32 bytes, a decimal text, or, for the argument of type bytes that ends a call, []byte.
func Calldata(signature string, values ...any) string {
	data := Keccak([]byte(signature))[:4]
	var tail []byte
	for _, value := range values {
		if long, ok := value.([]byte); ok {
			padding := make([]byte, (32-len(long)%32)%32)
			tail = append(append(word(fmt.Sprint(len(long))), long...), padding...)
			value = fmt.Sprint(32 * len(values))
		}
		data = append(data, word(value)...)
	}
	return "0x" + hex.EncodeToString(append(data, tail...))
}

// word returns 32 bytes of an address, a hash or an integer.
func word(value any) []byte {
	number, ok := new(big.Int).SetString(fmt.Sprint(value), 0)
	if !ok {
		panic(fmt.Sprint("no word: ", value))
	}
	return number.FillBytes(make([]byte, 32))
}

// DecisionBytes returns what a reviewer signs: RFC 8785, which for strings without control characters and for integers is sorted JSON.
func DecisionBytes(decision map[string]any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decision); err != nil {
		panic(err)
	}
	return append([]byte("routing-sandbox/decision/v1\n"), bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

// Approve signs a decision with the reviewer's 32-byte seed in hex.
func Approve(seed string, decision map[string]any) (string, error) {
	key, err := hex.DecodeString(seed)
	if err != nil {
		return "", err
	}
	signature := ed25519.Sign(ed25519.NewKeyFromSeed(key), DecisionBytes(decision))
	return base64.RawURLEncoding.EncodeToString(signature), nil
}

// Keccak returns keccak256 with the padding that Ethereum uses; SHA3-256 pads differently.
func Keccak(parts ...[]byte) []byte {
	const rate = 136
	data := append(bytes.Join(parts, nil), 1)
	data = append(data, make([]byte, (rate-len(data)%rate)%rate)...)
	data[len(data)-1] ^= 0x80
	var state [25]uint64
	for ; len(data) > 0; data = data[rate:] {
		for i := 0; i < rate/8; i++ {
			state[i] ^= binary.LittleEndian.Uint64(data[8*i:])
		}
		permute(&state)
	}
	hash := make([]byte, 32)
	for i := range hash {
		hash[i] = byte(state[i/8] >> (8 * (i % 8)))
	}
	return hash
}

func permute(a *[25]uint64) {
	lfsr := 1
	for round := 0; round < 24; round++ {
		var parity [5]uint64
		for i, lane := range a {
			parity[i%5] ^= lane
		}
		for i := range a {
			a[i] ^= parity[(i+4)%5] ^ bits.RotateLeft64(parity[(i+1)%5], 1)
		}
		x, y, current := 1, 0, a[1]
		for step := 0; step < 24; step++ {
			x, y = y, (2*x+3*y)%5
			a[x+5*y], current = bits.RotateLeft64(current, (step+1)*(step+2)/2), a[x+5*y]
		}
		before := *a
		for i := range a {
			row := i - i%5
			a[i] ^= ^before[row+(i+1)%5] & before[row+(i+2)%5]
		}
		for bit := 0; bit < 7; bit++ {
			a[0] ^= uint64(lfsr&1) << (1<<bit - 1)
			lfsr = lfsr<<1 ^ lfsr>>7*0x171
		}
	}
}
