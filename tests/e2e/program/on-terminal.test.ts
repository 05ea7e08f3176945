/** What a terminal shows: its width, with colours and without. Tables have pictures of their own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stripVTControlCharacters } from "node:util";
import type { OwnerList } from "../../../lib/reports/list.ts";
import { renderOwnerList } from "../../../lib/reports/render-list.ts";
import { displayWidth } from "../../../lib/text/display-width.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { seedOwner } from "../../support/seed.ts";
import { terminal } from "../../text/support/terminal.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { commandOf } from "../support/opsctl.ts";
import { startOnTerminal } from "../support/terminal.ts";

const LIST = ["reports", "list"];
let fixture: Fixture;
let list: OwnerList;

beforeAll(async () => {
  fixture = await openFixture();
  await seedOwner(fixture.db.sql, { tenantName: "Padaria do Zé e filhos, a melhor da rua 株式会社 👩‍🌾" });
  await seedOwner(fixture.db.sql, { tenantName: "Oficina \u001b[31m\u001b]0;title\u0007" });
  await fixture.db.sql`update users set created_at = '2026-11-01'`;
  list = (await fixture.opsctl([...LIST, "--json"])).json as unknown as OwnerList;
  expect(list.owners).toHaveLength(2);
});
afterAll(() => fixture[Symbol.asyncDispose]());

type How = { cols: number; env?: Record<string, string>; ends?: number };

/** What the terminal shows of these words until they end as said, else well. */
async function shownBy(words: readonly string[], { cols, env = {}, ends = 0 }: How): Promise<string> {
  const base = { PATH: process.env.PATH!, HOME: fixture.folder, TERM: "xterm" };
  const around = ["sh", "-c", '"$@"; echo "ended with $?"', "sh"];
  const screen = startOnTerminal([...around, ...words], {
    cols,
    env: { ...base, OPSCTL_ENV_DIR: "", ...(fixture.env as Record<string, string>), ...env },
  });
  await screen.sees("ended with ");
  await screen.ended;
  const [text, end] = screen.shown().replaceAll("\r\n", "\n").split("ended with ");
  expect(end, text).toBe(`${ends}\n`);
  return text!;
}

async function shown(args: readonly string[], how: How): Promise<string> {
  return await shownBy([...(await commandOf("binary")), ...args], how);
}

describe.concurrent("output on a terminal", () => {
  test("a table takes the terminal's width, with colours", async () => {
    for (const cols of [60, 120]) {
      const text = await shown(LIST, { cols });
      expect(text).toBe(renderOwnerList(list, terminal(cols, { colour: true })));
      expect(text).toContain("\u001b[33mmissing\u001b[39m");
    }
  });

  test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("%p leaves no escape sequence at all", async (env) => {
    const text = await shown(LIST, { cols: 80, env });
    expect(text).toBe(renderOwnerList(list, terminal(80)));
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  });

  test("an empty NO_COLOR is none, and COLUMNS wins over the terminal", async () => {
    const text = await shown(LIST, { cols: 80, env: { NO_COLOR: "", COLUMNS: "200" } });
    expect(text).toBe(renderOwnerList(list, terminal(200, { colour: true })));
  });

  test("a pipe has a line for each row, without colours", async () => {
    const { stdout } = await fixture.opsctl(LIST, { env: { TERM: "xterm" } });
    expect(stdout).toBe(renderOwnerList(list, NO_TERMINAL));
    expect(stdout.split("\n")).toHaveLength(4);
  });

  test("a line of the log is never broken: what is copied from it is whole", async () => {
    const args = ["alert-rules", "plan"];
    const text = stripVTControlCharacters(await shown(args, { cols: 40, ends: 3 }));
    const { stderr } = await fixture.opsctl(args);
    const withoutTime = (log: string) => log.replace(/^[0-9:]{8}/, "");
    expect(withoutTime(text)).toBe(withoutTime(stderr));
    expect(text).toContain("MONITORING_TOKEN: is missing");
  });

  test("the usage in an error is broken between options alone", async () => {
    const text = await shown(["reports", "list", "--stat", "x"], { cols: 60, ends: 2 });
    const usage = text.slice(text.indexOf("Usage: "), text.indexOf("Run `"));
    expect(usage).toBe(
      "Usage: opsctl reports list [--week <YYYY-MM-DD>]\n" +
        "       [--state <open|completed|sent|partial|failed|unknown|running|missing>]\n" +
        "       [--channel <whatsapp|email|instagram|linkedin>]\n" +
        "       [--limit <n>] [--after <uuid>] [--json]\n" +
        "       [--log-format <text|json>]\n",
    );
  });

  test.each([
    [["webhook", "serve", "--help"]],
    [["help", "webhook", "serve"]],
    [["explain", "gateway_http_400"]],
  ])("%j takes its width, up to 100 columns", async (words) => {
    const widest = async (cols: number) => {
      const text = await shown(words, { cols });
      return Math.max(...text.split("\n").map((line) => line.length));
    };
    expect(await widest(60)).toBeLessThanOrEqual(60);
    const wide = await widest(200);
    expect(wide).toBeGreaterThan(80);
    expect(wide).toBeLessThanOrEqual(100);
  });
});

requires("account").test("what root starts as the account has root's terminal", async () => {
  using host = openAccountHost();
  const env = { DATABASE_URL: fixture.db.url, OPSCTL_SECRETS_DIR: host.path("none"), HOME: host.folder };
  const words = host.inside(await host.opsctl("binary", LIST));
  const text = await shownBy(words, { cols: 72, env });
  expect(stripVTControlCharacters(text)).toBe(renderOwnerList(list, terminal(72)));
  expect(text).toContain("\u001b[33mmissing\u001b[39m");
});

describe("every command of the ledger and of the host fits a terminal of 60 columns", () => {
  /** What can be copied as a whole is never broken. */
  const isAlone = (line: string) =>
    !line.trim().includes(" ") ||
    /^ +(?:-> )?(?:sudo )?(?:opsctl|systemctl|install|useradd|dpkg|journalctl) /.test(line);
  let ids: { delivery: string; report: string };

  beforeAll(async () => {
    await fixture.weekly(["--json"]);
    const { json } = await fixture.opsctl(["deliveries", "list", "--json"]);
    const [first] = json.deliveries as { id: string; reportId: string }[];
    ids = { delivery: first!.id, report: first!.reportId };
  });

  test.each<[string, () => string[]]>([
    ["deliveries list", () => []],
    ["deliveries show", () => [ids.delivery]],
    ["reports list", () => []],
    ["reports status", () => []],
    ["reports show", () => [ids.report]],
    ["migrate --status", () => []],
    ["status", () => []],
    ["doctor", () => []],
    ["doctor --all", () => []],
    ["weekly --dry-run", () => []],
  ])("%s", async (name, more) => {
    const words = [...(await commandOf("binary")), ...name.split(" "), ...more()];
    const text = await shownBy(words, { cols: 60, env: { NO_COLOR: "1", OPSCTL_LOG_LEVEL: "error" } });
    // Progress goes back to the start of its line.
    const lines = text.split(/[\r\n]/);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => displayWidth(line) > 60 && !isAlone(line))).toEqual([]);
  });

  test("reports status, in the colour of the week's state", async () => {
    const text = await shown(["reports", "status"], { cols: 100 });
    const [head = ""] = text.split("\n");
    expect(head).toStartWith("Week of ");
    expect(stripVTControlCharacters(head).length).toBe(head.length - "\u001b[33m\u001b[39m".length);
  });
});
