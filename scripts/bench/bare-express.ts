/**
 * An Express that does only what a write cannot do without: `node bare-express.ts <body>`. With a purchase's path, a commitment is signed and a line
 * synced to the disk; below `/same`, a parsed body gets the bytes of the argument.
 */
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { privateKeyToAccount } from "viem/accounts";
import { type Commitment, commitmentTypedData } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import { hashId } from "../../protocol/values/id.ts";

const same = Buffer.from(process.argv[2] ?? "");
const account = privateKeyToAccount(hashId("signer"));
const { address } = account;
const domain = registrarDomain(31_337, address);
const deadline = 2_400_000_000n;
const path = join(tmpdir(), `routing-sandbox-bench-${process.pid}.journal`);
const file = await open(path, "wx", 0o600);
// The open file is all that is needed of it.
await rm(path);

const app = express().disable("x-powered-by").disable("etag").use(express.json());
app.post("/same/*path", (_request, response) => {
  response.status(201).set("Content-Type", "application/json; charset=utf-8").send(same);
});
app.post("/*path", async (request, response) => {
  const id = hashId(String(request.headers["idempotency-key"]));
  const commitment: Commitment = {
    program: id,
    purchaseRef: id,
    merchant: address,
    buyer: address,
    beneficiary: address,
    token: address,
    amount: 1n,
    termsHash: id,
    offerDeadline: deadline,
    payDeadline: deadline,
    claimDeadline: deadline,
    salt: id,
  };
  const signature = await account.signTypedData(commitmentTypedData(domain, commitment));
  const body = JSON.stringify({ ...request.body, signature });
  await file.appendFile(`${body}\n`);
  await file.datasync();
  response.status(201).set("Content-Type", "application/json; charset=utf-8").send(body);
});
const server = app.listen(0, "127.0.0.1", () => {
  const bound = server.address();
  if (typeof bound === "object" && bound !== null) console.log(`listening on http://127.0.0.1:${bound.port}`);
});
