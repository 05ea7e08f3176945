import type { DeliveryChannelName, KnownDelivery } from "../database/deliveries.ts";
import type { Scope } from "../database/recipients.ts";
import type { Payload } from "../payload.ts";

/** A report that can be delivered; `known` has the deliveries that exist already. */
export type CompletedReport = {
  id: string;
  scope: Scope;
  /** Null when another version of opsctl made it and this one cannot read it. */
  payload: Payload | null;
  known: Partial<Record<DeliveryChannelName, KnownDelivery>>;
};
