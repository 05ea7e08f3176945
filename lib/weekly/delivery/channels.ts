import type { WeeklyDependencies, WeeklyOptions } from "../context/dependencies.ts";
import type { Stop } from "../context/run-stop.ts";
import type { DeliveryChannel } from "./channel.ts";
import { emailDeliveryChannel } from "./email.ts";
import { whatsappChannel } from "./whatsapp.ts";

/** The run's two channels, in the order in which an owner gets them; both stop with the run. */
export function deliveryChannels(
  dependencies: WeeklyDependencies,
  options: WeeklyOptions,
  stop: Stop,
): DeliveryChannel[] {
  const { appBaseUrl, unsubscribe } = options;
  const whatsapp = {
    leftOut: options.skipWhatsapp,
    senderTenantId: options.whatsappSenderTenantId,
    appBaseUrl,
    gateway: dependencies.gateway,
    rate: dependencies.whatsappRate,
    patienceMinutes: options.patienceMinutes,
  };
  const email = {
    leftOut: options.skipEmail,
    senderTenantId: options.emailSenderTenantId,
    appBaseUrl,
    unsubscribe,
    provider: dependencies.emailProvider,
    rate: dependencies.emailRate,
  };
  const channels = [
    whatsappChannel(whatsapp, dependencies.store),
    emailDeliveryChannel(email, dependencies.store),
  ];
  for (const channel of channels) channel.stop.follow(stop.signal);
  return channels;
}
