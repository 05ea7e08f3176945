import type {
  FindMessages,
  KeptMessage,
  MessageQuestion,
  MessageSearch,
} from "../../../providers/evolution/find-messages.ts";
import { recipientJids } from "../../../providers/evolution/recipient-jids.ts";

/**
 * What the gateway keeps of a time, of every form that it may give a number.
 *
 * Behaviour: the first question that fails is the last.
 */
export async function findToNumber(
  find: FindMessages,
  { phone, ...question }: Omit<MessageQuestion, "remoteJid"> & { phone: string },
  signal: AbortSignal,
): Promise<MessageSearch> {
  const messages: KeptMessage[] = [];
  for (const remoteJid of recipientJids(phone)) {
    const search = await find({ ...question, remoteJid }, signal);
    if (search.status === "failed") return search;
    messages.push(...search.messages);
  }
  return { status: "answered", messages };
}
