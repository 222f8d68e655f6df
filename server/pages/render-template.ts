import { readFileSync } from "node:fs";

/**
 * Fills in a file of portal/: every `{{name}}` is replaced by its value.
 *
 * @throws Error when the file asks for a value that is not given.
 */
export function renderTemplate(file: string, values: { readonly [name: string]: string }): string {
  const text = readFileSync(new URL(`../../portal/${file}`, import.meta.url), "utf8");
  return text.replaceAll(/\{\{([a-z_0-9]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`portal/${file} asks for {{${name}}}, which is not given.`);
    return value;
  });
}
