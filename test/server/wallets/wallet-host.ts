import { createServer } from "node:http";
import { z } from "zod";
import { signDecision } from "../../../protocol/signatures/decision.ts";
import type { TestKit } from "../../kit/test-kit.ts";

const hex = z.templateLiteral(["0x", z.string()]);
const send = z.object({ wallet: z.string(), transaction: z.object({ to: hex, data: hex }) });
const typedData = z.object({
  domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: hex }),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
const sign = z.object({
  wallet: z.string(),
  message: z.string().optional(),
  typed_data: typedData.optional(),
});
const decision = z.object({
  award: z.string(),
  chain_id: z.int(),
  claim_hash: hex,
  claim_id: z.string(),
  commitment_hash: hex,
  decided_at: z.string(),
  outcome: z.enum(["approved", "denied"]),
  program: z.string(),
  purchase: z.string(),
  reviewer_key_id: z.string(),
});

/** Implements docs/openapi/wallets.json: wallets that sign and send, and a reviewer that approves. */
export async function serveWallets(kit: TestKit) {
  const doings: { readonly [path: string]: (body: unknown) => Promise<object> } = {
    "/send": async (body) => {
      const { wallet, transaction } = send.parse(body);
      const { transaction_hash: transactionHash } = await kit.wallet(wallet).send(transaction);
      return { transaction_hash: transactionHash };
    },
    "/sign": async (body) => {
      const { wallet, message, typed_data } = sign.parse(body);
      const signer = kit.wallet(wallet);
      if (message !== undefined) return { signature: await signer.signMessage(message) };
      return { signature: await signer.signTypedData(typedData.parse(typed_data)) };
    },
    "/approve": async (body) => {
      const seed = Buffer.from(kit.sandbox.description.reviewer.private_key, "hex");
      return { approval: signDecision(seed, decision.parse(body)) };
    },
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const answer = await doings[request.url ?? ""]?.(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(answer === undefined ? 404 : 200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer ?? {}));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The wallets must listen on a port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
