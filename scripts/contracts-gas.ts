// Measures every step of the contracts as a whole transaction on Hardhat's own chain and compares it with the committed
// snapshot: fails on any step that costs more gas than the snapshot's tolerance allows, on a missing and on a new one. `--write` replaces the
// snapshot's costs.
import { readFile, writeFile } from "node:fs/promises";
import hre from "hardhat";
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  parseSignature,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { purchaseTypes } from "../protocol/messages/commitment.ts";
import { fundingAuthorizationTypes } from "../protocol/messages/funding-authorization.ts";
import { permitTypes } from "../protocol/messages/permit.ts";

const SNAPSHOT = new URL("../contracts/gas-snapshot.json", import.meta.url);
const START = 2_000_000_000;
const SIGNER = privateKeyToAccount(`0x${"a11ce".padStart(64, "0")}`);
const PAYER = privateKeyToAccount(`0x${"b0b".padStart(64, "0")}`);

interface Contract {
  address: Address;
  abi: Abi;
}

const connection = await hre.network.create();
const rpc = async <T>(method: string, params: unknown[] = []): Promise<T> =>
  (await connection.provider.request({ method, params })) as T;

const [admin, operator, merchant, buyer, beneficiary, newcomer] = (await rpc<Address[]>("eth_accounts")) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const chainId = Number(await rpc<Hex>("eth_chainId"));
const gas: Record<string, number> = {};

await rpc("evm_setNextBlockTimestamp", [toHex(START)]);

async function execute(transaction: { from: Address; to?: Address; data: Hex }) {
  const hash = await rpc<Hex>("eth_sendTransaction", [{ ...transaction, gas: toHex(10_000_000) }]);
  const receipt = await rpc<{ gasUsed: Hex; status: Hex; contractAddress: Address }>(
    "eth_getTransactionReceipt",
    [hash],
  );
  if (receipt.status !== "0x1") throw new Error(`transaction ${hash} reverted`);
  return { gasUsed: Number(receipt.gasUsed), contractAddress: receipt.contractAddress };
}

async function deploy(name: string, args: unknown[]): Promise<Contract> {
  const artifact = await hre.artifacts.readArtifact(name);
  const abi = artifact.abi as Abi;
  const data = encodeDeployData({ abi, bytecode: artifact.bytecode as Hex, args });
  const { gasUsed, contractAddress } = await execute({ from: admin, data });
  gas[`deploy ${name}`] = gasUsed;
  return { address: contractAddress, abi };
}

/** Sends a call and, when it has a label, records what it cost. */
async function send(
  from: Address,
  contract: Contract,
  functionName: string,
  args: unknown[],
  label?: string,
) {
  const data = encodeFunctionData({ abi: contract.abi, functionName, args });
  const { gasUsed } = await execute({ from, to: contract.address, data });
  if (label !== undefined) gas[label] = gasUsed;
}

const usdc = await deploy("TestUSDC", ["USDC", "USDC", admin, admin, admin, admin]);
const registrar = await deploy("PurchaseRegistrar", []);
const sourceCall = encodeFunctionData({ abi: registrar.abi, functionName: "fundingSource" });
const sourceWord = await rpc<Hex>("eth_call", [{ to: registrar.address, data: sourceCall }, "latest"]);
const source: Address = `0x${sourceWord.slice(-40)}`;

const program = keccak256(toHex("prg_gas"));
const merchantRef = keccak256(toHex("mer_gas"));
const domain = { name: "PurchaseRegistrar", version: "1", chainId, verifyingContract: registrar.address };
const bounds = { maxPurchase: 10n ** 12n, openBudget: 10n ** 14n, validUntil: BigInt(START + 10_000_000) };

function commitment(
  reference: string,
  { to = beneficiary, from = buyer }: { to?: Address; from?: Address } = {},
) {
  return {
    program,
    purchaseRef: keccak256(toHex(reference)),
    merchant,
    buyer: from,
    beneficiary: to,
    token: usdc.address,
    amount: 100_000_000n,
    termsHash: keccak256(toHex("terms")),
    offerDeadline: BigInt(START + 3_600),
    payDeadline: BigInt(START + 86_400),
    claimDeadline: BigInt(START + 2_592_000),
    salt: keccak256(toHex(`salt of ${reference}`)),
  };
}

type Commitment = ReturnType<typeof commitment>;

function idOf(purchase: Commitment): Hex {
  const types = purchaseTypes;
  return hashTypedData({ domain, types, primaryType: "Purchase", message: purchase });
}

async function comeOnChain(route: "offer" | "register", purchase: Commitment, label?: string): Promise<Hex> {
  const signature = await SIGNER.signTypedData({
    domain,
    types: purchaseTypes,
    primaryType: "Purchase",
    message: purchase,
  });
  const from = route === "offer" ? operator : merchant;
  await send(from, registrar, route, [purchase, signature], label);
  return idOf(purchase);
}

await send(admin, registrar, "openProgram", [program, operator, SIGNER.address, bounds], "openProgram");
await send(admin, registrar, "setBounds", [program, operator, SIGNER.address, bounds], "setBounds");
await send(admin, registrar, "setPaused", [program, true]);
await send(admin, registrar, "setPaused", [program, false], "setPaused, ending a pause");

const authorization = {
  program,
  merchantRef,
  wallet: merchant,
  token: usdc.address,
  cap: 10n ** 13n,
  validUntil: BigInt(START + 9_000_000),
  salt: keccak256(toHex("funding salt")),
};
const fundingSignature = await SIGNER.signTypedData({
  domain,
  types: fundingAuthorizationTypes,
  primaryType: "FundingAuthorization",
  message: authorization,
});
await send(merchant, registrar, "enroll", [authorization, fundingSignature], "enroll");

for (const holder of [merchant, buyer, beneficiary, PAYER.address]) {
  await send(admin, usdc, "faucet", [holder, 10n ** 12n]);
}
await send(buyer, usdc, "approve", [registrar.address, 10n ** 12n], "TestUSDC approve");
await send(merchant, usdc, "approve", [source, 10n ** 12n]);

// A first purchase, so that no figure below carries a program's first-time costs.
const first = await comeOnChain("offer", commitment("first"));
await send(buyer, registrar, "pay", [first, 50_000_000n]);
await send(beneficiary, registrar, "claim", [first, keccak256(toHex("first claim"))]);
await send(operator, registrar, "collectRefund", [first, 1n, keccak256(toHex("first decision"))]);

const offered = await comeOnChain("offer", commitment("offered"), "offer");
await send(buyer, registrar, "pay", [offered, 100_000_000n], "pay, in full");
await send(beneficiary, registrar, "claim", [offered, keccak256(toHex("claim"))], "claim");
await send(
  operator,
  registrar,
  "collectRefund",
  [offered, 60_000_000n, keccak256(toHex("decision"))],
  "collectRefund, to a holder of the token",
);

const parted = await comeOnChain("offer", commitment("parted", { to: newcomer }));
await send(buyer, registrar, "pay", [parted, 40_000_000n], "pay, the first of several");
await send(buyer, registrar, "pay", [parted, 40_000_000n], "pay, a later one of several");
await send(newcomer, registrar, "claim", [parted, keccak256(toHex("parted claim"))]);
await send(
  operator,
  registrar,
  "collectRefund",
  [parted, 60_000_000n, keccak256(toHex("parted decision"))],
  "collectRefund, to a newcomer to the token",
);
await send(operator, registrar, "withdrawOffer", [parted], "withdrawOffer");

const direct = await comeOnChain("register", commitment("direct"), "register");
await send(buyer, registrar, "pay", [direct, 100_000_000n], "pay, a direct purchase");

// The approval that the wallet route offers is of exactly what is paid, and both are a wallet's first: as for the first permit.
const exact = await comeOnChain("offer", commitment("exact", { from: newcomer }));
await send(admin, usdc, "faucet", [newcomer, 100_000_000n * 2n]);
await send(
  newcomer,
  usdc,
  "approve",
  [registrar.address, 100_000_000n],
  "TestUSDC approve, of exactly a payment",
);
await send(newcomer, registrar, "pay", [exact, 100_000_000n], "pay, after an approval of exactly that");

const batch: Hex[] = [];
for (const reference of ["b1", "b2", "b3"]) batch.push(await comeOnChain("offer", commitment(reference)));
await send(admin, registrar, "setPaused", [program, true]);
await send(
  admin,
  registrar,
  "setPaused",
  [program, false],
  "setPaused, ending a pause while offers are open",
);
await send(buyer, registrar, "payBatch", [batch, batch.map(() => 100_000_000n)], "payBatch, three purchases");

// The payer has an account of its own, so that it can sign a permit; it sends through the node as the others do.
const permitted = await comeOnChain("offer", commitment("permitted", { from: PAYER.address }));
await rpc("hardhat_impersonateAccount", [PAYER.address]);
await rpc("hardhat_setBalance", [PAYER.address, toHex(10n ** 18n)]);
const deadline = BigInt(START + 86_400);
const permit = await PAYER.signTypedData({
  domain: { name: "USDC", version: "2", chainId, verifyingContract: usdc.address },
  types: permitTypes,
  primaryType: "Permit",
  message: { owner: PAYER.address, spender: registrar.address, value: 100_000_000n, nonce: 0n, deadline },
});
const { v, r, s } = parseSignature(permit);
await send(
  PAYER.address,
  registrar,
  "payWithPermit",
  [permitted, 100_000_000n, deadline, Number(v), r, s],
  "payWithPermit, the first permit",
);

const late = await comeOnChain("offer", commitment("late"));
await rpc("evm_setNextBlockTimestamp", [toHex(START + 86_401)]);
await send(newcomer, registrar, "expire", [late], "expire");
await send(merchant, registrar, "revokeFunding", [program, merchantRef], "revokeFunding");
await send(admin, registrar, "transferAdmin", [program, newcomer], "transferAdmin");
await send(newcomer, registrar, "acceptAdmin", [program], "acceptAdmin");

await send(buyer, usdc, "transfer", [beneficiary, 1n], "TestUSDC transfer");
await send(admin, usdc, "faucet", [buyer, 1n], "TestUSDC faucet");
const tokenDomain = { name: "USDC", version: "2", chainId, verifyingContract: usdc.address };
const transfer = {
  from: PAYER.address,
  to: buyer,
  value: 1n,
  validAfter: 0n,
  validBefore: BigInt(START * 2),
  nonce: keccak256(toHex("nonce")),
};
const transferSignature = await PAYER.signTypedData({
  domain: tokenDomain,
  types: {
    TransferWithAuthorization: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "validAfter", type: "uint256" },
      { name: "validBefore", type: "uint256" },
      { name: "nonce", type: "bytes32" },
    ],
  },
  primaryType: "TransferWithAuthorization",
  message: transfer,
});
await send(
  newcomer,
  usdc,
  "transferWithAuthorization",
  [...Object.values(transfer), transferSignature],
  "TestUSDC transferWithAuthorization",
);
await connection.close();

const recorded = z
  .strictObject({ tolerance_percent: z.number().positive(), gas: z.record(z.string(), z.int()) })
  .parse(JSON.parse(await readFile(SNAPSHOT, "utf8")));
const mode = process.argv[2];
const width = Math.max(...Object.keys(gas).map((label) => label.length));
if (mode === "--write") {
  await writeFile(SNAPSHOT, `${JSON.stringify({ ...recorded, gas }, null, 2)}\n`);
  for (const [label, used] of Object.entries(gas)) console.log(label.padEnd(width), used);
} else {
  const failures: string[] = [];
  for (const label of new Set([...Object.keys(recorded.gas), ...Object.keys(gas)])) {
    const before = recorded.gas[label];
    const now = gas[label];
    if (before === undefined || now === undefined) {
      failures.push(`${label}: ${before === undefined ? "not in the snapshot" : "no longer measured"}`);
      continue;
    }
    const percent = ((now - before) / before) * 100;
    console.log(
      label.padEnd(width),
      String(now).padStart(9),
      `${percent >= 0 ? "+" : ""}${percent.toFixed(2)} %`,
    );
    if (percent > recorded.tolerance_percent)
      failures.push(`${label}: ${before} -> ${now}, costs ${percent.toFixed(2)}% more`);
  }
  if (failures.length > 0) {
    console.error(`\nGas check failed:\n${failures.map((failure) => `  ${failure}`).join("\n")}`);
    console.error("If the cost is worth it, record it with: npm run gas:contracts -- --write");
    process.exitCode = 1;
  } else {
    console.log(
      `\nNo step costs over ${recorded.tolerance_percent}% more gas than in contracts/gas-snapshot.json.`,
    );
  }
}
