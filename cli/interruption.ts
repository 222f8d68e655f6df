/** Resolves at the first Ctrl-C (`interrupt`) or SIGTERM (`termination`). */
export async function interruption(): Promise<"interrupt" | "termination"> {
  const { promise, resolve } = Promise.withResolvers<"interrupt" | "termination">();
  process.once("SIGINT", () => resolve("interrupt")).once("SIGTERM", () => resolve("termination"));
  return await promise;
}
