import { describe, expect, test } from "bun:test";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

const HTML = {
  status: 200,
  text: "<html><body>Welcome</body></html>",
  headers: { "content-type": "text/html" },
};
const always = (scripted: Scripted) => () => scripted;
const clean = { sent: 1, failed: 0, unknown: 0, skipped: 0 };

type Case = {
  name: string;
  prepare: (fixture: Fixture) => unknown;
  exitCode: number;
  /** What the summary says, and the codes of its failures, each once. */
  says: object;
  codes: string[];
};

const CASES: Case[] = [
  {
    name: "an application that answers a page with 200 has analysed nothing",
    prepare: ({ application }) => {
      application.routes.analysis.script = always(HTML);
    },
    exitCode: 1,
    says: { social: { calls: 4, failed: 2 }, heartbeat: "kept", whatsapp: clean, email: clean },
    codes: ["SOCIAL_ALL_CALLS_FAILED", "APP_ANSWER_INVALID"],
  },
  {
    name: "an application that answers every call with a page and 500",
    prepare: ({ application }) => {
      application.routes.analysis.script = always({ ...HTML, status: 500 });
    },
    exitCode: 1,
    says: { social: { calls: 4, failed: 2 }, heartbeat: "kept", whatsapp: clean, email: clean },
    codes: ["SOCIAL_ALL_CALLS_FAILED", "APP_HTTP_500"],
  },
  {
    name: "an application that refuses the secret",
    prepare: (fixture) => fixture.secret("TRIGGER_SECRET", "canary-of-another-trigger"),
    exitCode: 1,
    says: {
      error: { code: "APP_HTTP_401" },
      reports: { completed: 0, failed: 1 },
      whatsapp: { sent: 0, failed: 0 },
      editorials: { status: "skipped" },
      heartbeat: "kept",
    },
    codes: ["APP_HTTP_401"],
  },
  {
    name: "an application that says it is not Monday",
    prepare: ({ application }) => {
      application.outsideMonday = true;
    },
    exitCode: 1,
    says: { error: { code: "APP_HTTP_409" }, reports: { completed: 0, failed: 1 }, heartbeat: "kept" },
    codes: ["APP_HTTP_409"],
  },
  {
    name: "an application that is not there",
    prepare: ({ application }) => application.stop(),
    exitCode: 1,
    says: { social: { calls: 4, failed: 2 }, whatsapp: clean, email: clean },
    codes: ["SOCIAL_ALL_CALLS_FAILED", "APP_UNREACHABLE", "WORKER_UNREACHABLE"],
  },
  {
    name: "a gateway that answers 200 with nonsense",
    prepare: ({ gateway }) => gateway.routes.send.next({ status: 200, json: { ok: "yes", id: 7 } }),
    exitCode: 1,
    says: { whatsapp: { sent: 0, unknown: 1 }, email: clean, heartbeat: "kept" },
    codes: ["gateway_answer_without_id"],
  },
  {
    name: "a gateway that answers 200 with a page",
    prepare: ({ gateway }) => gateway.routes.send.next(HTML),
    exitCode: 1,
    says: { whatsapp: { sent: 0, unknown: 1 }, email: clean },
    codes: ["gateway_answer_unreadable"],
  },
  {
    name: "a gateway that answers 500",
    prepare: ({ gateway }) => gateway.routes.send.next({ ...HTML, status: 500 }),
    exitCode: 1,
    says: { whatsapp: { sent: 0, unknown: 1 }, email: clean },
    codes: ["gateway_http_500"],
  },
  {
    name: "a gateway that refuses the key",
    prepare: (fixture) => fixture.secret("GATEWAY_ADMIN_KEY", "canary-of-another-key"),
    exitCode: 1,
    says: { whatsapp: { sent: 0, failed: 1 }, email: clean },
    codes: ["gateway_unauthorized"],
  },
  {
    name: "a gateway without a licence",
    prepare: ({ gateway }) => {
      gateway.isLicensed = false;
    },
    exitCode: 1,
    says: { whatsapp: { sent: 0, failed: 1 }, email: clean },
    codes: ["gateway_license_required"],
  },
  {
    name: "a gateway whose account at Meta is refused",
    prepare: ({ gateway }) => {
      gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
      gateway.metaError = { message: "Session has expired", type: "OAuthException", code: 190 };
    },
    exitCode: 1,
    says: { whatsapp: { sent: 0, failed: 1 }, email: clean },
    codes: ["meta_190"],
  },
  {
    name: "a phone that is lost before the send",
    prepare: ({ gateway }) => {
      gateway.routes.send.script = () => {
        gateway.instances.set("ops", "close");
        return undefined;
      };
    },
    exitCode: 1,
    says: { whatsapp: { sent: 0, unknown: 1 }, email: clean },
    codes: ["sem_instancia_gateway", "gateway_http_500"],
  },
  {
    name: "a gateway whose state is a page",
    prepare: ({ gateway }) => gateway.routes.state.next(HTML),
    exitCode: 1,
    says: { whatsapp: { sent: 0, failed: 1 }, email: clean },
    codes: ["sem_instancia_gateway"],
  },
  {
    name: "a gateway that is not there",
    prepare: ({ gateway }) => gateway.stop(),
    exitCode: 1,
    says: { whatsapp: { sent: 0, failed: 1 }, email: clean },
    codes: ["sem_instancia_gateway"],
  },
  {
    name: "an e-mail provider that answers 422",
    prepare: ({ email }) =>
      email.routes.send.next({ status: 422, json: { name: "validation_error", message: "no" } }),
    exitCode: 1,
    says: { whatsapp: clean, email: { sent: 0, failed: 1 } },
    codes: ["validation_error"],
  },
  {
    name: "an e-mail provider that answers 409",
    prepare: ({ email }) =>
      email.routes.send.next({ status: 409, json: { name: "concurrent_idempotent_requests", message: "" } }),
    exitCode: 1,
    says: { whatsapp: clean, email: { sent: 0, unknown: 1 } },
    codes: ["concurrent_idempotent_requests"],
  },
  {
    name: "an e-mail provider that answers 200 with a page",
    prepare: ({ email }) => email.routes.send.next(HTML),
    exitCode: 1,
    says: { whatsapp: clean, email: { sent: 0, unknown: 1 } },
    codes: ["email_answer_unreadable"],
  },
  {
    name: "an e-mail provider that is not there",
    prepare: ({ email }) => email.stop(),
    exitCode: 1,
    says: { whatsapp: clean, email: { sent: 0, failed: 1 } },
    codes: ["email_unreachable"],
  },
  {
    name: "a provider that asks to wait",
    prepare: ({ email }) =>
      email.routes.send.next({
        status: 429,
        json: { name: "rate_limit_exceeded", message: "" },
        headers: { "retry-after": "1" },
      }),
    exitCode: 0,
    says: { status: "success", email: clean, heartbeat: "written" },
    codes: [],
  },
];

const codesOf = ({ failures }: WeeklySummary) => [...new Set(failures.map(({ code }) => code))];

describe.concurrent("opsctl weekly with", () => {
  test.each(CASES)("$name", async ({ prepare, exitCode, says, codes }) => {
    await using fixture = await openFixture({ editorials: true });
    await seedOwner(fixture.db.sql);
    await prepare(fixture);

    // Without patience: what waiting brings is tested where time is virtual.
    const ended = await fixture.weekly(["--json", "--patience", "0"]);

    expect(ended.exitCode, ended.stdout).toBe(exitCode);
    expect(ended.summary).toMatchObject({ exitCode, ...says });
    expect(codesOf(ended.summary)).toEqual(codes);
    expect(fixture.heartbeat.isOld()).toBe(exitCode !== 0);
    expect(ended.stdout + ended.stderr).not.toContain("<html");
  });
});

describe.concurrent("the run after", () => {
  test("a refusal of the application: it resumes what was left", async () => {
    await using fixture = await openFixture();
    for (let i = 0; i < 3; i += 1) await seedOwner(fixture.db.sql);
    fixture.application.outsideMonday = true;
    const refused = await fixture.weekly(["--json", "--concurrency", "1"]);
    expect(fixture.application.ledger).toHaveLength(3);
    expect(refused.summary.reports).toMatchObject({ scopes: 3, completed: 0, failed: 3 });
    fixture.application.outsideMonday = false;
    const resumed = await fixture.weekly(["--json"]);
    expect(resumed.summary).toMatchObject({ exitCode: 0, reports: { completed: 3 }, heartbeat: "written" });
  });

  test("corrected data: what failed is sent, what was sent is not sent again", async () => {
    await using fixture = await openFixture();
    const { userId } = await seedOwner(fixture.db.sql, { phone: null });
    const first = await fixture.weekly(["--json"]);
    expect(first.summary).toMatchObject({ exitCode: 1, whatsapp: { failed: 1 }, email: { sent: 1 } });
    await fixture.db.sql`update users set phone = '11 97777-1234' where id = ${userId}`;
    const second = await fixture.weekly(["--json"]);
    expect(second.summary).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 }, email: { reused: 1 } });
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([1, 1]);
  });
});
