/**
 * A sandbox process to be killed: keeps a chain in the folder that it is given, says what it runs, and waits.
 */
import { join } from "node:path";
import { startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";

const [folder = "."] = process.argv.slice(2);
const anvil = await startAnvil({ stateFile: join(folder, "state.json") });
const client = createChainClient(anvil.url);
await client.mine({ blocks: 3 });
const { hash } = await client.getBlock({ blockNumber: 3n });
console.log(JSON.stringify({ pid: anvil.pid, port: anvil.port, hash }));
