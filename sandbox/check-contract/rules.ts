import { type Address, concatHex, encodeFunctionData, type Hex, slice } from "viem";
import { z } from "zod";
import { fundingSourceAbi, purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { collectRefundCall, revokeFundingCall } from "../../protocol/call.ts";
import { hashClaim } from "../../protocol/claim.ts";
import { hashId } from "../../protocol/id.ts";
import { decodeRevert } from "../../relayer/revert.ts";
import type { Actor, Stage } from "./stage.ts";

const usdc = 1_000_000n;

/** One thing that a registrar must do or refuse, tried directly on chain. */
export interface Rule {
  name: string;
  /** Null when the contract keeps it, otherwise a sentence. */
  run(stage: Stage): Promise<string | null>;
}

interface Attempt {
  to: Address;
  data: Hex;
  value?: bigint;
}

const traced = z.object({ output: z.custom<Hex>((value) => typeof value === "string").optional() });

/** Sends what must be refused with this custom error; null when it was. */
async function refuses(stage: Stage, actor: Actor, attempt: Attempt, error: string): Promise<string | null> {
  const hash = await stage.send(actor, attempt);
  const { status } = await stage.receipt(hash);
  if (status === "success") {
    const { cause } = await stage.sandbox.explain(hash);
    return `the contract accepted it (${hash}); it must revert with ${error}. The service says: ${cause}`;
  }
  const answer: unknown = await stage.client.request<{
    Method: "debug_traceTransaction";
    Parameters: [Hex, object];
    ReturnType: unknown;
  }>({ method: "debug_traceTransaction", params: [hash, { tracer: "callTracer" }] });
  const seen = decodeRevert(traced.parse(answer).output ?? "0x")?.name ?? "no reason";
  return seen === error ? null : `the contract reverted with ${seen} (${hash}); ${error} was expected`;
}

async function accepts(stage: Stage, actor: Actor, attempt: Attempt): Promise<string | null> {
  const hash = await stage.send(actor, attempt);
  const { status } = await stage.receipt(hash);
  return status === "success" ? null : `the contract refused it (${hash})`;
}

async function at(stage: Stage, timestamp: number): Promise<void> {
  await stage.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
}

/** A payment on chain and a claim, without the service. */
async function payAndClaim(stage: Stage): Promise<void> {
  await stage.succeed("buyer", stage.pay(stage.purchase));
  await stage.succeed("beneficiary", stage.claim(stage.purchase).call);
}

function collect(stage: Stage, award: bigint): Attempt {
  const { registrar } = stage.contracts;
  return collectRefundCall(registrar, stage.purchase.commitment.hash, award, `0x${"d1".repeat(32)}`);
}

function trailing({ to, data }: Attempt): Attempt {
  return { to, data: `${data}00` };
}

function pause({ contracts }: Stage): Attempt {
  return { to: contracts.token, data: encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" }) };
}

function registrarCall({ contracts, purchase }: Stage, functionName: "withdrawOffer" | "expire"): Attempt {
  const args = [purchase.commitment.hash] as const;
  return {
    to: contracts.registrar,
    data: encodeFunctionData({ abi: purchaseRegistrarAbi, functionName, args }),
  };
}

/** What is outstanding over all offers of the program, in base units. */
async function openOffers(stage: Stage): Promise<bigint> {
  const { registrar: address } = stage.contracts;
  const query = { address, abi: purchaseRegistrarAbi, functionName: "programState" } as const;
  return (await stage.client.readContract({ ...query, args: [hashId("prg_demo")] })).openOffers;
}

/** What every registrar with this interface must keep. */
export const rules: readonly Rule[] = [
  {
    name: "nobody but the buyer pays, though he pays with his own money",
    async run(stage) {
      await stage.succeed("stranger", stage.approve(25n * usdc));
      return await refuses(stage, "stranger", stage.pay(stage.purchase), "WrongCaller");
    },
  },
  {
    name: "nobody but the buyer pays in a batch",
    async run(stage) {
      await stage.succeed("stranger", stage.approve(25n * usdc));
      const batch = stage.payBatch([[stage.purchase, 10n * usdc]]);
      return await refuses(stage, "stranger", batch, "WrongCaller");
    },
  },
  {
    name: "nobody but the merchant registers",
    run: async (stage) =>
      await refuses(stage, "stranger", await stage.registration(stage.draft), "WrongCaller"),
  },
  {
    name: "nobody but the beneficiary claims",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      return await refuses(stage, "stranger", stage.claim(stage.purchase).call, "WrongCaller");
    },
  },
  {
    name: "nobody but the bounded registrar collects a refund",
    async run(stage) {
      await payAndClaim(stage);
      return await refuses(stage, "stranger", collect(stage, 5n * usdc), "WrongCaller");
    },
  },
  {
    name: "a payment in the last second of its deadline is in time",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline);
      return await accepts(stage, "buyer", stage.pay(stage.purchase));
    },
  },
  {
    name: "a payment one second after its deadline is refused",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline + 1);
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "DeadlinePassed");
    },
  },
  {
    name: "a claim in the last second of its deadline is in time",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      await at(stage, stage.purchase.deadlines.claim_deadline);
      return await accepts(stage, "beneficiary", stage.claim(stage.purchase).call);
    },
  },
  {
    name: "a claim one second after its deadline is refused",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      await at(stage, stage.purchase.deadlines.claim_deadline + 1);
      return await refuses(stage, "beneficiary", stage.claim(stage.purchase).call, "DeadlinePassed");
    },
  },
  {
    name: "a registration one second after the offer deadline is refused",
    async run(stage) {
      const registration = await stage.registration(stage.draft);
      await at(stage, stage.draft.deadlines.offer_deadline + 1);
      return await refuses(stage, "merchant", registration, "DeadlinePassed");
    },
  },
  {
    name: "no more is paid than the amount",
    run: async (stage) =>
      await refuses(stage, "buyer", stage.pay(stage.purchase, 25n * usdc + 1n), "AmountOutOfRange"),
  },
  {
    name: "no more is paid than the amount, in two parts",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase, 20n * usdc));
      return await refuses(stage, "buyer", stage.pay(stage.purchase, 6n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "a payment of nothing is refused",
    run: async (stage) => await refuses(stage, "buyer", stage.pay(stage.purchase, 0n), "AmountOutOfRange"),
  },
  {
    name: "a purchase that is not on chain is not paid",
    run: async (stage) => await refuses(stage, "buyer", stage.pay(stage.draft), "UnknownPurchase"),
  },
  {
    name: "a payment with a trailing byte is refused",
    run: async (stage) =>
      await refuses(stage, "buyer", trailing(stage.pay(stage.purchase)), "NonCanonicalLength"),
  },
  {
    name: "a batch with a trailing byte is refused",
    run: async (stage) =>
      await refuses(
        stage,
        "buyer",
        trailing(stage.payBatch([[stage.purchase, 10n * usdc]])),
        "NonCanonicalEncoding",
      ),
  },
  {
    name: "a claim with a trailing byte is refused",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      const { call } = stage.claim(stage.purchase);
      return await refuses(stage, "beneficiary", trailing(call), "NonCanonicalLength");
    },
  },
  {
    name: "a registration with a trailing byte is refused",
    run: async (stage) =>
      await refuses(
        stage,
        "merchant",
        trailing(await stage.registration(stage.draft)),
        "NonCanonicalEncoding",
      ),
  },
  {
    name: "ETH is refused",
    run: async (stage) =>
      await refuses(stage, "buyer", { ...stage.pay(stage.purchase), value: 1n }, "no reason"),
  },
  {
    name: "nothing is claimed before a payment",
    run: async (stage) =>
      await refuses(stage, "beneficiary", stage.claim(stage.purchase).call, "NothingPaid"),
  },
  {
    name: "a purchase has one claim",
    async run(stage) {
      await payAndClaim(stage);
      const { call } = stage.claim(stage.purchase, 9n * usdc);
      return await refuses(stage, "beneficiary", call, "AlreadyClaimed");
    },
  },
  {
    name: "a purchase is registered once",
    async run(stage) {
      const registration = await stage.registration(stage.draft);
      await stage.succeed("merchant", registration);
      return await refuses(stage, "merchant", registration, "PurchaseExists");
    },
  },
  {
    name: "nothing is refunded without a claim",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      return await refuses(stage, "registrar", collect(stage, 5n * usdc), "NotClaimed");
    },
  },
  {
    name: "no more is refunded than was paid",
    async run(stage) {
      await payAndClaim(stage);
      return await refuses(stage, "registrar", collect(stage, 11n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "a purchase has one refund",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("registrar", collect(stage, 5n * usdc));
      return await refuses(stage, "registrar", collect(stage, 1n * usdc), "AlreadyRefunded");
    },
  },
  {
    name: "nobody but the registrar withdraws an offer",
    run: async (stage) =>
      await refuses(stage, "stranger", registrarCall(stage, "withdrawOffer"), "WrongCaller"),
  },
  {
    name: "a withdrawn offer gives back exactly its unpaid part",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      const before = await openOffers(stage);
      await stage.succeed("registrar", registrarCall(stage, "withdrawOffer"));
      const released = before - (await openOffers(stage));
      return released === 15n * usdc ? null : `the contract gave back ${released}, not ${15n * usdc}`;
    },
  },
  {
    name: "an offer does not expire while it can be paid",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline);
      return await refuses(stage, "stranger", registrarCall(stage, "expire"), "DeadlineNotPassed");
    },
  },
  {
    name: "an expired offer takes no payment",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline + 1);
      await stage.succeed("stranger", registrarCall(stage, "expire"));
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "WrongStatus");
    },
  },
  {
    name: "a commitment that was changed after it was signed is not registered",
    async run(stage) {
      const { to, data } = await stage.registration(stage.draft);
      // The amount is the seventh word of the purchase, the last byte of which becomes another one.
      const end = 4 + 7 * 32;
      const changed = concatHex([slice(data, 0, end - 1), "0x01", slice(data, end)]);
      return await refuses(stage, "merchant", { to, data: changed }, "InvalidSignature");
    },
  },
  {
    name: "nobody but the registrar draws from the funding source",
    async run(stage) {
      const { token, funding_source: to } = stage.contracts;
      const data = encodeFunctionData({
        abi: fundingSourceAbi,
        functionName: "draw",
        args: [token, stage.address("merchant"), stage.address("stranger"), usdc],
      });
      return await refuses(stage, "stranger", { to, data }, "NotRegistrar");
    },
  },
  {
    name: "a paused program takes no payment",
    async run(stage) {
      const data = encodeFunctionData({
        abi: purchaseRegistrarAbi,
        functionName: "setPaused",
        args: [hashId("prg_demo"), true],
      });
      await stage.succeed("deployer", { to: stage.contracts.registrar, data });
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "ProgramPaused");
    },
  },
  {
    name: "a revoked funding covers no new purchase",
    async run(stage) {
      const revoke = revokeFundingCall(stage.contracts.registrar, hashId(stage.merchant.id));
      await stage.succeed("merchant", revoke);
      return await refuses(stage, "merchant", await stage.registration(stage.draft), "NotEnrolled");
    },
  },
  {
    name: "a revoked funding still covers what was claimed before",
    async run(stage) {
      await payAndClaim(stage);
      const revoke = revokeFundingCall(stage.contracts.registrar, hashId(stage.merchant.id));
      await stage.succeed("merchant", revoke);
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
  {
    name: "a payment that the token stops leaves nothing behind",
    async run(stage) {
      await stage.succeed("deployer", pause(stage));
      await stage.send("buyer", stage.pay(stage.purchase));
      const { paid, sequence } = await stage.client.readContract({
        address: stage.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "figures",
        args: [stage.purchase.commitment.hash],
      });
      return paid === 0n && sequence === 1 ? null : `the contract recorded ${paid} that never moved`;
    },
  },
  {
    name: "the contract hashes claims as EIP-712 has it",
    async run(stage) {
      const { claim } = stage.claim(stage.purchase);
      const theirs = await stage.client.readContract({
        address: stage.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "hashClaim",
        args: [claim],
      });
      const ours = hashClaim(stage.domain, claim);
      return theirs === ours ? null : `hashClaim answers ${theirs}; ${ours} was expected`;
    },
  },
];
