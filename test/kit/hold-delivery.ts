import type { Answer } from "./answer.ts";
import type { ExternalReceiver } from "./external-receiver.ts";
import type { TestKit } from "./test-kit.ts";

/** A delivery whose receiver does not answer before it is released. */
interface HeldDelivery {
  /** Sends the identical request. */
  deliver(): Promise<Answer>;
  /** The answer of the first request. */
  first: Promise<Answer>;
  release(): void;
}

/** Enrolls a merchant and delivers its event to a receiver, which holds the request back. */
export async function holdDelivery(kit: TestKit, receiver: ExternalReceiver): Promise<HeldDelivery> {
  await kit.enrolledMerchant();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  receiver.answer = async (_request, response) => {
    arrive();
    await released;
    response.end();
  };
  const deliver = async () =>
    await kit.post(kit.path("/notifications"), {}, { "Idempotency-Key": "deliver-1" });
  const first = deliver();
  await arrived;
  return { deliver, first, release };
}
