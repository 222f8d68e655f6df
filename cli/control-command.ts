import { Argument, type Command, Option } from "commander";
import { z } from "zod";
import type { ControlOperation } from "../sandbox/lib/control/operation.ts";
import { callControl } from "./running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "./shared-options.ts";
import { newCommand, print, type Terminal } from "./terminal.ts";

/** The parts of an operation from which its command follows. */
interface Commanded<A extends z.ZodType>
  extends Pick<ControlOperation, "id" | "method" | "path" | "params" | "command"> {
  readonly body?: z.ZodType;
  readonly success: { readonly schema: A };
}

const methods = { get: "GET", post: "POST", put: "PUT", delete: "DELETE" } as const;

/**
 * Returns the command of an operation of the control API, which sends it to the running sandbox and prints the response.
 *
 * @param show - the response as text.
 * @param judge - throws if the command has failed although the operation has succeeded, as flags that the caller adds may say.
 * @throws Error for an operation that names no command.
 */
export function controlCommand<A extends z.ZodType, F extends SandboxFlags = SandboxFlags>(
  terminal: Terminal,
  { id, method, path, params = {}, body, command: named, success }: Commanded<A>,
  show: (answer: z.output<A>) => string,
  judge: (answer: z.output<A>, flags: F) => Promise<void> | void = () => {},
): Command {
  if (named === undefined) throw new Error(`The operation ${id} names no command.`);
  const command = newCommand(terminal, named.name.replace(/.* /, "")).description(named.description);
  const fields = body instanceof z.ZodObject ? body.shape : {};
  for (const [name, schema] of Object.entries(params)) command.argument(`<${name}>`, textOf(schema));
  for (const [name, schema] of Object.entries(fields))
    if (name === named.argument) command.addArgument(listArgument(name, schema));
    else command.addOption(new Option(`--${name}`, textOf(schema)));
  return command
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async () => {
      const flags = command.opts<F>();
      const values = new Map<string, unknown>(Object.entries(flags));
      for (const [index, argument] of command.registeredArguments.entries()) {
        const value: unknown = command.processedArgs[index];
        const isLeftOut = Array.isArray(value) && value.length === 0;
        values.set(argument.name(), isLeftOut ? undefined : value);
      }
      const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(String(values.get(name))),
      );
      const sent = Object.fromEntries(Object.keys(fields).map((name) => [name, values.get(name)]));
      const response = await callControl(flags.dataDir, methods[method], target, body && sent);
      const answer = success.schema.parse(response);
      print(terminal, flags, response, show(answer));
      await judge(answer, flags);
    });
}

/** An argument of any number of values; without one, the field is left out. */
function listArgument(name: string, field: z.core.$ZodType): Argument {
  const list = field instanceof z.ZodDefault ? field.unwrap() : field;
  const argument = new Argument(`[${name}...]`, textOf(field));
  if (list instanceof z.ZodArray && list.element instanceof z.ZodEnum)
    argument.choices(list.element.options.map(String));
  return argument;
}

/** Returns the description of a schema as the help has it: not as a sentence. */
function textOf(schema: z.core.$ZodType): string {
  const { description = "" } = z.globalRegistry.get(schema) ?? {};
  return `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, "");
}
