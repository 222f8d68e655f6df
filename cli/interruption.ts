/** Resolves at the first Ctrl-C (`interrupt`), or SIGTERM or SIGHUP (`termination`): a terminal that is closed sends SIGHUP. */
export async function interruption(): Promise<"interrupt" | "termination"> {
  const { promise, resolve } = Promise.withResolvers<"interrupt" | "termination">();
  process.once("SIGINT", () => resolve("interrupt"));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve("termination"));
  return await promise;
}
