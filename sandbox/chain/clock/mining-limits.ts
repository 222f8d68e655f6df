/** The largest number of blocks that one call mines. */
export const mostBlocks = 9_999;

/** The largest interval between blocks that are mined by time, in seconds. */
export const mostMiningSeconds = 3_600;
