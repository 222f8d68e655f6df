import { expect, test } from "vitest";
import { z } from "zod";
import { copyFields } from "../../../../server/http/answers/copy-fields.ts";

const schema = z.object({ id: z.string(), paid: z.string(), reference: z.string().nullable() });

test("a view has the fields of a record that its schema has, in the order of the schema, and no others", () => {
  const record = { reference: "order-1001", salt: "0x5a", id: "pur_1" };
  const view = { ...copyFields(schema, record), paid: "5" };
  expect(JSON.stringify(view)).toBe('{"id":"pur_1","paid":"5","reference":"order-1001"}');
});

test("a field that a record of an older version lacks is null in a view", () => {
  const older: { id: string; reference?: string } = { id: "pur_1" };
  expect(copyFields(schema, older)).toMatchObject({ id: "pur_1", reference: null });
});
