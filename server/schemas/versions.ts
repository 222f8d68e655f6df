/** The version of the routing API. */
export const apiVersion = "1.4.0";

/** The version of the documentation host's own description. */
export const documentationVersion = "0.2.0";
