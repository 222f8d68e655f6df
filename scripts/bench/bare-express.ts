/** An Express that does only what a subject of a benchmark cannot do without: `node bare-express.ts <handler> <options as JSON>`. */
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express, { type RequestHandler } from "express";
import { createPublicClient, getAbiItem, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { type Commitment, commitmentTypedData } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import { hashId } from "../../protocol/values/id.ts";
import { nodeSocket } from "../../sandbox/chain/client/node-socket.ts";

const hex = z.templateLiteral(["0x", z.string()]);
const asked = z.object({ url: z.url(), headers: z.record(z.string(), z.string()) });
const reads = z.object({
  rpc: z.url(),
  transport: z.enum(["fetch", "socket"]),
  registrar: hex,
  token: hex,
  id: hex,
  buyer: hex,
});

/** The bytes of another server's answer. */
async function bytes(options: unknown): Promise<RequestHandler> {
  const { url, headers } = asked.parse(options);
  const body = Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
  return (_request, response) => {
    response.set("Content-Type", "application/json; charset=utf-8").send(body);
  };
}

/** Always the same answer to a body that was parsed. */
async function created(options: unknown): Promise<RequestHandler> {
  const { body } = z.object({ body: z.string() }).parse(options);
  const bytes = Buffer.from(body);
  return (_request, response) => {
    response.status(201).set("Content-Type", "application/json; charset=utf-8").send(bytes);
  };
}

/** The head, then figures, allowance and payments of a purchase at it. */
async function purchaseReads(options: unknown): Promise<RequestHandler> {
  const { rpc, transport, registrar, token, id, buyer } = reads.parse(options);
  const client = createPublicClient({
    transport: transport === "fetch" ? http(rpc) : nodeSocket(rpc).transport,
    cacheTime: 0,
  });
  const event = getAbiItem({ abi: purchaseRegistrarAbi, name: "PurchasePaid" });
  return async (_request, response) => {
    const { hash: blockHash, number } = await client.getBlock();
    const [figures, approved, payments] = await Promise.all([
      client.readContract({
        address: registrar,
        abi: purchaseRegistrarAbi,
        functionName: "figures",
        args: [id],
        blockHash,
      }),
      client.readContract({
        address: token,
        abi: testUsdcAbi,
        functionName: "allowance",
        args: [buyer, registrar],
        blockHash,
      }),
      client.getLogs({ address: registrar, event, args: { id }, fromBlock: 0n, toBlock: number }),
    ]);
    const body = JSON.stringify({ figures, approved, payments }, (_name, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    response.set("Content-Type", "application/json; charset=utf-8").send(body);
  };
}

/** A commitment is signed, a line is on disk, and the same comes back. */
async function signAndSync(): Promise<RequestHandler> {
  const account = privateKeyToAccount(hashId("signer"));
  const { address } = account;
  const deadline = 2_400_000_000n;
  const path = join(tmpdir(), `routing-sandbox-bench-${process.pid}.journal`);
  const file = await open(path, "wx", 0o600);
  // The open file is all that is needed of it.
  await rm(path);
  return async (request, response) => {
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
    const domain = registrarDomain(31_337, address);
    const signature = await account.signTypedData(commitmentTypedData(domain, commitment));
    const body = JSON.stringify({ ...request.body, signature });
    await file.appendFile(`${body}\n`);
    await file.datasync();
    response.status(201).set("Content-Type", "application/json; charset=utf-8").send(body);
  };
}

const handlers: { [name: string]: (options: unknown) => Promise<RequestHandler> } = {
  bytes,
  created,
  purchaseReads,
  signAndSync,
};
const [name = "", options = "{}"] = process.argv.slice(2);
const handler = await handlers[name]?.(JSON.parse(options));
if (handler === undefined) throw new Error(`There is no handler ${name}.`);
const app = express().disable("x-powered-by").disable("etag");
app.get("/*path", handler).post("/*path", express.json(), handler);
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null)
    console.log(`listening on http://127.0.0.1:${address.port}`);
});
