import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import * as v from "valibot";
import { type Payload, payloadSchema, type Reached } from "../../lib/weekly/payload.ts";
import { type SeededOwner, seedOwner, WEEK, writeAnalysis } from "../support/seed.ts";
import { type StoredReport, storedReport } from "./support/stored-report.ts";
import { type WeeklyFixture, weeklyFixture } from "./support/weekly-fixture.ts";

const TOP_LEVEL = [
  "schemaVersion",
  "tenantId",
  "userId",
  "windowStart",
  "windowEnd",
  "generatedAt",
  "coverageStatus",
  "accountScore",
  "channels",
  "missingChannels",
  "activationActions",
  "provenance",
];
const OF_ITSELF = ["fingerprint", "sources", "analysisTriggers", "worker"];
const OF_BEFORE = ["tenantName", "scoreHistory", "previousReportId", "previousPartialChannels"];
const CHANNEL = ["status", "coverageStatus", "reason", "metrics", "insights", "evidence", "previous"];

let weekly: WeeklyFixture;
let full: SeededOwner;
let empty: SeededOwner;
let mixed: SeededOwner;
const reports = new Map<SeededOwner, StoredReport>();

beforeAll(async () => {
  weekly = await weeklyFixture();
  const { sql } = weekly.db;
  full = await seedOwner(sql, { networks: ["linkedin", "instagram", "instagram", "tiktok"] });
  empty = await seedOwner(sql, { networks: [], sends: [] });
  mixed = await seedOwner(sql, { networks: ["instagram", "linkedin"], sends: [[]] });
  const previous = { windowStart: "2026-11-09T03:00:00Z", windowEnd: WEEK.start };
  await writeAnalysis(sql, { ...full, connectionId: full.connections[0]!.id, ...previous }, { score: 70.1 });
  weekly.onAnalyze = (body) => {
    if (body.connectionId === mixed.connections[0]!.id) throw new Error("the application breaks off");
    return writeAnalysis(sql, body, { score: body.userId === full.userId ? 71.3 : null });
  };
  const summary = await weekly.run();
  expect(summary).toMatchObject({ status: "success", reports: { completed: 3, partialCoverage: 3 } });
  for (const owner of [full, empty, mixed]) reports.set(owner, await storedReport(sql, owner));
});
afterAll(() => weekly[Symbol.asyncDispose]());

const payloadOf = (owner: SeededOwner) => reports.get(owner)!.payload;

describe("a stored payload", () => {
  test("has the twelve keys, the five channels, and seven keys in each channel", () => {
    for (const { payload } of reports.values()) {
      expect(Object.keys(payload).toSorted()).toEqual(TOP_LEVEL.toSorted());
      expect(Object.keys(payload.channels).toSorted()).toEqual(
        ["email", "instagram", "linkedin", "blog", "tiktok"].toSorted(),
      );
      for (const channel of Object.values(payload.channels))
        expect(Object.keys(channel).toSorted()).toEqual(CHANNEL.toSorted());
      expect(Object.keys(payload.provenance).toSorted()).toEqual([...OF_ITSELF, ...OF_BEFORE].toSorted());
    }
  });

  test("is partial in V1 whatever the owner has, and names what is missing in the channels' order", () => {
    expect(
      [...reports.values()].map(({ coverage_status, payload }) => [coverage_status, payload.coverageStatus]),
    )
      // One row a report.
      .toEqual([
        ["partial", "partial"],
        ["partial", "partial"],
        ["partial", "partial"],
      ]);
    expect(payloadOf(full).missingChannels).toEqual(["blog", "tiktok"]);
    expect(payloadOf(empty).missingChannels).toEqual(["email", "instagram", "linkedin", "blog", "tiktok"]);
    expect(payloadOf(mixed).missingChannels).toEqual(["instagram", "blog", "tiktok"]);
  });

  test("keeps absence null and a score with its exact change", () => {
    expect(payloadOf(full).accountScore).toMatchObject({ score: 71.3, previousScore: 70.1, delta: 1.2 });
    expect(payloadOf(full).accountScore.sourceId).toMatch(/^[0-9a-f-]{36}$/);
    const nothing = { score: null, previousScore: null, delta: null };
    expect(payloadOf(empty).accountScore).toEqual({ ...nothing, sourceId: null });
    expect(payloadOf(mixed).accountScore).toMatchObject(nothing);
  });

  test("traces every channel, each connection and the triggers", () => {
    const sources = (owner: SeededOwner) =>
      payloadOf(owner).provenance.sources.map(({ channel, status, code }) => [channel, status, code]);
    expect(sources(full)).toEqual([
      ["email", "ok", undefined],
      ["instagram", "ok", undefined],
      ["instagram", "ok", undefined],
      ["linkedin", "ok", undefined],
      ["blog", "not_integrated", undefined],
      ["tiktok", "not_integrated", undefined],
    ]);
    expect(sources(empty)).toEqual([
      ["email", "missing", "no_sends_in_window"],
      ["instagram", "missing", "not_connected"],
      ["linkedin", "missing", "not_connected"],
      ["blog", "not_integrated", undefined],
      ["tiktok", "not_integrated", undefined],
    ]);
    expect(sources(mixed)[1]).toEqual(["instagram", "failed", "APP_UNREACHABLE"]);
    expect(payloadOf(full).provenance.analysisTriggers).toEqual(["weekly", "weekly", "weekly"]);
    expect(payloadOf(mixed).provenance.analysisTriggers).toEqual(["weekly"]);
  });

  test("goes through jsonb unchanged", () => {
    for (const { payload } of reports.values()) {
      const parsed = v.parse(payloadSchema, payload);
      expect(parsed).toEqual(payload);
      expect(JSON.stringify(v.parse(payloadSchema, JSON.parse(JSON.stringify(payload))))).toBe(
        JSON.stringify(parsed),
      );
    }
  });

  test("carries the fingerprint of its evidence, as SQL computes it too", async () => {
    for (const { id, fingerprint, evidence, payload } of reports.values()) {
      expect(payload.provenance.fingerprint).toBe(fingerprint);
      expect(createHash("sha256").update(evidence, "utf8").digest("hex")).toBe(fingerprint);
      expect(canonicalize(JSON.parse(evidence))).toBe(evidence);
      const [row] = await weekly.db.sql`
        select encode(sha256(convert_to(evidence, 'UTF8')), 'hex') = fingerprint as matches
        from weekly_performance_reports where id = ${id}`;
      expect(row!.matches).toBe(true);
    }
  });
});

describe("payloadSchema", () => {
  const valid = () => structuredClone(payloadOf(full)) as Payload & Record<string, unknown>;
  const spoilt: [string, (payload: ReturnType<typeof valid>) => void][] = [
    ["a key more", (p) => Object.assign(p, { benchmark: 1 })],
    ["a key less", (p) => Reflect.deleteProperty(p, "missingChannels")],
    ["a sixth channel", (p) => Object.assign(p.channels, { youtube: p.channels.blog })],
    ["a hidden channel", (p) => Reflect.deleteProperty(p.channels, "tiktok")],
    ["a key more in a channel", (p) => Object.assign(p.channels.blog, { score: 0 })],
    ["another version", (p) => Object.assign(p, { schemaVersion: 2 })],
    ["a version as text", (p) => Object.assign(p, { schemaVersion: "1" })],
    ["an instant with an offset", (p) => Object.assign(p, { windowStart: "2026-11-16T00:00:00-03:00" })],
    ["an instant without zone", (p) => Object.assign(p, { windowStart: "2026-11-16T03:00:00" })],
    ["a score beyond 100", (p) => Object.assign(p.accountScore, { score: 100.01 })],
    ["an unavailable channel with metrics", (p) => Object.assign(p.channels.blog, { metrics: { posts: 0 } })],
    ["an unavailable channel without a reason", (p) => Object.assign(p.channels.blog, { reason: null })],
    ["an available channel without metrics", (p) => Object.assign(p.channels.email, { metrics: null })],
    ["a metric as text", (p) => Object.assign(p.channels.email.metrics!, { sends: "1" })],
    ["a metric beyond all numbers", (p) => Object.assign(p.channels.email.metrics!, { sends: Infinity })],
    ["a list of metrics", (p) => Object.assign(p.channels.email, { metrics: [1] })],
    ["a stage more that was reached", (p) => Object.assign(reachedOf(p), { bounced: 1 })],
    ["a stage less", (p) => Reflect.deleteProperty(reachedOf(p), "clicked")],
    ["half an e-mail that was opened", (p) => Object.assign(reachedOf(p), { opened: 0.5 })],
    [
      "another object among the metrics",
      (p) => Object.assign(p.channels.email.metrics!, { other: reachedOf(p) }),
    ],
    [
      "what was reached in another channel",
      (p) => Object.assign(p.channels.instagram.metrics!, { reached: reachedOf(p) }),
    ],
    ["a fingerprint in capitals", (p) => Object.assign(p.provenance, { fingerprint: "A".repeat(64) })],
    ["seven weeks of the score", (p) => p.provenance.scoreHistory!.pop()],
    ["a week that is no date", (p) => Object.assign(p.provenance.scoreHistory![0]!, { week: "2026-W40" })],
    ["a past score beyond 100", (p) => Object.assign(p.provenance.scoreHistory![0]!, { score: 101 })],
    ["a previous figure as text", (p) => Object.assign(p.channels.email, { previous: { sends: "1" } })],
    ["a previous report that is no id", (p) => Object.assign(p.provenance, { previousReportId: "last" })],
    [
      "an unknown channel of the week before",
      (p) => Object.assign(p.provenance, { previousPartialChannels: ["youtube"] }),
    ],
    ["an unknown missing channel", (p) => Object.assign(p, { missingChannels: ["youtube"] })],
  ];

  const reachedOf = (payload: Payload) => payload.channels.email.metrics!.reached as Reached;

  test("accepts what is stored", () => {
    expect(v.is(payloadSchema, valid())).toBe(true);
    expect(reachedOf(valid())).toEqual({ delivered: 1, opened: 1, clicked: 0 });
  });

  test("accepts a report that was stored before it said what was reached", () => {
    const before = valid();
    Reflect.deleteProperty(before.channels.email.metrics!, "reached");
    expect(v.parse(payloadSchema, before)).toEqual(before);
    // A network may have a figure of that name.
    Object.assign(before.channels.instagram.metrics!, { reached: 5400 });
    expect(v.parse(payloadSchema, before)).toEqual(before);
  });

  test("accepts a report that was stored before reports had the weeks before", () => {
    const before = valid();
    for (const channel of Object.values(before.channels)) Reflect.deleteProperty(channel, "previous");
    for (const key of OF_BEFORE) Reflect.deleteProperty(before.provenance, key);
    expect(v.parse(payloadSchema, before)).toEqual(before);
  });

  test.each(spoilt)("refuses %s", (_what, spoil) => {
    const payload = valid();
    spoil(payload);
    expect(v.is(payloadSchema, payload)).toBe(false);
  });
});
