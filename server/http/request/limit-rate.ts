import type { Step } from "../step.ts";
import { type Called, nameOf } from "./authenticate.ts";

/** Counts a request once, however often it starts over. @throws Problem rate_limited */
export const limitRate: Step<Called, Called> = async (context, next) => {
  const { caller, now, once, services } = context;
  if (!once.isCounted && services.rateLimiter.hasLimit && isLimited(context)) {
    await context.confirmTime();
    once.isCounted = true;
    services.rateLimiter.count(nameOf(caller), now);
  }
  return await next(context);
};

function isLimited({ caller, services }: Called): boolean {
  if (caller.kind === "account") return caller.account.isLimited;
  if (caller.kind !== "credential") return true;
  return services.settings.accounts.find(({ id }) => id === caller.credential.account)?.isLimited ?? true;
}
