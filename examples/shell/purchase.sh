#!/usr/bin/env bash
# Leases a sandbox from `routing-sandbox pool`, takes a purchase to its refund, and checks the refund's transaction on the chain.
set -euo pipefail
pool=${ROUTING_POOL_URL:-http://127.0.0.1:4030}

post() { curl --silent --show-error --fail-with-body --header "Content-Type: application/json" --data "$2" "$1"; }

lease=$(post "$pool/leases" '{"seconds": 300}')
trap 'curl --silent --request DELETE "$pool/leases/$(jq --raw-output .id <<<"$lease")"' EXIT
url() { jq --raw-output ".sandbox.urls.$1" <<<"$lease"; }

given=$(post "$(url control)/given" '{"purchase": {"state": "refunded", "amount": "25000000", "claimed": "10000000"}}')
hash=$(jq --raw-output .refund.transaction_hash <<<"$given")
call=$(jq --null-input --arg hash "$hash" '{jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [$hash]}')
post "$(url rpc)" "$call" | jq --exit-status '.result.status == "0x1"' >/dev/null
jq --exit-status '.refund.status == "collected"' <<<"$given" >/dev/null
curl --silent --fail "$(url control)/fingerprint" | jq --raw-output '"fingerprint \(.digest)"'
