import { type Address, encodeFunctionData, keccak256 } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { setBoundsCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { present, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  return kit;
});

async function keys(): Promise<Schema<"Program">["keys"]> {
  const params = { path: { program: kit.program } };
  return present(await kit.api.GET("/v1/routing/programs/{program}", { params })).keys;
}

/** The program as it was opened on chain. */
function opened() {
  const found = kit.sandbox.chain.deployment.programs.find(({ id }) => id === kit.program);
  if (found === undefined) throw new Error("The program is deployed.");
  return found;
}

/** The bounds that the program's admin sets in these tests. */
function changed() {
  const operator = kit.wallet("stranger").address;
  const commitmentSigner = kit.wallet("buyer").address;
  return {
    operator,
    commitmentSigner,
    bounds: { maxPurchase: 7n, openBudget: 8n, validUntil: 4_000_000_000 },
  };
}

test("the program shows the operator, the commitment signer and the bounds that the chain has now", async () => {
  const { operator, commitmentSigner, bounds } = opened();
  expect(await keys()).toMatchObject({
    commitment_signer: commitmentSigner,
    registrar: { address: operator, bounds: { max_purchase: bounds.maxPurchase.toString() } },
  });
  await kit.sandbox.wallets.deployer.setBounds(kit.program, changed());
  expect(await keys()).toMatchObject({
    commitment_signer: changed().commitmentSigner,
    registrar: {
      address: changed().operator,
      bounds: { max_purchase: "7", open_budget: "8", valid_until: 4_000_000_000 },
    },
  });
});

test("the program shows the contracts with the code that the chain has, and a key for each use", async () => {
  const { chain, description } = kit.sandbox;
  const { token, registrar, fundingSource } = chain.deployment;
  const contract = async ({ address }: { address: Address }) => ({
    address,
    code_hash: keccak256((await chain.client.getCode({ address })) ?? "0x"),
  });
  const params = { path: { program: kit.program } };
  const program = present(await kit.api.GET("/v1/routing/programs/{program}", { params }));
  expect(program.contracts).toEqual({
    token: { ...(await contract(token)), symbol: token.symbol, decimals: 6 },
    registrar: {
      ...(await contract(registrar)),
      eip712_domain: {
        name: "PurchaseRegistrar",
        version: "1",
        chainId: description.chain.chain_id,
        verifyingContract: registrar.address,
      },
    },
    funding_source: await contract(fundingSource),
  });
  const { reviewer, notifications } = program.keys;
  const { key } = await kit.events.keys();
  expect(reviewer.key_id).toBe(description.reviewer.key_id);
  expect(notifications.key_id).toBe(key.keyId);
});

test("bounds without an end are shown with the last second that a timestamp can say, as Unix seconds", async () => {
  const { operator, commitmentSigner, bounds } = opened();
  const endless = { ...bounds, validUntil: 2n ** 64n - 1n };
  const { address } = kit.sandbox.chain.deployment.registrar;
  const functionName = "setBounds";
  const args = [hashId(kit.program), operator, commitmentSigner, endless] as const;
  const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName, args });
  expect((await kit.wallet("deployer").send({ to: address, data })).receipt.status).toBe("success");
  expect((await keys()).registrar.bounds.valid_until).toBe(253_402_300_799);
});

test("the program has its former bounds again after a reorg that removes the change, and the new bounds when the change is mined again", async () => {
  const before = await keys();
  await kit.sandbox.wallets.deployer.setBounds(kit.program, changed());
  const after = await keys();
  expect(after).not.toEqual(before);
  await kit.reorg(1);
  expect(await keys()).toEqual(before);
  const { address } = kit.sandbox.chain.deployment.registrar;
  const again = setBoundsCall(address, hashId(kit.program), changed());
  await kit.reorg(1, [[await kit.sign("deployer", again), 0]]);
  expect(await keys()).toEqual(after);
});
