import { type Command, Option } from "commander";
import { z } from "zod";
import { initialBalances, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import { defaultAmount, merchantStates, purchaseStates, routes } from "../../sandbox/given/states.ts";
import { ControlRefusedError, callControl } from "../running/call-control.ts";
import {
  addRequiredOption,
  dataDirectoryOption,
  jsonOption,
  optionWithDefault,
  programOption,
  type SandboxFlags,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface GivenFlags extends SandboxFlags {
  state?: string;
}

const merchantAnswer = z.looseObject({
  merchant: z.looseObject({ id: z.string(), program: z.string(), status: z.string() }),
});
const purchaseAnswer = merchantAnswer.extend({
  purchase: z.looseObject({
    id: z.string(),
    status: z.string(),
    payment_status: z.string(),
    expired: z.boolean(),
    commitment: z.looseObject({ hash: z.string() }),
  }),
});

/** `routing-sandbox given purchase --state paid`: makes a merchant or a purchase in a state, in the running sandbox. */
export function givenCommand(terminal: Terminal): Command {
  return newCommand(terminal, "given")
    .description("create a merchant or a purchase in a given state, in the running sandbox")
    .addCommand(givenMerchantCommand(terminal))
    .addCommand(givenPurchaseCommand(terminal));
}

function givenMerchantCommand(terminal: Terminal): Command {
  return addRequiredOption(newCommand(terminal, "merchant"), stateOption(merchantStates))
    .description("create a merchant in a state, or use the wallet's merchant if it is already enrolled")
    .addOption(programOption())
    .addOption(walletOption("wallet", "the wallet that enrolls", "merchant"))
    .addOption(
      amountOption(
        "cap",
        "the most that can be refunded from the merchant's wallet",
        `${initialBalances.walletUsdc}`,
      ),
    )
    .addOption(optionWithDefault("--name <name>", "the merchant's name", "an example name"))
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async ({ dataDir, json, ...merchant }: GivenFlags) => {
      const answer = merchantAnswer.parse(await give(dataDir, { merchant }));
      const { id, program, status } = answer.merchant;
      print(terminal, { json }, answer, `${id} of ${program} is ${status}.`);
    });
}

function givenPurchaseCommand(terminal: Terminal): Command {
  return addRequiredOption(newCommand(terminal, "purchase"), stateOption(purchaseStates))
    .description("create a purchase in a state, and a merchant if there is none")
    .addOption(
      optionWithDefault("--route <route>", "how the purchase becomes active", "registrar_offer").choices(
        routes,
      ),
    )
    .addOption(programOption())
    .addOption(
      optionWithDefault("--merchant <id>", "an enrolled merchant", 'the merchant of the wallet "merchant"'),
    )
    .addOption(walletOption("buyer", "the wallet that pays", "buyer"))
    .addOption(walletOption("beneficiary", "the wallet that claims", "beneficiary"))
    .addOption(amountOption("amount", "the price", defaultAmount))
    .addOption(amountOption("paid", "the amount to pay", "the price, and half of it for partially_paid"))
    .option("--permit", "pay with a permit, in one transaction")
    .addOption(amountOption("claimed", "the amount to claim", "everything paid"))
    .addOption(amountOption("award", "the amount to award", "everything claimed, and 0 for denied"))
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async ({ dataDir, json, ...purchase }: GivenFlags) => {
      const answer = purchaseAnswer.parse(await give(dataDir, { purchase }));
      const { id, status, payment_status, expired, commitment } = answer.purchase;
      const also = expired ? "expired" : payment_status.replace("_", " ");
      print(
        terminal,
        { json },
        answer,
        `${id} of ${answer.merchant.id} is ${status}, ${also}; commitment ${commitment.hash}.`,
      );
    });
}

/** Asks for a given state; a refusal names the flag of each wrong option. */
async function give(dataDirectory: string, body: object): Promise<unknown> {
  try {
    return await callControl(dataDirectory, "POST", "/given", body);
  } catch (error) {
    if (!(error instanceof ControlRefusedError) || error.errors.length === 0) throw error;
    throw new Error(error.errors.map(inFlags).join(" "));
  }
}

/** The detail begins with the option's name, and says in its second sentence when the option has to be left out. */
function inFlags({ pointer, detail }: ControlRefusedError["errors"][number]): string {
  const option = pointer.split("/").at(-1) ?? "";
  return detail
    .replace(new RegExp(`^${option}( true)?(?= )`), `--${option}`)
    .replace(new RegExp(`(?<=[Ll]eave out )${option}(?=[,.])`), `--${option}`);
}

function stateOption(states: readonly string[]): Option {
  return new Option("--state <state>", "the state to create").choices(states);
}

function amountOption(name: string, description: string, value: string): Option {
  return optionWithDefault(`--${name} <amount>`, `${description}, in base units`, value);
}

function walletOption(name: string, description: string, wallet: string): Option {
  return optionWithDefault(`--${name} <wallet>`, description, wallet).choices(walletNames);
}
