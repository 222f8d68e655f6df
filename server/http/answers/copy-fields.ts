import type { z } from "zod";

/** The fields of a record that a schema has, too; a field that a record can lack is null. */
type Copied<R, S> = {
  [N in keyof R & keyof S]-?: undefined extends R[N] ? Exclude<R[N], undefined> | null : R[N];
};

/**
 * Returns what a schema shows of a record: the fields that have the same name in both, in the order of the schema. A field that the record
 * lacks is null, as in a record of an older version; what the schema shows besides is to be added.
 *
 * @example { ...copyFields(refundSchema, refund), from: purchase.merchant }
 */
export function copyFields<S extends z.ZodRawShape, R extends object>(
  { shape }: z.ZodObject<S>,
  record: R,
): Copied<R, S> {
  const fields = new Map(Object.entries(record));
  return Object.fromEntries(Object.keys(shape).map((name) => [name, fields.get(name) ?? null])) as Copied<
    R,
    S
  >;
}
