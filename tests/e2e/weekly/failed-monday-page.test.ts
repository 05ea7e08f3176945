/** What docs/failed-monday.md shows behind a command is what the binary prints on such a Monday, and after it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { page } from "../../support/documents.ts";
import { MONDAY, type SeededOwner, seedOwner, setClock } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

const ID = /[\da-f]{8}-[\da-f-]{27}/;
const TUESDAY = "2026-11-24T11:00:00.217Z";

/** The outputs on the page, in its order, each with its command. */
const samples = page("docs/failed-monday.md")
  .blocks.filter(({ lines }) => lines[0]?.startsWith("$ opsctl "))
  .map(({ lines: [prompt, ...lines] }) => ({ command: prompt!.slice("$ opsctl ".length), lines }));

/** What was printed for the sample of the same place. */
const printed: string[] = [];

/** A text whatever ids, moments, ages and host it names, which of two failures came first, and wherever it is broken. */
function known(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "<id>")
    .replaceAll(/\b3EB0[\dA-F]+\b/g, "<provider id>")
    .replaceAll(/(?<=2026-11-23 )\d\d:\d\d:\d\d( to \d\d:\d\d:\d\d)?/g, "<time>")
    .replaceAll(/\(\d+\.\d s\)/g, "(<time>)")
    .replaceAll(/\d+\.\d days ago/g, "<age> ago")
    .replaceAll(`, on ${hostname()}`, ", on vps-1")
    .replaceAll(/sudo (?:OPSCTL_[A-Z_]+=\S* )+/g, "sudo ")
    .replaceAll(/failed \((?:timeline_entry_failed|gateway_connection_lost)\)/g, "failed (<what came first>)")
    .replaceAll(/\s+/g, " ");
}

/** The owners of the page's list, with the networks that they have connected. */
function ownersOfList(): { tenantName: string; tenantId: string; networks: string[] }[] {
  const { lines } = samples.find(({ command }) => command === "reports list --state open")!;
  return lines.slice(1).map((line) => ({
    tenantName: line.split(/ {2,}/)[0]!,
    tenantId: ID.exec(line)![0],
    networks: line.includes("no linkedin data") ? ["instagram"] : ["instagram", "linkedin"],
  }));
}

/** An alert webhook that takes every alert. */
async function takingWebhook(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      const { fingerprint } = JSON.parse(body || "{}");
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ alerts: [{ fingerprint }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    stop: () => void server.close(),
  };
}

let fixture: Fixture;
let webhook: Awaited<ReturnType<typeof takingWebhook>>;

beforeAll(async () => {
  fixture = await openMonday();
  webhook = await takingWebhook();
  fixture.secret("WEBHOOK_SECRET", "canary-webhook-secret-of-a-test");
  fixture.env.OPSCTL_ALERT_WEBHOOK = webhook.url;
  await theMonday();
  await theApplicationAway();
  await theTuesday();
});

afterAll(async () => {
  webhook.stop();
  await fixture[Symbol.asyncDispose]();
});

/** A Monday, 08:00 in São Paulo, for the database and for the gateway. */
async function openMonday(): Promise<Fixture> {
  const opened = await openFixture({ ticking: true });
  const aheadMs = Date.parse(MONDAY) - Date.now();
  opened.gateway.now = () => new Date(Date.now() + aheadMs);
  return opened;
}

/** Runs the command of a sample, with the ids and the width of this run. */
async function print(on: Fixture, place: number, { id = "", columns = "1000" } = {}): Promise<void> {
  const words = samples[place]!.command.replace(ID, id).split(" ");
  printed[place] = (await on.opsctl(words, { env: { COLUMNS: columns } })).stdout;
}

/** Parts 1 to 6 of the page: the instance is closed and a phone missing, then an entry and an answer are lost. */
async function theMonday(): Promise<void> {
  const { sql } = fixture.db;
  const owners: SeededOwner[] = [];
  for (const owner of ownersOfList()) {
    const isWithoutPhone = owner.tenantName === "Oficina do Bairro";
    owners.push(await seedOwner(sql, isWithoutPhone ? { ...owner, phone: null } : owner));
  }
  fixture.gateway.instances.set("ops", "close");
  await fixture.weekly();
  for (const place of [0, 1, 2]) await print(fixture, place);

  fixture.gateway.instances.set("ops", "open");
  await sql`update users set phone = '+55 (11) 98765-4321' where phone is null`;
  await print(fixture, 3);
  const [padaria, , clinica] = owners;
  await sql.unsafe(
    `alter table timeline_entries add constraint timeline_entries_kind_check
     check (tenant_id <> '${padaria!.tenantId}') not valid`,
  );
  const number = clinica!.phone!.replaceAll(/\D/g, "");
  fixture.gateway.routes.send.scriptByBody = ({ body }) =>
    (body as { number: string }).number === number ? { accept: "drop" } : undefined;
  await print(fixture, 4);
  await sql`alter table timeline_entries drop constraint timeline_entries_kind_check`;

  const [unknown] = await sql<[{ id: string }]>`
    select id from weekly_performance_deliveries where status = 'unknown'`;
  await print(fixture, 5, { columns: "100" });
  await print(fixture, 8, unknown);
  await print(fixture, 9);
  await print(fixture, 7);
  await print(fixture, 6, { columns: "100" });
  for (const place of [10, 11]) await print(fixture, place);
}

/** The part "When the application stays away". */
async function theApplicationAway(): Promise<void> {
  await using away = await openMonday();
  for (let count = 0; count < 10; count += 1) await seedOwner(away.db.sql);
  away.application.routes.analysis.scriptByBody = () => ({ status: 503, text: "" });
  await print(away, 12);
}

/** The part "On Tuesday": on one host a message failed for good, on another an unknown result was settled without another run. */
async function theTuesday(): Promise<void> {
  await using failed = await openMonday();
  await seedOwner(failed.db.sql, { phone: null });
  await failed.weekly();
  await setClock(failed.db.sql, TUESDAY);
  for (const place of [13, 14]) await print(failed, place);

  await using settled = await openMonday();
  for (let count = 0; count < 6; count += 1) await seedOwner(settled.db.sql);
  settled.gateway.routes.send.next({ accept: "drop" });
  await settled.weekly();
  await settled.opsctl(["deliveries", "look-up", "--all", "--settle"]);
  await setClock(settled.db.sql, TUESDAY);
  await print(settled, 15);
}

test("each output of the page has a run that prints it", () => {
  expect(samples.length).toBe(16);
  expect(samples.filter((_sample, place) => printed[place] === undefined)).toEqual([]);
});

test.each(samples.map(({ command, lines }, place) => [place, command, lines] as const))(
  "%i: opsctl %s prints each line that is shown",
  (place, _command, lines) => {
    const said = known(printed[place]!);
    const missing = lines.map((line) => known(line).trim()).filter((line) => !said.includes(line));
    expect({ missing, said: missing.length === 0 ? "" : printed[place] }).toEqual({ missing: [], said: "" });
  },
);
