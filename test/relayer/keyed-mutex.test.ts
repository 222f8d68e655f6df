import { expect, test } from "vitest";
import { KeyedMutex } from "../../relayer/keyed-mutex.ts";

test("a turn that is ended twice does not end the turn of the next holder of its key", async () => {
  const locks = new KeyedMutex();
  const endFirst = await locks.acquire("key");
  endFirst();
  const endSecond = await locks.acquire("key");
  endFirst();
  expect(locks.isHeld("key")).toBe(true);

  const order: string[] = [];
  const third = locks.run("key", async () => {
    order.push("third");
  });
  order.push("second");
  endSecond();
  await third;
  expect(order).toEqual(["second", "third"]);
  expect(locks.isHeld("key")).toBe(false);
});
