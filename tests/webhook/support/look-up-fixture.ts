import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import type { LookUp, LookUpResult } from "../../../lib/webhook/delivery/attempts/attempt.ts";
import { type LookUpDependencies, messageLookUp } from "../../../lib/webhook/delivery/attempts/look-up.ts";
import type { DueRow } from "../../../lib/webhook/state/contract.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import type { Scripted } from "../../standins/standin.ts";
import { dueRow } from "./due-row.ts";
import { START_MS } from "./state-fixture.ts";

const KEY = "canary-gateway-key";
/** The number to which all messages go. */
export const PHONE = "5511987654321";
/** The text of the row that is looked up. */
export const LOOKED_UP_TEXT = "🔴 *Disco Raiz Baixo* · main";
/** The two forms in which the gateway may give the number. */
export const JIDS = [`${PHONE}@s.whatsapp.net`, "551187654321@s.whatsapp.net"] as const;

/** A look-up at the stand-in of the gateway. */
export type LookUpFixture = {
  gateway: Gateway;
  /** Puts a message among those that the gateway keeps. */
  keep(id: string, sentAtMs: number, kept?: { text?: string; remoteJid?: string }): void;
  /** Orders an answer for one of the questions that are asked from now on, counted from one. */
  answerQuestion(which: number, answer: Scripted): void;
  /** A look-up with its own memory, and so long for each question; the message `ours` is known to be ours. */
  lookUpWith(changes: Partial<LookUpDependencies>, timeoutMs?: number): LookUp;
  /** Looks up a row; the message `ours` is known to be ours. */
  lookUp(
    row: Partial<DueRow>,
    changes: { nowMs: number } & Partial<Omit<LookUpDependencies, "nowMs">>,
  ): Promise<LookUpResult>;
  reset(): void;
  stop(): Promise<void>;
};

/** Starts the gateway of a look-up fixture. */
export async function startLookUpFixture(): Promise<LookUpFixture> {
  const gateway = await startGateway({ adminKey: KEY });
  const lookUpWith = (changes: Partial<LookUpDependencies>, timeoutMs = 60_000) =>
    messageLookUp({
      find: messageFinder({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY), timeoutMs }),
      findInstance: async () => ({ status: "found", name: "ops" }),
      phone: PHONE,
      heldReferences: async (_kind, ids) => new Set(ids.filter((id) => id === "ours")),
      nowMs: () => START_MS,
      ...changes,
    });
  return {
    gateway,
    keep(id, sentAtMs, { text = "Another", remoteJid = JIDS[0] } = {}) {
      gateway.kept.push({ instance: "ops", remoteJid, id, text, sentAt: Math.floor(sentAtMs / 1_000) });
    },
    answerQuestion(which, answer) {
      let asked = 0;
      gateway.routes.messages.script = () => {
        asked += 1;
        return asked === which ? answer : undefined;
      };
    },
    lookUpWith,
    async lookUp(row, { nowMs, ...changes }) {
      const look = lookUpWith({ nowMs: () => nowMs, ...changes });
      return await look(lookedUpRow(row), new AbortController().signal);
    },
    reset() {
      gateway.kept.length = 0;
      gateway.routes.messages.script = null;
    },
    stop: async () => await gateway.stop(),
  };
}

/** A row whose only attempt, at the start, ended without a clear answer. */
export const lookedUpRow = (changes: Partial<DueRow> = {}): DueRow =>
  dueRow({ attempts: 1, text: LOOKED_UP_TEXT, unclear: 1, firstBegunAtMs: START_MS, ...changes });
