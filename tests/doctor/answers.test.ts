/** What doctor makes of the answers of external services, as the shared tables of cases have them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CommandName } from "../../lib/doctor/context.ts";
import { type AnswerCase, playedBy } from "../cases/answer-case.ts";
import { HOME_ANSWERS } from "../cases/application-answers.ts";
import { EMAIL_KEY_ANSWERS } from "../cases/email-answers.ts";
import { INSTANCES_ANSWERS, STATE_ANSWERS } from "../cases/gateway-answers.ts";
import { PROJECTS_ANSWERS } from "../cases/hosting-answers.ts";
import { ACCESS_ANSWERS } from "../cases/tracker-answers.ts";
import { refusedPort } from "../standins/raw-peer.ts";
import type { Route } from "../standins/standin.ts";
import { fixOf, type Host, openHost } from "./support/host.ts";

/** A check, the service that it asks, and the variable with the service's address. */
type Door = {
  check: readonly [CommandName, string];
  variable: string;
  route: (host: Host) => Route;
  answers: AnswerCase<unknown>[];
};

const DOORS: Door[] = [
  {
    check: ["weekly", "messaging gateway"],
    variable: "GATEWAY_URL",
    route: ({ gateway }) => gateway.routes.instances,
    answers: INSTANCES_ANSWERS,
  },
  {
    check: ["weekly", "whatsapp sender"],
    variable: "GATEWAY_URL",
    route: ({ gateway }) => gateway.routes.state,
    answers: STATE_ANSWERS,
  },
  {
    check: ["webhook", "messaging gateway"],
    variable: "MESSAGING_API_URL",
    route: ({ gateway }) => gateway.routes.instances,
    answers: INSTANCES_ANSWERS,
  },
  {
    check: ["webhook", "messaging gateway"],
    variable: "MESSAGING_API_URL",
    route: ({ gateway }) => gateway.routes.state,
    answers: STATE_ANSWERS,
  },
  {
    check: ["weekly", "e-mail provider"],
    variable: "EMAIL_API_URL",
    route: ({ email }) => email.routes.domains,
    answers: EMAIL_KEY_ANSWERS,
  },
  {
    check: ["webhook", "fallback channel"],
    variable: "ALERT_EMAIL_API_URL",
    route: ({ email }) => email.routes.domains,
    answers: EMAIL_KEY_ANSWERS,
  },
  {
    check: ["weekly", "application"],
    variable: "APP_BASE_URL",
    route: ({ application }) => application.routes.home,
    answers: HOME_ANSWERS,
  },
  {
    check: ["webhook", "issue tracker"],
    variable: "ISSUE_TRACKER_URL",
    route: ({ tracker }) => tracker.routes.graphql,
    answers: ACCESS_ANSWERS,
  },
  {
    check: ["collect-metrics", "hosting provider"],
    variable: "HOSTING_API_URL",
    route: ({ hosting }) => hosting.routes.projects,
    answers: PROJECTS_ANSWERS,
  },
];

/** The code of an outcome; null where it is none. Nothing at the gateway's address is no fault of an instance. */
function codeOf({ becomes, answer }: AnswerCase<unknown>): string | null {
  const { code = null, cause = null } = Object(becomes) as { code?: string; cause?: string };
  if (typeof becomes === "string") return becomes;
  return answer === "nobody_listens" && cause !== null ? cause : code;
}

const NAMED = DOORS.map((door) => [`${door.check.join(": ")} (${door.variable})`, door] as const);

describe.each(NAMED)("doctor %s", (_name, { check, variable, route, answers }) => {
  let host: Host;
  beforeAll(async () => {
    host = await openHost();
    host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example");
    host.setting("webhook", "ALERT_EMAIL_FROM", "alarm@mail.example");
    host.setting("webhook", "ALERT_EMAIL_API_KEY", "canary-key");
    host.setting("webhook", "ALERT_EMAIL_API_URL", host.email.url);
    host.dependencies.limitMs = 20_000;
    host.dependencies.callLimitMs = 20_000;
  });
  afterAll(async () => await host[Symbol.asyncDispose]());

  test.each(playedBy("doctor", answers))("has the code of the answer: $name", async (row) => {
    const [command, name] = check;
    const { answer } = row;
    const address = host.settings(command)[variable]!;
    if (answer === "nobody_listens")
      host.setting(command, variable, `http://127.0.0.1:${await refusedPort()}`);
    else route(host).script = () => answer;
    const findings = (await host.examine(command)).filter((one) => one.check === name);
    host.setting(command, variable, address);
    const codes = findings.filter(({ because }) => because === undefined).map((one) => one.code);
    expect(codes).toContain(codeOf(row));
    // A phone is paired again only where the gateway has said that it is not.
    const says = findings.map(fixOf).join();
    if (answers === INSTANCES_ANSWERS) expect(says).not.toMatch(/pair|phone|QR/);
  });
});
