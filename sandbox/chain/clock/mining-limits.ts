/** How many blocks one call mines at most. */
export const mostBlocks = 9_999;

/** How many seconds there may be between blocks that are mined by time. */
export const mostMiningSeconds = 3_600;
