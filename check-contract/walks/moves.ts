import { encodeFunctionData, maxUint256, zeroAddress } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import {
  acceptAdminCall,
  approveCall,
  claimCall,
  collectRefundCall,
  expireCall,
  type ProgramTerms,
  payBatchCall,
  payCall,
  payWithPermitCall,
  setBoundsCall,
  setPausedCall,
  transferAdminCall,
  withdrawOfferCall,
} from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import {
  amounts,
  callers,
  ends,
  fundings,
  type Move,
  move,
  otherSigner,
  programs,
  registrarOf,
  termsOf,
  type WalkPurchase,
  type WalkScene,
} from "./walk-scene.ts";

const approvals = [0n, 5n, 10n, 1_000n, maxUint256] as const;

/** Returns a random number below a bound; `rarely` returns whether something goes wrong, which in half of the walks is more seldom. */
export interface Choose {
  (bound: number): number;
  rarely(): boolean;
}

/** The calls of a walk so far, if nothing was refused: most calls continue from there, so that not all are refused. */
export interface Progress {
  /** The number of steps of each purchase. */
  steps: Map<number, number>;
  /** The funding of each merchant in each program. */
  fundings: Map<string, number>;
  /** The merchantRefs that are taken in each program. */
  refs: Set<string>;
  /** The number of permits that the buyer has used. */
  permits: number;
}

/** Returns one of a list. */
function oneOf<T>(list: readonly T[], choose: Choose): T {
  const chosen = list[choose(list.length)];
  if (chosen === undefined) throw new Error("The list is empty.");
  return chosen;
}

/** Usually the right account, and sometimes any other. */
function byOr(right: Actor, choose: Choose): Actor {
  return choose.rarely() ? oneOf(callers, choose) : right;
}

/** The calls that put a purchase on chain: an offer or a registration, rarely with another signature. */
function commit(scene: WalkScene, index: number, choose: Choose): Move {
  const { offers, registrations, operator, merchant } = purchaseAt(scene, index);
  const signer = choose.rarely() ? 1 : 0;
  const said = `purchase ${index}${signer === 1 ? ", with another signature" : ""}`;
  return choose(2) === 0
    ? move(scene, `offer ${said}`, byOr(operator, choose), () => offers[signer])
    : move(scene, `register ${said}`, byOr(merchant, choose), () => registrations[signer]);
}

function purchaseAt({ purchases: all }: WalkScene, index: number): WalkPurchase {
  const purchase = all[index];
  if (purchase === undefined) throw new Error(`There is no purchase ${index}.`);
  return purchase;
}

function pay(scene: WalkScene, index: number, choose: Choose, progress: Progress): Move {
  const { id, buyer, amount } = purchaseAt(scene, index);
  const registrar = registrarOf(scene);
  const by = byOr(buyer, choose);
  const some = () => oneOf(amounts, choose);
  const way = choose(5);
  if (way === 0) {
    const [nonce, place] = [
      choose(8) === 0 ? choose(3) : progress.permits,
      choose(3) === 0 ? choose(amounts.length) : amounts.indexOf(amount as 10n),
    ];
    const [permit, value] = [scene.permits[nonce]?.[place], amounts[place]];
    if (permit !== undefined && value !== undefined) {
      progress.permits += 1;
      return move(scene, `payWithPermit ${value} of purchase ${index}, with permit ${nonce}`, by, () =>
        payWithPermitCall(registrar, id, value, permit),
      );
    }
  }
  if (way === 1) {
    const begun = [...progress.steps.keys()].filter((other) => purchaseAt(scene, other).buyer === buyer);
    const open = begun.filter((other) => other !== index && progress.steps.get(other) === 1);
    const others = choose.rarely() ? [oneOf([index, ...begun], choose)] : open.slice(0, choose(3));
    const all = [index, ...others];
    for (const other of others) progress.steps.set(other, 2);
    const parts = all.map((one) => (choose(8) === 0 ? some() : purchaseAt(scene, one).amount));
    const ids = all.map((one) => purchaseAt(scene, one).id);
    return move(scene, `payBatch ${parts.join(", ")} of purchases ${all.join(", ")}`, by, () =>
      payBatchCall(registrar, ids, parts),
    );
  }
  const paid = choose(2) > 0 ? amount : some();
  // The rest may follow.
  if (paid < amount && choose(2) === 0) progress.steps.set(index, 1);
  return move(scene, `pay ${paid} of purchase ${index}`, by, () => payCall(registrar, id, paid));
}

function claim(scene: WalkScene, index: number, choose: Choose): Move {
  const { id, beneficiary } = purchaseAt(scene, index);
  const name = oneOf(["claim", "another claim"], choose);
  return move(scene, `${name} of purchase ${index}`, byOr(beneficiary, choose), () =>
    claimCall(registrarOf(scene), id, hashId(name)),
  );
}

function refund(scene: WalkScene, index: number, choose: Choose): Move {
  const { id, operator, amount } = purchaseAt(scene, index);
  const award = choose(2) === 0 ? amount : oneOf(amounts, choose);
  const name = oneOf(["a decision", "another decision"], choose);
  return move(scene, `collectRefund ${award} of purchase ${index} by ${name}`, byOr(operator, choose), () =>
    collectRefundCall(registrarOf(scene), id, award, hashId(name)),
  );
}

function end(scene: WalkScene, index: number, choose: Choose): Move {
  const { id, operator } = purchaseAt(scene, index);
  const registrar = registrarOf(scene);
  return choose(2) === 0
    ? move(scene, `withdrawOffer of purchase ${index}`, byOr(operator, choose), () =>
        withdrawOfferCall(registrar, id),
      )
    : move(scene, `expire of purchase ${index}`, byOr("stranger", choose), () => expireCall(registrar, id));
}

/** Changes of a program's terms, most of which its admin makes. */
function setTerms(scene: WalkScene, choose: Choose): Move {
  const { start } = scene;
  const program = choose(4) === 0 ? choose(programs.length) : 0;
  const { id, admin, operator } = programs[program] ?? programs[0];
  const bounds = { maxPurchase: 12n, openBudget: 30n, validUntil: start + ends.bounds };
  const changes: readonly [string, ProgramTerms][] = [
    ["the first terms", termsOf(scene, operator)],
    ["the first terms", termsOf(scene, operator)],
    ["a budget of 10", termsOf(scene, operator, { bounds: { ...bounds, openBudget: 10n } })],
    ["a budget of 0", termsOf(scene, operator, { bounds: { ...bounds, openBudget: 0n } })],
    ["at most 5", termsOf(scene, operator, { bounds: { ...bounds, maxPurchase: 5n } })],
    ["at most 20", termsOf(scene, operator, { bounds: { ...bounds, maxPurchase: 20n, openBudget: 100n } })],
    [
      "sooner bounds",
      termsOf(scene, operator, { bounds: { ...bounds, validUntil: start + ends.soonBounds } }),
    ],
    ["another operator", termsOf(scene, "other_buyer")],
    ["no operator", termsOf(scene, null)],
    ["another signer", termsOf(scene, operator, { commitmentSigner: otherSigner(scene) })],
    ["no signer", termsOf(scene, operator, { commitmentSigner: zeroAddress })],
  ];
  const [name, terms] = oneOf(changes, choose);
  return move(scene, `setBounds of program ${program}: ${name}`, byOr(admin, choose), () =>
    setBoundsCall(registrarOf(scene), id, terms),
  );
}

function pause(scene: WalkScene, program: number, paused: boolean, choose: Choose): Move {
  const { id, admin } = programs[program] ?? programs[0];
  return move(scene, `setPaused of program ${program}: ${paused}`, byOr(admin, choose), () =>
    setPausedCall(registrarOf(scene), id, paused),
  );
}

function changeAdmin(scene: WalkScene, choose: Choose): readonly Move[] {
  const program = choose(2);
  const { id, admin } = programs[program] ?? programs[0];
  const registrar = registrarOf(scene);
  const heir = oneOf(["stranger", "beneficiary", "deployer", "operator"] as const, choose);
  const transfer = (by: Actor, to: Actor | null) => {
    const address = to === null ? zeroAddress : scene.fixture.address(to);
    const name = `transferAdmin of program ${program} to ${to === null ? "no wallet" : `the ${to}`}`;
    return move(scene, name, by, () => transferAdminCall(registrar, id, address));
  };
  const accept = (by: Actor) =>
    move(scene, `acceptAdmin of program ${program}`, by, () => acceptAdminCall(registrar, id));
  const moves = [
    transfer(byOr(admin, choose), choose(6) === 0 ? null : heir),
    accept(byOr(heir, choose)),
    transfer(byOr(heir, choose), admin),
    accept(byOr(admin, choose)),
  ];
  const begin = choose(moves.length);
  return moves.slice(begin, begin + 1 + choose(moves.length));
}

/** Changes of allowances and of the token's blocklist. */
function changeToken(scene: WalkScene, choose: Choose): Move {
  const { fixture } = scene;
  const { registrar, funding_source: source, token } = fixture.contracts;
  const amount = oneOf(approvals, choose);
  const said = amount === maxUint256 ? "any amount" : String(amount);
  switch (choose(4)) {
    case 0: {
      const by = oneOf(["other_merchant", "stranger"] as const, choose);
      return move(scene, `approve ${said} for refunds`, by, () => approveCall(token, source, amount));
    }
    case 1: {
      const blocked = oneOf(["other_merchant", "buyer", "beneficiary"] as const, choose);
      const functionName = oneOf(["blacklist", "unBlacklist"] as const, choose);
      return move(scene, `${functionName} of the ${blocked}`, "deployer", () => {
        const args = [fixture.address(blocked)] as const;
        const data = encodeFunctionData({ abi: testUsdcAbi, functionName, args });
        return { to: token, function: functionName, data };
      });
    }
    default: {
      const by = oneOf(["buyer", "other_buyer"] as const, choose);
      return move(scene, `approve ${said} to pay`, by, () => approveCall(token, registrar, amount));
    }
  }
}

/** The first enrollment of a merchant. */
export function enrollFirst(
  scene: WalkScene,
  index: number,
  { fundings: active, refs: taken }: Progress,
): readonly Move[] {
  const [program = 0, ref, wallet = ""] = fundings[index] ?? [];
  active.set(`${program} ${wallet}`, index);
  taken.add(`${program} ${ref}`);
  return [scene.fundings[index]?.enroll ?? []].flat();
}

/** An enrollment, after the revocation of the merchant's former one; sometimes one that is refused comes before it. */
function enroll(scene: WalkScene, progress: Progress, choose: Choose): readonly Move[] {
  const index = choose(scene.fundings.length);
  const [program = 0, , wallet = ""] = fundings[index] ?? [];
  const place = `${program} ${wallet}`;
  const former = choose(8) === 0 ? choose(scene.fundings.length) : progress.fundings.get(place);
  const isTaken = (one: number) => {
    const [ofProgram, ref] = fundings[one] ?? [];
    return progress.refs.has(`${ofProgram} ${ref}`);
  };
  const fresh = fundings.flatMap(([of, , by], one) =>
    of === program && by === wallet && !isTaken(one) ? [one] : [],
  );
  const [next] = isTaken(index) ? fresh : [index];
  const moves = [former === undefined ? [] : (scene.fundings[former]?.revoke ?? [])].flat();
  if (isTaken(index)) moves.push(...[scene.fundings[index]?.enroll ?? []].flat());
  return [...moves, ...(next === undefined ? [] : enrollFirst(scene, next, progress))];
}

/** Returns calls that belong together: some steps of a purchase, or a change and what undoes it. */
export function chooseMoves(scene: WalkScene, progress: Progress, choose: Choose): readonly Move[] {
  const index = choose(2) === 0 ? choose(3) : choose(scene.purchases.length);
  const steps = [commit, pay, claim, refund, end] as const;
  const later = steps.slice(1);
  const begun = [...progress.steps.keys()];
  const one = () => {
    const about = begun.length === 0 || choose(8) === 0 ? index : oneOf(begun, choose);
    return oneOf(choose(8) === 0 ? steps : later, choose)(scene, about, choose, progress);
  };
  const next = (about: number) => {
    const place = progress.steps.get(about) ?? 0;
    progress.steps.set(about, place + 1);
    return (steps[place] ?? oneOf(steps, choose))(scene, about, choose, progress);
  };
  const kind = choose(16);
  if (kind > 10 && !choose.rarely() && choose(3) > 0) return [one()];
  const length = 1 + choose(4);
  if (kind < 5) return Array.from({ length }, () => next(index));
  if (kind < 9) {
    const mixed = Array.from({ length }, () =>
      next(choose(2) === 0 ? choose(scene.purchases.length) : oneOf([index, ...begun], choose)),
    );
    const place = choose(length + 1);
    return choose(4) > 0 ? mixed : mixed.toSpliced(place, 0, ...enroll(scene, progress, choose));
  }
  if (kind < 10) return [one()];
  if (kind < 11) return enroll(scene, progress, choose);
  if (kind === 11) {
    const program = choose(4) === 0 ? choose(programs.length) : 0;
    const paused = [pause(scene, program, true, choose), one(), one()].slice(0, 1 + choose(3));
    return choose(8) === 0 ? paused : [...paused, pause(scene, program, false, choose)];
  }
  if (kind === 12) return choose(3) === 0 ? [oneOf(scene.openings, choose)] : [setTerms(scene, choose)];
  if (kind === 13) return changeAdmin(scene, choose);
  return [changeToken(scene, choose)];
}
