/** A day in seconds. */
export const day = 86_400;
