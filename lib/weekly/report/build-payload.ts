import * as v from "valibot";
import type { WeekBounds } from "../../ledger/week-state.ts";
import type { EvidenceRows } from "../database/evidence.ts";
import type { Scope } from "../database/recipients.ts";
import {
  CHANNELS,
  type Payload,
  payloadSchema,
  SCHEMA_VERSION,
  type Source,
  unavailableChannel,
} from "../payload.ts";
import { activationActions } from "./activation-actions.ts";
import { emailChannel } from "./email-channel.ts";
import type { Evidence } from "./evidence.ts";
import { previousMetrics, previousPartialChannels, scoreHistory } from "./history.ts";
import { type CollectedConnection, socialChannel } from "./social-channel.ts";
import { keptTenantName } from "./tenant-name.ts";

/** What one report is built from. */
export type PayloadInput = {
  scope: Scope;
  window: WeekBounds;
  generatedAt: string;
  connections: CollectedConnection[];
  rows: EvidenceRows;
  evidence: Evidence;
  fingerprint: string;
  version: string;
};

/**
 * Payload V1 from the evidence of the week and the weeks before: the same of both gives the same payload but for
 * `generatedAt`.
 *
 * Errors: a valibot error when the result does not fit its own schema; such a payload is never persisted.
 * Source: weekly report document, Payload V1.
 */
export function buildPayload(input: PayloadInput): Payload {
  const { scope, window, rows, evidence } = input;
  const instagram = socialChannel("instagram", input.connections, rows.analyses, window);
  const linkedin = socialChannel("linkedin", input.connections, rows.analyses, window);
  const previous = previousMetrics(rows.history, {
    instagram: instagram.shownConnectionId,
    linkedin: linkedin.shownConnectionId,
  });
  const channels: Payload["channels"] = {
    email: { ...emailChannel(evidence.email, window), previous: previous.email },
    instagram: { ...instagram.channel, previous: previous.instagram },
    linkedin: { ...linkedin.channel, previous: previous.linkedin },
    blog: { ...unavailableChannel("not_integrated"), previous: previous.blog },
    tiktok: { ...unavailableChannel("not_integrated"), previous: previous.tiktok },
  };
  const emailSource: Source = evidence.email
    ? { channel: "email", status: "ok" }
    : { channel: "email", status: "missing", code: "no_sends_in_window" };

  return v.parse(payloadSchema, {
    schemaVersion: SCHEMA_VERSION,
    tenantId: scope.tenantId,
    userId: scope.userId,
    windowStart: window.start,
    windowEnd: window.end,
    generatedAt: input.generatedAt,
    coverageStatus: CHANNELS.every((name) => channels[name].coverageStatus === "complete")
      ? "complete"
      : "partial",
    accountScore: accountScore(evidence.score, rows.score?.id ?? null),
    channels,
    missingChannels: CHANNELS.filter((name) => channels[name].status === "unavailable"),
    activationActions: activationActions(channels),
    provenance: {
      fingerprint: input.fingerprint,
      sources: [
        emailSource,
        ...instagram.sources,
        ...linkedin.sources,
        { channel: "blog", status: "not_integrated" },
        { channel: "tiktok", status: "not_integrated" },
      ],
      analysisTriggers: [...instagram.triggers, ...linkedin.triggers],
      worker: { version: input.version },
      tenantName: keptTenantName(rows.tenantName),
      scoreHistory: scoreHistory(rows.history, window, evidence.score.value),
      previousReportId: rows.history.previous?.reportId ?? null,
      previousPartialChannels: previousPartialChannels(rows.history),
    },
  });
}

function accountScore(
  { value, previous }: Evidence["score"],
  sourceId: string | null,
): Payload["accountScore"] {
  // Two decimals, as the column has them: 71.3 - 70.1 is not 1.2000000000000028.
  const delta = value === null || previous === null ? null : Math.round((value - previous) * 100) / 100;
  return { score: value, previousScore: previous, delta, sourceId };
}
