import { readFileSync } from "node:fs";
import { join } from "node:path";
import { size } from "viem";
import { z } from "zod";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { markdownTable } from "../../server/documentation/tables.ts";

/** A row of the gas table: the step and its labels in gas-snapshot.json (a sum, if it has several). */
interface GasRow {
  step: string;
  labels: readonly string[];
}

const gasRows: readonly GasRow[] = [
  { step: "`pay`, an offer, in full or in part", labels: ["pay, in full"] },
  { step: "`pay`, a direct purchase", labels: ["pay, a direct purchase"] },
  { step: "`payBatch`, three purchases", labels: ["payBatch, three purchases"] },
  {
    step: "`payWithPermit`, the buyer's first permit",
    labels: ["payWithPermit, the first permit"],
  },
  { step: "`pay` of the whole allowance", labels: ["pay, after an approval of exactly that"] },
  {
    step: "`approve` of exactly the payment, and `pay`",
    labels: ["TestUSDC approve, of exactly a payment", "pay, after an approval of exactly that"],
  },
  {
    step: "`collectRefund`, to a holder of the token",
    labels: ["collectRefund, to a holder of the token"],
  },
  {
    step: "`collectRefund`, to another account",
    labels: ["collectRefund, to a newcomer to the token"],
  },
  { step: "`offer`", labels: ["offer"] },
  { step: "`register`", labels: ["register"] },
  { step: "`withdrawOffer`", labels: ["withdrawOffer"] },
  { step: "`expire`", labels: ["expire"] },
  { step: "`claim`", labels: ["claim"] },
  { step: "`enroll`", labels: ["enroll"] },
  { step: "`revokeFunding`", labels: ["revokeFunding"] },
  { step: "`openProgram`", labels: ["openProgram"] },
  { step: "`setBounds`, to the same bounds", labels: ["setBounds"] },
  {
    step: "`setPaused`, ending a pause while no offer is open",
    labels: ["setPaused, ending a pause"],
  },
  {
    step: "`setPaused`, ending a pause while offers are open",
    labels: ["setPaused, ending a pause while offers are open"],
  },
  { step: "TestUSDC `approve`", labels: ["TestUSDC approve"] },
  { step: "TestUSDC `transfer`", labels: ["TestUSDC transfer"] },
  {
    step: "TestUSDC `transferWithAuthorization`",
    labels: ["TestUSDC transferWithAuthorization"],
  },
  { step: "`transferAdmin`", labels: ["transferAdmin"] },
  { step: "`acceptAdmin`", labels: ["acceptAdmin"] },
  { step: "deploying `PurchaseRegistrar`", labels: ["deploy PurchaseRegistrar"] },
  { step: "deploying `TestUSDC`", labels: ["deploy TestUSDC"] },
];

const snapshotSchema = z.object({ tolerance_percent: z.number(), gas: z.record(z.string(), z.int()) });
const artifactSchema = z.object({ bytecode: z.string(), deployedBytecode: z.string() });

/** The largest code of a deployed contract (EIP-170), and of a creation (EIP-3860), in bytes. */
const codeLimits = { deployed: 24_576, creation: 49_152 } as const;

const snapshot = snapshotSchema.parse(JSON.parse(read("contracts/gas-snapshot.json")));
const count = (value: number) => value.toLocaleString("en-US");

/** The tables of docs/contracts.md, by their names. */
export const contractTables = { gas: gasTable(), sizes: sizesTable() };

/** The figures that the prose of docs/contracts.md names, as it names them. */
export const contractLimits = {
  gas_permit_saves: `${count(
    gasOf("TestUSDC approve, of exactly a payment") +
      gasOf("pay, after an approval of exactly that") -
      gasOf("payWithPermit, the first permit"),
  )} gas`,
  gas_tolerance: `${snapshot.tolerance_percent}% more`,
  registrar_creation: `${count(sizesOf("PurchaseRegistrar").creation)} bytes`,
  registrar_creation_most: count(codeLimits.creation),
};

function gasTable(): string {
  return markdownTable(
    ["Step", "Gas"],
    gasRows.map(({ step, labels }) => [step, count(labels.reduce((sum, label) => sum + gasOf(label), 0))]),
  );
}

function sizesTable(): string {
  const contracts = ["PurchaseRegistrar", "FundingSource", "TestUSDC"];
  return markdownTable(
    ["Contract", `Deployed bytes; EIP-170 allows ${count(codeLimits.deployed)}`],
    contracts.map((name) => [`\`${name}\``, count(sizesOf(name).deployed)]),
  );
}

function sizesOf(contract: string): { creation: number; deployed: number } {
  const artifact = artifactSchema.parse(
    JSON.parse(read(`artifacts/contracts/${contract}.sol/${contract}.json`)),
  );
  return {
    creation: size(artifact.bytecode as `0x${string}`),
    deployed: size(artifact.deployedBytecode as `0x${string}`),
  };
}

function gasOf(label: string): number {
  const gas = snapshot.gas[label];
  if (gas === undefined)
    throw new Error(`contracts/gas-snapshot.json has no ${label}. Run npm run gas:contracts -- --write.`);
  return gas;
}

function read(file: string): string {
  return readFileSync(join(packageRoot(), file), "utf8");
}
