import { hash } from "node:crypto";
import { hashId } from "../../protocol/values/id.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Collections } from "../../server/store/records.ts";
import type { Stored } from "../../server/store/store.ts";

/** The records of a created purchase in the store: its own, its event and its stored answer. */
export type PurchaseRecords = [
  purchase: Stored<Collections["purchases"]>,
  event: Stored<Collections["events"]>,
  answer: Stored<Collections["idempotency"]>,
];

/** Hashes, salts and signatures. */
const hex = /0x[0-9a-f]{64,}/g;

/** Creates a purchase and returns its records. */
export async function originalPurchase({
  store,
  given,
}: Pick<Sandbox, "store" | "given">): Promise<PurchaseRecords> {
  const { id, event_id } = (await given.purchase({ state: "created" })).purchase;
  const purchase = await store.get("purchases", id);
  const event = await store.get("events", event_id);
  const answers = await store.list("idempotency", {});
  const answer = answers.find(({ value }) => value.response?.body.includes(event_id));
  if (purchase === undefined || event === undefined || answer === undefined)
    throw new Error("A created purchase has a record, an event and a stored answer.");
  return [purchase, event, answer];
}

/**
 * Returns a function that copies the records of a purchase, by a number. Each copy has hashes, signatures, a salt, accounts, ids and a
 * key of its own, so that it takes as much room as another real purchase when it is compressed. They are equal in the three records where those
 * of the real purchase are, and equal numbers make equal copies.
 *
 * @example const [purchase, event, answer] = copiesOf(await originalPurchase(sandbox))(1)
 */
export function copiesOf(original: PurchaseRecords): (number: number) => PurchaseRecords {
  const [purchase, event, answer] = original;
  const { program, buyer, beneficiary } = purchase.value;
  const text = JSON.stringify(original);
  const key = answer.key.slice(answer.key.indexOf("\n") + 1);
  const random = new Set([...(text.match(hex) ?? []), purchase.key, event.key, buyer, beneficiary, key]);
  // It is equal in all purchases of the program.
  random.delete(hashId(program));
  const parts = text.split(new RegExp(`(${[...random].join("|")})`));
  return (number) => {
    const copies = new Map([...random].map((one) => [one, randomLike(one, `${number}/${one}`)]));
    return JSON.parse(parts.map((part) => copies.get(part) ?? part).join(""));
  };
}

/** Returns hexadecimal digits, or an id, of the length of a text. */
function randomLike(text: string, seed: string): string {
  const digits = Array.from({ length: Math.ceil(text.length / 64) }, (_, block) =>
    hash("sha256", `${seed}/${block}`),
  ).join("");
  if (text.startsWith("0x")) return `0x${digits.slice(0, text.length - 2)}`;
  const [kind = "", rest] = text.split("_");
  if (rest === undefined) return digits.slice(0, text.length);
  const bytes = Buffer.from(digits + hash("sha256", seed), "hex");
  return `${kind}_${Array.from(rest, (_, at) => idDigits[(bytes[at] ?? 0) % 32]).join("")}`;
}

const idDigits = "abcdefghijklmnopqrstuvwxyz234567";
