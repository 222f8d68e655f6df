"""Typed data, calldata and decisions, made with Python's standard library and `cryptography`."""
import base64
import json
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MASK = 2**64 - 1


def keccak(data):
    """keccak256 with the padding that Ethereum uses; hashlib's sha3_256 pads differently."""
    data = bytearray(data + b"\x01" + bytes(135 - len(data) % 136))
    data[-1] ^= 0x80
    lanes = [0] * 25
    for start in range(0, len(data), 136):
        for i in range(17):
            lanes[i] ^= int.from_bytes(data[start + 8 * i:start + 8 * i + 8], "little")
        lanes = permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def permute(a):
    lfsr = 1
    for _ in range(24):
        parity = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        a = [a[i] ^ parity[(i + 4) % 5] ^ rotate(parity[(i + 1) % 5], 1) for i in range(25)]
        x, y, current = 1, 0, a[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            a[x + 5 * y], current = rotate(current, (step + 1) * (step + 2) // 2), a[x + 5 * y]
        a = [a[i] ^ ~a[i - i % 5 + (i + 1) % 5] & a[i - i % 5 + (i + 2) % 5] & MASK for i in range(25)]
        for bit in range(7):
            a[0] ^= (lfsr & 1) << (2**bit - 1)
            lfsr = lfsr << 1 ^ (0x171 if lfsr & 0x80 else 0)
    return a


def rotate(lane, count):
    return (lane << count % 64 | lane >> -count % 64) & MASK


def hex_bytes(text):
    return bytes.fromhex(text.removeprefix("0x"))


def word(kind, value):
    """32 bytes of a value that has no length: an address, bytes32, an integer or a bool."""
    if kind == "bytes32":
        return hex_bytes(value)
    return (int(value, 16) if kind == "address" else int(value)).to_bytes(32, "big")


def digest(typed_data):
    """The EIP-712 digest of typed data whose members have no nested types."""
    types = typed_data["types"]

    def struct(name, values):
        fields = types[name]
        text = name + "(" + ",".join(f"{field['type']} {field['name']}" for field in fields) + ")"
        encoded = [keccak(values[field["name"]].encode()) if field["type"] == "string"
                   else word(field["type"], values[field["name"]]) for field in fields]
        return keccak(keccak(text.encode()) + b"".join(encoded))

    domain = struct("EIP712Domain", typed_data["domain"])
    message = struct(typed_data["primaryType"], typed_data["message"])
    return "0x" + keccak(b"\x19\x01" + domain + message).hex()


def split(types):
    """Splits "(a,b),c[]" at the commas outside of parentheses."""
    return re.findall(r"(?:\([^)]*\)|\w+)(?:\[\])?", types)


def encode(types, values):
    """The ABI encoding of values; a struct is a list in the order of its members."""
    heads, tails = [], []
    for kind, value in zip(types, values):
        tail = None
        if kind == "bytes":
            data = hex_bytes(value)
            tail = word("uint256", len(data)) + data + bytes(-len(data) % 32)
        elif kind.endswith("[]"):
            tail = word("uint256", len(value)) + encode([kind[:-2]] * len(value), value)
        elif kind.startswith("("):
            heads.append(encode(split(kind[1:-1]), value))
        else:
            heads.append(word(kind, value))
        if tail is not None:
            heads.append(None)
        tails.append(tail or b"")
    offset = sum(32 if head is None else len(head) for head in heads)
    for i, head in enumerate(heads):
        if head is None:
            heads[i] = word("uint256", offset)
            offset += len(tails[i])
    return b"".join(heads + tails)


def calldata(signature, *values):
    types = split(signature[signature.index("(") + 1:-1])
    return "0x" + (keccak(signature.encode())[:4] + encode(types, values)).hex()


def claim_typed_data(domain, message):
    kinds = {"commitment": "bytes32", "beneficiary": "address", "requestedAmount": "uint256", "reasonHash": "bytes32"}
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    domain_kinds = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
    domain_fields = [{"name": name, "type": kind} for name, kind in domain_kinds.items()]
    return {"domain": domain, "types": {"EIP712Domain": domain_fields, "Claim": fields},
            "primaryType": "Claim", "message": message}


def decision_bytes(decision):
    """RFC 8785, which for strings without control characters and for integers is sorted JSON without spaces."""
    text = json.dumps(decision, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return b"routing-sandbox/decision/v1\n" + text.encode()


def approve(private_key, decision):
    """Signs a decision: Ed25519, in base64url without padding."""
    signature = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key)).sign(decision_bytes(decision))
    return base64.urlsafe_b64encode(signature).rstrip(b"=").decode()
