"""Compares what messages.py makes with the vectors of the package."""
import hashlib
import json
import os

import pytest

from messages import approve, calldata, claim_typed_data, decision_bytes, digest, keccak

with open(os.environ.get("ROUTING_VECTORS", "node_modules/routing-sandbox/docs/vectors.json"), encoding="utf-8") as file:
    vectors = json.load(file)


def in_order(value):
    if isinstance(value, dict):
        return [in_order(member) for member in value.values()]
    return [in_order(member) for member in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", vectors["typed_data"])
def test_digest(name):
    assert digest(vectors["typed_data"][name]["typed_data"]) == vectors["typed_data"][name]["digest"]


def test_typed_data_of_a_claim():
    expected = vectors["typed_data"]["claim"]["typed_data"]
    assert claim_typed_data(expected["domain"], expected["message"]) == expected


@pytest.mark.parametrize("name", vectors["calldata"])
def test_calldata(name):
    call = vectors["calldata"][name]
    assert calldata(call["signature"], *in_order(call["args"])) == call["data"]


def test_hashes_of_ids_and_reason():
    assert {text: "0x" + keccak(text.encode()).hex() for text in vectors["ids"]} == vectors["ids"]
    assert "0x" + keccak(vectors["reason"]["text"].encode()).hex() == vectors["reason"]["keccak256"]


def test_decision():
    decision = vectors["decision"]
    assert decision_bytes(decision["value"]).decode() == decision["bytes"]
    assert "0x" + hashlib.sha256(decision_bytes(decision["value"])).hexdigest() == decision["sha256"]
    assert approve(decision["private_key"], decision["value"]) == decision["approval"]
