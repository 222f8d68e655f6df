/** The default deadline of a start, in milliseconds. */
export const defaultStartTimeoutMs = 30_000;
/** The longest deadline of a start, in milliseconds. */
export const mostStartTimeoutMs = 600_000;
