import type { DeliveryChannel } from "./channel.ts";
import type { CompletedReport } from "./completed-report.ts";
import { type DeliverDependencies, deliver } from "./deliver.ts";
import { type HandOver, newHandOver } from "./hand-over.ts";

/**
 * Steps 7 to 12 for each channel of one report, in order; `onBusy` is told of a delivery that another process holds.
 *
 * Shape: `handOver` is for the first channel.
 */
export async function deliverAll(
  dependencies: DeliverDependencies,
  channels: readonly DeliveryChannel[],
  { report, handOver }: { report: CompletedReport; handOver: HandOver | null },
  onBusy: (channel: DeliveryChannel, deliveryId: string) => void,
): Promise<void> {
  let before = handOver ?? newHandOver(channels[0] ?? null);
  for (const [index, channel] of channels.entries()) {
    const after = newHandOver(channels[index + 1] ?? null);
    const held = await deliver(dependencies, channel, report, { before, after });
    if (held) onBusy(channel, held.busy);
    before = after;
  }
}
