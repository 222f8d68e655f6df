import { Interface } from "ethers";
import { concatHex, encodeFunctionData, type Hex, slice } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  approveCall,
  type Call,
  claimCall,
  collectRefundCall,
  decodeCall,
  enrollCall,
  offerCall,
  payBatchCall,
  payCall,
  payWithPermitCall,
  registerCall,
  revokeFundingCall,
} from "../../protocol/call.ts";
import { readCall } from "../../protocol/read-call.ts";
import { authorization, commitment, registrar, token, word } from "./sample.ts";

const signature: Hex = `0x${"ab".repeat(65)}`;
const fields = (value: object) => Object.values(value);
const registrarInterface = new Interface(purchaseRegistrarAbi);
const tokenInterface = new Interface(testUsdcAbi);

test.each<[Call, Interface, string, unknown[]]>([
  [
    enrollCall(registrar, authorization, signature),
    registrarInterface,
    "enroll",
    [fields(authorization), signature],
  ],
  [offerCall(registrar, commitment, signature), registrarInterface, "offer", [fields(commitment), signature]],
  [
    registerCall(registrar, commitment, signature),
    registrarInterface,
    "register",
    [fields(commitment), signature],
  ],
  [payCall(registrar, word("01"), 5n), registrarInterface, "pay", [word("01"), 5n]],
  [
    payBatchCall(registrar, [word("01"), word("02")], [5n, 7n]),
    registrarInterface,
    "payBatch",
    [
      [word("01"), word("02")],
      [5n, 7n],
    ],
  ],
  [
    payWithPermitCall(registrar, word("01"), 5n, { deadline: 7n, v: 28, r: word("02"), s: word("03") }),
    registrarInterface,
    "payWithPermit",
    [word("01"), 5n, 7n, 28, word("02"), word("03")],
  ],
  [claimCall(registrar, word("01"), word("02")), registrarInterface, "claim", [word("01"), word("02")]],
  [
    collectRefundCall(registrar, word("01"), 9n, word("02")),
    registrarInterface,
    "collectRefund",
    [word("01"), 9n, word("02")],
  ],
  [
    revokeFundingCall(registrar, word("01"), word("02")),
    registrarInterface,
    "revokeFunding",
    [word("01"), word("02")],
  ],
  [approveCall(token, registrar, 2n ** 256n - 1n), tokenInterface, "approve", [registrar, 2n ** 256n - 1n]],
])("ethers encodes $function to the same bytes", (call, contract, name, args) => {
  expect(call.data).toBe(contract.encodeFunctionData(name, args));
  expect(call.function).toBe(name);
  expect(call.to).toBe(contract === tokenInterface ? token : registrar);
});

test("the calldata of a payment is what it was when it was published", () => {
  expect(payCall(registrar, word("01"), 10_000_000n)).toMatchInlineSnapshot(`
    {
      "args": {
        "amount": "10000000",
        "id": "0x0101010101010101010101010101010101010101010101010101010101010101",
      },
      "data": "0xd0ee4de001010101010101010101010101010101010101010101010101010101010101010000000000000000000000000000000000000000000000000000000000989680",
      "function": "pay",
      "to": "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
    }
  `);
});

test("a call shows its arguments by name, every integer as a decimal string", () => {
  const { args } = offerCall(registrar, commitment, signature);
  expect(args["signature"]).toBe(signature);
  expect(args["purchase"]).toEqual(
    Object.fromEntries(
      Object.entries(commitment).map(([name, value]) => [
        name,
        typeof value === "bigint" ? `${value}` : value,
      ]),
    ),
  );
});

test("calldata decodes to its function, and only the canonical form is called canonical", () => {
  const { data } = payCall(registrar, word("01"), 5n);
  expect(decodeCall(purchaseRegistrarAbi, data)).toMatchObject({ function: "pay", canonical: true });
  expect(decodeCall(purchaseRegistrarAbi, `${data}00`)).toMatchObject({ function: "pay", canonical: false });
  const dirty = encodeFunctionData({ abi: testUsdcAbi, functionName: "approve", args: [registrar, 5n] });
  const dirtied = concatHex([slice(dirty, 0, 4), "0xff", slice(dirty, 5)]);
  expect(decodeCall(testUsdcAbi, dirtied)?.canonical ?? false).toBe(false);
});

test("a batch with unusual offsets is not canonical", () => {
  const { data } = payBatchCall(registrar, [word("01")], [5n]);
  // The second array moved one word further, with a gap before it.
  const gap = concatHex([slice(data, 0, 67), "0xa0", slice(data, 68, 132), word("00"), slice(data, 132)]);
  expect(decodeCall(purchaseRegistrarAbi, gap)).toMatchObject({ function: "payBatch", canonical: false });
});

test.each<[string, Hex]>([
  ["nothing", "0x"],
  ["half a selector", "0xc290"],
  ["an unknown selector", `0xdeadbeef${"00".repeat(64)}`],
  ["a truncated argument", slice(payCall(registrar, word("01"), 5n).data, 0, 67)],
  ["no hex", "0xzz"],
])("%s does not decode", (_name, data) => {
  expect(decodeCall(purchaseRegistrarAbi, data)).toBeNull();
});

test.each<[string, Hex, (data: Hex) => Hex, object]>([
  [
    "a payment without its last byte",
    payCall(registrar, word("01"), 256n).data,
    (data) => slice(data, 0, 67),
    { function: "pay", args: { id: word("01"), amount: "256" } },
  ],
  [
    "a payment with its selector alone",
    payCall(registrar, word("01"), 256n).data,
    (data) => slice(data, 0, 4),
    { function: "pay", args: { id: word("00"), amount: "0" } },
  ],
  [
    "a batch without its last word",
    payBatchCall(registrar, [word("01"), word("02")], [5n, 6n]).data,
    (data) => slice(data, 0, 228),
    { function: "payBatch", args: { ids: [word("01"), word("02")], amounts: ["5", "0"] } },
  ],
  [
    "a paused flag that is no bool",
    encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "setPaused", args: [word("01"), true] }),
    (data) => concatHex([slice(data, 0, 36), "0x02", slice(data, 37)]),
    { function: "setPaused", args: { program: word("01"), paused: true } },
  ],
])("%s is read as far as it goes, and is not canonical", (_name, data, change, read) => {
  expect(decodeCall(purchaseRegistrarAbi, change(data))).toBeNull();
  expect(readCall(purchaseRegistrarAbi, change(data))).toMatchObject({ ...read, canonical: false });
  expect(readCall(purchaseRegistrarAbi, data)).toEqual(decodeCall(purchaseRegistrarAbi, data));
});

test.each<Hex>(["0x", "0xd0ee", `0xdeadbeef${"00".repeat(64)}`, "0xzz"])(
  "%s is not read as a call",
  (data) => {
    expect(readCall(purchaseRegistrarAbi, data)).toBeNull();
  },
);

test("a selector in capitals is the same selector", () => {
  const { data } = payCall(registrar, word("ab"), 5n);
  const capitals: Hex = `0x${data.slice(2).toUpperCase()}`;
  expect(decodeCall(purchaseRegistrarAbi, capitals)?.function).toBe("pay");
});
