/** Command lines that could be a mistake: each is refused before anything has happened. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const OTHER = "9e4d8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const NEEDED = "option --tenant needs a value";
const COUNT = "option --concurrency expects a positive whole number";

/** What is typed behind `opsctl`, and what the first line of the error says. */
const MISUSES: [words: string[], problem: string][] = [
  [["weekyl"], 'opsctl: unknown command "weekyl"; did you mean weekly?'],
  [["week"], 'unknown command "week"; did you mean weekly?'],
  [["wxxx"], 'unknown command "wxxx"'],
  [["constructor"], 'opsctl: unknown command "constructor"'],
  [[""], "opsctl: unknown command\n"],
  [["--json"], "opsctl: unknown option --json"],
  [["--json", "weekly"], "opsctl: unknown option --json"],
  [["--verison"], "opsctl: unknown option --verison; did you mean --version?"],
  [["--version", "weekly"], "opsctl: unknown option --version\n"],
  [["webhook", "--version"], "opsctl webhook: unknown option --version\n"],
  [["--\u001b[2Jx"], "opsctl: unknown option\n"],
  [["deliveries", "lst"], 'opsctl deliveries: unknown command "lst"; did you mean list?'],
  [["deliveries", "--json"], "opsctl deliveries: unknown option --json"],
  [["reports", "state"], 'opsctl reports: unknown command "state"'],
  [["webhook", "serv"], 'opsctl webhook: unknown command "serv"; did you mean serve?'],
  [["help", "weakly"], 'opsctl: unknown command "weakly"; did you mean weekly?'],
  [["help", "webhook", "ded"], 'opsctl webhook: unknown command "ded"; did you mean dead?'],
  [["help", "weekly", "now"], "opsctl weekly: unexpected argument\n"],
  [["migrate", "now"], "opsctl migrate: unexpected argument\n"],
  [["migrate", "--dry-run"], "opsctl migrate: unknown option --dry-run"],
  [["version", "--jason"], "opsctl version: unknown option --jason; did you mean --json?"],
  [["completion", "bsh"], "argument <shell> expects one of bash, zsh, fish; did you mean bash?"],
  [["completion", "tcsh"], "argument <shell> expects one of bash, zsh, fish\n"],

  [["weekly", "--dryrun"], "opsctl weekly: unknown option --dryrun; did you mean --dry-run?"],
  [["weekly", "--dryRun"], "unknown option --dryRun; did you mean --dry-run?"],
  [["weekly", "--no-dry-run"], "unknown option --no-dry-run"],
  [["weekly", "--skip-watsapp"], "unknown option --skip-watsapp; did you mean --skip-whatsapp?"],
  [["weekly", "--skipEmail"], "unknown option --skipEmail; did you mean --skip-email?"],
  [["weekly", "--no-json"], "unknown option --no-json; did you mean --json?"],
  [["weekly", "--password=hunter2"], "unknown option --password\n"],
  [["weekly", "--constructor"], "unknown option --constructor"],
  [["weekly", "--__proto__=x"], "unknown option --__proto__"],
  [["weekly", "--TENANT", ID], "unknown option --TENANT"],
  [["weekly", "--a\r\nopsctl: all is well"], "unknown option\n"],
  [["weekly", "--json", "-d"], "unknown option -d"],
  [["weekly", "-jx"], "unknown option -j"],
  [["weekly", "-"], "unexpected argument\n"],
  [["weekly", ID], "unexpected argument\n"],
  [["weekly", "--", "--dry-run"], "unexpected argument\n"],
  [["weekly", "--dry-run", "false"], "unexpected argument\n"],
  [["weekly", "--dry-run=false"], "option --dry-run takes no value"],
  [["weekly", "--dry-run="], "option --dry-run takes no value"],
  [["weekly", "--tenant"], NEEDED],
  [["weekly", "--tenant="], NEEDED],
  [["weekly", "--tenant", ""], NEEDED],
  [["weekly", "--tenant", " "], NEEDED],
  [["weekly", "--tenant", "--json"], NEEDED],
  [["weekly", "--tenant", "--", ID], NEEDED],
  [["weekly", "--tenant", "all"], "option --tenant expects a UUID"],
  [["weekly", `--tenant=${ID} `], "option --tenant expects a UUID"],
  [
    ["weekly", "--tenant", ID, "--tenant", OTHER],
    "option --tenant is given more than once, with different values",
  ],
  [["weekly", "--concurrency"], "option --concurrency needs a value"],
  ...["0", "-1", "1.5", "abc", "1e3", "9999999999"].map((value): [string[], string] => [
    ["weekly", `--concurrency=${value}`],
    COUNT,
  ]),
  ...["-1", "1.5", "15m", "1441"].map((value): [string[], string] => [
    ["weekly", `--patience=${value}`],
    "option --patience expects",
  ]),
  [["weekly", "--dry-run", "--without-social"], "--without-social"],
  [["weekly", "--without-social=1"], "option --without-social takes no value"],
  [["weekly", "--log-format", "jsn"], "--log-format expects one of text, json; did you mean json?"],

  [
    ["deliveries", "list", "--state", "gone"],
    "option --state expects one of pending, running, sent, failed, unknown",
  ],
  [["deliveries", "list", "--week", "2026-11-17"], "option --week expects the date of a Monday"],
  [["deliveries", "list", "--week", "2026-02-30"], "option --week expects the date of a Monday"],
  [["deliveries", "list", "--week", "16/11/2026"], "option --week expects the date of a Monday"],
  [["deliveries", "list", "--limit", "0"], "option --limit expects a positive whole number"],
  [["deliveries", "show"], "argument <delivery-id> is missing"],
  [["deliveries", "show", ""], "argument <delivery-id> is missing"],
  [["deliveries", "show", "x"], "argument <delivery-id> expects a UUID"],
  [["deliveries", "show", ID, OTHER], "unexpected argument"],
  [["deliveries", "look-up"], "either ids of deliveries or --all is needed"],
  [["deliveries", "look-up", "--settle"], "either ids of deliveries or --all is needed"],
  [["deliveries", "look-up", ID, "--all"], "either ids of deliveries or --all is needed"],
  [["deliveries", "look-up", ID, "x"], "argument <delivery-id> expects a UUID"],
  [["deliveries", "look-up", ID, "--actor", "ana"], "option --actor goes with --settle"],
  [["deliveries", "reconcile", ID], "option --to is required"],
  [["deliveries", "reconcile", ID, "--to", "failed"], "option --reason is required"],
  [["deliveries", "reconcile", ID, "--to", "failed", "--reason", " "], "option --reason needs a value"],
  [
    ["deliveries", "reconcile", ID, "--to", "pending", "--reason", "x"],
    "option --to expects one of sent, failed",
  ],
  [
    ["deliveries", "reconcile", ID, "--to", "sent", "--reason", "x"],
    "option --to sent needs --provider-message-id",
  ],
  [
    ["deliveries", "reconcile", ID, "--to", "failed", "--provider-message-id", "x", "--reason", "x"],
    "option --provider-message-id goes with --to sent only",
  ],

  [["reports", "show"], "give either the id of a report or --tenant"],
  [["reports", "show", ID, "--tenant", ID], "--tenant"],
  [["reports", "show", ID, "--week", "2026-11-16"], "--week"],
  [["reports", "list", "--state", "faild"], "; did you mean failed?"],
  [["reports", "list", "--state", "failed", "--channel", "instagram"], "--channel"],
  [["reports", "status", "--week", "2026-11-17"], "option --week expects the date of a Monday"],
  [["reports", "preview"], "option --tenant is required"],
  [["reports", "preview", "--tenant", ID, "--out", "here"], "option --out expects an absolute path"],
  [["reports", "prune"], "option --before is required"],
  [["doctor", "wekly"], "; did you mean weekly?"],
  [["doctor", "weekly", "webhook"], "unexpected argument\n"],
  [["doctor", "--env-dir", "relative"], "option --env-dir expects an absolute path"],
  [["doctor", "--env-dir", "/nowhere/at/all"], "option --env-dir expects a directory that is there"],
  [["doctor", "--env-dir", "/etc/passwd"], "option --env-dir expects a directory that is there"],
  [["secret", "set"], "argument <name> is missing"],
  [["secret", "set", "DATABSE_URL"], "argument <name> is no secret of opsctl; did you mean DATABASE_URL?"],
  [["secret", "set", "database-url"], "did you mean DATABASE_URL?"],
  [["secret", "set", "OPSCTL_PING_URL"], "belongs into the environment file of its command"],
  [["secret", "set", "postgres://owner:hunter2@db"], "is no secret of opsctl; opsctl secret list shows them"],
  [["secret", "set", "DATABASE_URL", "postgres://owner:hunter2@db"], "the value is asked for"],
];

const SECRET = "canary-typed-4f1b==";
/** Words that may be a secret: no error repeats one. */
const SECRETS: [words: string[], problem: string][] = [
  [[SECRET], "opsctl: unknown command\n"],
  [[`--${SECRET}`], "opsctl: unknown option\n"],
  [["weekly", `--${SECRET}`], "opsctl weekly: unknown option\n"],
  [["weekly", `-----BEGIN ${SECRET}`], "opsctl weekly: unknown option\n"],
  [["deliveries", SECRET], "opsctl deliveries: unknown command\n"],
  [["weekly", "--json", SECRET], "opsctl weekly: unexpected argument\n"],
  [["weekly", "--", `x${SECRET}`], "opsctl weekly: unexpected argument\n"],
  [["weekly", "--tenant", SECRET], "opsctl weekly: option --tenant expects a UUID"],
  [["weekly", `--skip-email=${SECRET}`], "opsctl weekly: option --skip-email takes no value"],
  [["weekly", "--tenant", SECRET, "--tenant", ID], "opsctl weekly: option --tenant expects a UUID"],
  [
    ["deliveries", "reconcile", "--reason", SECRET, "--reason", "x"],
    "option --reason is given more than once",
  ],
  [["help", SECRET], "opsctl: unknown command\n"],
  [["help", "weekly", SECRET], "opsctl weekly: unexpected argument\n"],
  [["explain", SECRET], "argument <code> is no code of opsctl"],
  [["completion", SECRET], "argument <shell> expects one of"],
];

let fixture: Fixture;

beforeAll(async () => {
  fixture = await openFixture();
  await seedOwner(fixture.db.sql);
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describe("a misused command line", () => {
  test("ends with 2 and says why, before anything has happened", async () => {
    const before = await databaseSnapshot(fixture.db.sql);
    const ends = await Promise.all(
      [...MISUSES, ...SECRETS].map(async ([words, problem]) => {
        const { exitCode, stdout, stderr } = await fixture.opsctl(words);
        const [first = "", ...others] = stderr.split("\n");
        const isTold = `${first}\n`.includes(problem) && /^opsctl[^\n]*: \S/.test(first);
        const isHelpful = /^Usage: opsctl/m.test(others.join("\n")) && stderr.endsWith("--help` for more\n");
        const isQuiet = !/hunter2|canary|\bat .*:\d+:\d+|[^\P{Cc}\n]/u.test(stderr);
        return { words, problem, first, stdout, exitCode, isTold, isHelpful, isQuiet };
      }),
    );

    const wrong = ends.filter(
      ({ exitCode, stdout, isTold, isHelpful, isQuiet }) =>
        exitCode !== 2 || stdout !== "" || !isTold || !isHelpful || !isQuiet,
    );
    expect(wrong).toEqual([]);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests()).toEqual([]);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });

  test("is one that repeats an option with the same value no more than one that gives it once", async () => {
    const words = ["weekly", "--dry-run", "--json", "--json", "--tenant", ID, `--tenant=${ID}`];
    expect((await fixture.opsctl(words)).exitCode).not.toBe(2);
    const reconcile = [
      "deliveries",
      "reconcile",
      "--to=failed",
      "--reason=--no-trace",
      ID,
      "--actor",
      "ana=x",
    ];
    expect((await fixture.opsctl([...reconcile, "--json"])).json.error).toMatchObject({
      code: "DELIVERY_NOT_FOUND",
    });
  });
});
