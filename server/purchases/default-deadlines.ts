/** A day in seconds. */
export const day = 86_400;

/** The seconds from now until each deadline of a purchase, and until the end of a merchant's funding, when the body names none. */
export const defaultPeriods = {
  offer_deadline: day,
  pay_deadline: 7 * day,
  claim_deadline: 30 * day,
  funding_valid_until: 365 * day,
} as const;
