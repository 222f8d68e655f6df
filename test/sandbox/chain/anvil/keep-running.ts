/**
 * A sandbox process to be killed: starts an Anvil, says which, and waits.
 */
import { startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";

const { pid, port } = await startAnvil();
console.log(JSON.stringify({ pid, port }));
