import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { WEEK } from "../support/seed.ts";
import { describeLedger, refusal, shifted, validPersist } from "./support/ledger.ts";

describeLedger("persist_weekly_performance_report()", (ledger) => {
  async function claimed() {
    const owner = await ledger.newOwner();
    return { owner, claim: await ledger.claimReport(owner) };
  }

  test("completes the row and answers the payload as stored", async () => {
    const { owner, claim } = await claimed();
    const valid = validPersist(owner, claim);
    expect(await ledger.persist(owner, claim)).toEqual(valid.payload);
    expect(await ledger.report(claim.id)).toMatchObject({
      status: "completed",
      fingerprint: valid.fingerprint,
      evidence: valid.evidence,
      payload: valid.payload,
      coverage_status: "partial",
      claim_token: claim.token,
    });
  });

  test("names each mismatch and leaves the row as it was", async () => {
    const { owner, claim } = await claimed();
    const stranger = crypto.randomUUID();
    const otherHash = createHash("sha256").update("other").digest("hex");
    const before = await ledger.report(claim.id);
    const { payload } = validPersist(owner, claim) as { payload: object };
    const [early, late] = ["2026-11-09T03:00:00Z", "2026-11-30T03:00:00Z"];
    const mismatches: [Parameters<typeof ledger.persist>[2], string][] = [
      [{ reportId: stranger }, "OW003 report_not_found"],
      [{ token: stranger }, "OW004 report_token_mismatch"],
      [{ token: null }, "OW004 report_token_mismatch"],
      [{ tenantId: stranger }, "OW006 report_tenant_mismatch"],
      [{ userId: stranger }, "OW007 report_user_mismatch"],
      [{ start: "2026-11-16T03:00:01Z" }, "OW008 report_window_mismatch"],
      [{ end: "2026-11-23T03:00:01Z" }, "OW008 report_window_mismatch"],
      [{ version: 2 }, "OW009 report_schema_version_mismatch"],
      [{ fingerprint: otherHash }, "OW010 report_fingerprint_mismatch"],
      [{ fingerprint: null }, "OW010 report_fingerprint_mismatch"],
      [{ evidence: "{}" }, "OW010 report_fingerprint_mismatch"],
      [{ evidence: null }, "OW010 report_fingerprint_mismatch"],
      // Values of another report that agree with each other.
      [{ tenantId: stranger, payload: { ...payload, tenantId: stranger } }, "OW006 report_tenant_mismatch"],
      [{ userId: stranger, payload: { ...payload, userId: stranger } }, "OW007 report_user_mismatch"],
      [{ start: early, payload: { ...payload, windowStart: early } }, "OW008 report_window_mismatch"],
      [{ end: late, payload: { ...payload, windowEnd: late } }, "OW008 report_window_mismatch"],
      [{ version: 2, payload: { ...payload, schemaVersion: 2 } }, "OW009 report_schema_version_mismatch"],
    ];
    for (const [wrong, expected] of mismatches)
      expect(await refusal(ledger.persist(owner, claim, wrong))).toBe(expected);
    expect(await ledger.report(claim.id)).toEqual(before);
  });

  test("refuses an instant that is wrong by less than a second", async () => {
    const { owner, claim } = await claimed();
    const { payload } = validPersist(owner, claim) as { payload: object };
    for (const [instant, name] of [
      ["start", "windowStart"],
      ["end", "windowEnd"],
    ] as const) {
      const off = WEEK[instant].replace("Z", ".5Z");
      expect(await refusal(ledger.persist(owner, claim, { [instant]: off }))).toBe(
        "OW008 report_window_mismatch",
      );
      expect(await refusal(ledger.persist(owner, claim, { payload: { ...payload, [name]: off } }))).toBe(
        "OW011 report_payload_mismatch",
      );
    }
  });

  test("a report of a week that does not begin or end with a second has to say so in its payload", async () => {
    for (const [instant, name, column] of [
      ["start", "windowStart", "window_start"],
      ["end", "windowEnd", "window_end"],
    ] as const) {
      const { owner, claim } = await claimed();
      const { payload } = validPersist(owner, claim) as { payload: object };
      await ledger.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx.unsafe(
          `update weekly_performance_reports set ${column} = ${column} + interval '0.5 seconds' where id = $1`,
          [claim.id],
        );
      });
      const value = WEEK[instant].replace("Z", ".5Z");
      expect(await refusal(ledger.persist(owner, claim, { [instant]: value }))).toBe(
        "OW011 report_payload_mismatch",
      );
      await ledger.persist(owner, claim, { [instant]: value, payload: { ...payload, [name]: value } });
    }
  });

  test("refuses at exactly the end of the lease although nobody took over, and accepts just before it", async () => {
    const { owner, claim } = await claimed();
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "0 seconds"));
    expect(await refusal(ledger.persist(owner, claim))).toBe("OW005 report_lease_expired");
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "-1 microsecond"));
    await ledger.persist(owner, claim);
    expect(await ledger.report(claim.id)).toMatchObject({ status: "completed" });
  });

  test("refuses the holder of a lost claim", async () => {
    const { owner, claim } = await claimed();
    await ledger.moveClock("20 minutes");
    const next = await ledger.claimReport(owner);
    expect(await refusal(ledger.persist(owner, claim))).toBe("OW004 report_token_mismatch");
    await ledger.persist(owner, next);
  });

  test("refuses a payload that names another report", async () => {
    const { owner, claim } = await claimed();
    const { payload } = validPersist(owner, claim) as { payload: Record<string, unknown> };
    const wrong: unknown[] = [
      null,
      [],
      "text",
      {},
      ...Object.keys(payload)
        .filter((key) => key !== "coverageStatus" && key !== "provenance")
        .map((key) => Object.fromEntries(Object.entries(payload).filter(([name]) => name !== key))),
      { ...payload, schemaVersion: 2 },
      { ...payload, schemaVersion: "1" },
      { ...payload, tenantId: owner.userId },
      { ...payload, userId: owner.tenantId },
      { ...payload, windowStart: "2026-11-16T03:00:01Z" },
      { ...payload, windowEnd: "2026-11-16T03:00:00Z" },
      // Without its Z the instant would depend on the session's zone.
      { ...payload, windowStart: "2026-11-16T03:00:00" },
      { ...payload, windowEnd: "not an instant Z" },
      { ...payload, windowEnd: "2026-13-45T03:00:00Z" },
      { ...payload, provenance: { fingerprint: "0".repeat(64) } },
    ];
    for (const value of wrong)
      expect(await refusal(ledger.persist(owner, claim, { payload: value }))).toBe(
        "OW011 report_payload_mismatch",
      );
    expect(
      await refusal(ledger.persist(owner, claim, { payload: { ...payload, coverageStatus: "full" } })),
    ).toStartWith("23514");
  });

  test("accepts the window in any spelling of the same instant", async () => {
    const spellings = [
      [WEEK.start.replace("Z", ".000000Z"), WEEK.end],
      [WEEK.start, "2026-11-23T03:00:00+00:00"],
      ["2026-11-16T00:00:00-03:00", "2026-11-23 00:00:00-03"],
    ];
    for (const [windowStart, windowEnd] of spellings) {
      const { owner, claim } = await claimed();
      const { payload } = validPersist(owner, claim) as { payload: object };
      const spelled = { ...payload, windowStart, windowEnd };
      expect(await ledger.persist(owner, claim, { payload: spelled })).toEqual(spelled);
      expect(await ledger.report(claim.id)).toMatchObject({ status: "completed", payload: spelled });
    }
  });

  test("a call in another zone and spelling of dates is the same call", async () => {
    const { owner, claim } = await claimed();
    const session = await ledger.sql.reserve();
    try {
      await session`set timezone = 'Asia/Kolkata'`;
      await session`set datestyle = 'German, DMY'`;
      const single = ledger.on(session);
      const { payload } = validPersist(owner, claim) as { payload: object };
      for (const local of [{ windowStart: "2026-11-16T08:30:00Z" }, { windowEnd: "2026-11-23T08:30:00Z" }])
        expect(await refusal(single.persist(owner, claim, { payload: { ...payload, ...local } }))).toBe(
          "OW011 report_payload_mismatch",
        );
      expect(await single.persist(owner, claim)).toEqual(payload);
    } finally {
      await session`reset timezone`;
      await session`reset datestyle`;
      session.release();
    }
  });

  test("a call repeated with the same values answers the same without a write, with others is refused, even on another day", async () => {
    const { owner, claim } = await claimed();
    const first = await ledger.persist(owner, claim);
    const before = await ledger.report(claim.id);
    const { payload } = validPersist(owner, claim) as { payload: object };
    for (const wrong of [{ payload: { ...payload, coverageStatus: "complete" } }, { evidence: "{}" }])
      expect(await refusal(ledger.persist(owner, claim, wrong))).toBe("OW012 report_not_running");
    await ledger.moveClock("3 days");
    expect(await ledger.persist(owner, claim)).toEqual(first);
    expect(await ledger.report(claim.id)).toEqual(before);
  });

  test("refuses a failed row, whose token is kept", async () => {
    const { owner, claim } = await claimed();
    await ledger.failReport(claim, "APP_HTTP_500");
    expect(await refusal(ledger.persist(owner, claim))).toBe("OW012 report_not_running");
  });
});

describeLedger("fail_weekly_performance_report()", (ledger) => {
  test("turns a running row into a failed one with its code", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.failReport(claim, "report_persist_failed");
    expect(await ledger.report(claim.id)).toMatchObject({
      status: "failed",
      error_code: "report_persist_failed",
      payload: null,
    });
  });

  test("a failure repeated with the same code succeeds without a write, with another is refused", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.failReport(claim, "APP_HTTP_401");
    const before = await ledger.report(claim.id);
    await ledger.moveClock("1 minute");
    await ledger.failReport(claim, "APP_HTTP_401");
    expect(await ledger.report(claim.id)).toEqual(before);
    expect(await refusal(ledger.failReport(claim, "APP_HTTP_409"))).toBe("OW012 report_not_running");
  });

  test("cannot fail the row of whoever took over", async () => {
    const owner = await ledger.newOwner();
    const first = await ledger.claimReport(owner);
    await ledger.moveClock("20 minutes");
    const second = await ledger.claimReport(owner);
    expect(await refusal(ledger.failReport(first, "APP_TIMEOUT"))).toBe("OW004 report_token_mismatch");
    expect(await ledger.report(first.id)).toMatchObject({ status: "running", claim_token: second.token });
  });

  test("a failure after the lease still counts for the holder of the token", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.moveClock("2 hours");
    await ledger.failReport(claim, "APP_TIMEOUT");
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed" });
  });

  test("refuses a completed row, a missing row, and a code that is a message", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    expect(await refusal(ledger.failReport(claim, "mail to fulano@example.com"))).toBe(
      "23514 weekly_performance_reports_error_code",
    );
    await ledger.persist(owner, claim);
    expect(await refusal(ledger.failReport(claim, "APP_TIMEOUT"))).toBe("OW012 report_not_running");
    expect(await refusal(ledger.failReport({ ...claim, id: crypto.randomUUID() }, "APP_TIMEOUT"))).toBe(
      "OW003 report_not_found",
    );
  });
});
