/**
 * Returns an object with the fields of another one, each with what is made of it.
 *
 * @example mapFields({ a: 1, b: 2 }, (value, name) => name + value) // { a: "a1", b: "b2" }
 */
export function mapFields<T extends object, V>(
  object: T,
  make: (value: T[Extract<keyof T, string>], name: Extract<keyof T, string>) => V,
): { [N in keyof T]: V } {
  const made: { [N in keyof T]?: V } = {};
  for (const name in object) made[name] = make(object[name], name);
  return made as { [N in keyof T]: V };
}
