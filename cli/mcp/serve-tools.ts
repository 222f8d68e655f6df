import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../../protocol/coded-error.ts";
import { orList } from "../../server/lib/wording.ts";
import { describeFailure } from "../describe-failure.ts";
import { ControlRefusedError } from "../running/call-control.ts";
import { interruption, type Terminal } from "../terminal.ts";
import { controlTools } from "./control-tools.ts";
import { LineTransport } from "./line-transport.ts";
import { otherTools } from "./other-tools.ts";
import type { Arguments, Tool } from "./tool.ts";

const instructions =
  "These tools control a local sandbox for stablecoin commerce; the money is test money. `given` creates a merchant or a purchase in any state, `request` sends a request to the routing API, `explain` says why a transaction is refused, and `documentation` finds how something works. Take a `snapshot` before you try something, and `restore` it afterwards.";

/** Serves the tools over standard input and output, until the input ends or a signal comes. Calls in progress get their responses. */
export async function serveTools(terminal: Terminal, dataDirectory: string, version: string): Promise<void> {
  const tools = [...controlTools(dataDirectory), ...otherTools(dataDirectory)];
  const server = new Server(
    { name: "routing-sandbox", version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, input }) => ({ name, description, inputSchema: input })),
  }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params: { name, arguments: given = {} } }) => await callTool(tools, name, given),
  );
  const transport = new LineTransport(terminal);
  await server.connect(transport);
  await Promise.race([transport.ended, interruption(terminal)]);
  await transport.finish();
  await server.close();
}

/** Calls a tool. Its failure is a result, which the agent reads. */
async function callTool(tools: readonly Tool[], name: string, given: Arguments) {
  try {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined)
      throw new Error(`There is no tool ${name}. Use ${orList(tools.map((one) => one.name))}.`);
    return { content: [textOf(await tool.call(given))] };
  } catch (error) {
    if (!(error instanceof ControlRefusedError))
      return { isError: true, content: [textOf(describeFailure(error))] };
    const { code, errors } = error;
    return { isError: true, content: [textOf(messageOf(error)), textOf(JSON.stringify({ code, errors }))] };
  }
}

function textOf(text: string) {
  return { type: "text" as const, text };
}
