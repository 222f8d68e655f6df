import { readFileSync } from "node:fs";
import { join } from "node:path";
import { size } from "viem";
import { z } from "zod";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { markdownTable } from "../../server/documentation/tables.ts";

/** A row of the gas table: the step, and its labels in gas-snapshot.json (a sum, if it has several). */
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
    step: "`approve` of exactly the payment, and `pay`: the transactions that `payWithPermit` replaces",
    labels: ["TestUSDC approve, of exactly a payment", "pay, after an approval of exactly that"],
  },
  {
    step: "`collectRefund`, to a holder of the token",
    labels: ["collectRefund, to a holder of the token"],
  },
  {
    step: "`collectRefund`, to an account that does not hold the token yet",
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
  { step: "`setBounds`", labels: ["setBounds"] },
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

/** The gas before signatures were checked in place: a row without one is newer. */
const before: { readonly [label: string]: number } = {
  "deploy TestUSDC": 4_108_032,
  "deploy PurchaseRegistrar": 4_961_644,
  openProgram: 116_910,
  setBounds: 36_914,
  "setPaused, ending a pause": 26_985,
  enroll: 245_901,
  "TestUSDC approve": 48_444,
  offer: 160_728,
  "pay, in full": 79_518,
  claim: 55_548,
  "collectRefund, to a holder of the token": 93_295,
  "pay, the first of several": 79_518,
  "pay, a later one of several": 79_518,
  "collectRefund, to a newcomer to the token": 110_383,
  withdrawOffer: 43_734,
  register: 152_915,
  "pay, a direct purchase": 76_218,
  "TestUSDC approve, of exactly a payment": 48_432,
  "pay, after an approval of exactly that": 74_718,
  "setPaused, ending a pause while offers are open": 31_785,
  "payBatch, three purchases": 133_056,
  "payWithPermit, the first permit": 111_578,
  expire: 43_352,
  revokeFunding: 35_496,
  "TestUSDC transfer": 37_184,
  "TestUSDC faucet": 38_488,
  "TestUSDC transferWithAuthorization": 74_412,
};

const snapshot = snapshotSchema.parse(JSON.parse(read("contracts/gas-snapshot.json")));
const count = (value: number) => value.toLocaleString("en-US");

/** The tables of docs/contracts.md, by their names. */
export const contractTables = { gas: gasTable(), sizes: sizesList() };

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
    ["Step", "Before", "Gas"],
    gasRows.map(({ step, labels }) => {
      const gas = labels.reduce((sum, label) => sum + gasOf(label), 0);
      const earlier = labels.reduce((sum, label) => sum + (before[label] ?? 0), 0);
      return [step, earlier === 0 ? "" : count(earlier), count(gas)];
    }),
  );
}

function sizesList(): string {
  const contracts = ["PurchaseRegistrar", "FundingSource", "TestUSDC"];
  const lines = contracts.map((name) => {
    const { deployed } = sizesOf(name);
    return `- \`${name}\`: ${count(deployed)} bytes, ${Math.round((deployed / codeLimits.deployed) * 100)}%`;
  });
  return [
    `Deployed code, and its share of EIP-170's limit of ${count(codeLimits.deployed)} bytes:`,
    "",
    ...lines,
  ].join("\n");
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
