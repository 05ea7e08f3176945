/**
 * Our clients of Vercel and Resend against the emulators that Vercel publishes (npm `emulate`), whose answers are
 * another author's reading of the same documentation. They run on Deno, which has what they need of a new Node.
 *
 * Not to be had there: a deployment that failed, a refused key, and the listing of projects under the number 9; the
 * test passes that request on under the number 10, whose answer has the same form.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { type Email, resendClient } from "../../lib/providers/resend/client.ts";
import { countVercelProjects, listDeploys } from "../../lib/providers/vercel/client.ts";
import { denoBinary } from "../support/deno-binary.ts";

const ROOT = join(import.meta.dir, "../..");
const TOKEN = "test_token_admin";

let emulators: ChildProcess;
let vercel: string;
let resend: string;
let asVersion10: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  const rights = ["--allow-net=localhost,127.0.0.1", "--allow-read", "--allow-env", "--allow-sys"];
  emulators = spawn(
    denoBinary(),
    ["run", "--no-lock", ...rights, "tests/providers/support/emulator-process.ts"],
    {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  ({ vercel, resend } = JSON.parse(String((await once(emulators.stdout!, "data"))[0])));
  asVersion10 = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(`${vercel}${pathname.replace(/^\/v9\/projects$/, "/v10/projects")}${search}`, request);
    },
  });
});

afterAll(async () => {
  await asVersion10?.stop(true);
  const ended = once(emulators, "exit");
  emulators.kill("SIGTERM");
  await ended;
});

async function json(url: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

describe("Vercel as its emulator has it", () => {
  const options = (teamId: string | null = null) => ({
    baseUrl: new URL(asVersion10.url),
    token: new Secret(TOKEN),
    teamId,
    timeoutMs: 20_000,
  });

  test("shows a project that was deployed, and none of one that never was", async () => {
    await json(`${vercel}/v13/deployments`, { name: "loja", target: "production" });
    await json(`${vercel}/v13/deployments`, { name: "loja" });
    await json(`${vercel}/v13/deployments`, { name: "blog" });
    const { projects, ...rest } = await listDeploys(options());
    // The third is one that the emulator begins with, `never-deployed`.
    expect(rest).toEqual({ total: 3, problem: null });
    expect(projects.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: "blog", failed: false },
      { name: "loja", failed: false },
    ]);
  });

  test("lets a token list projects, and shows an empty team as none", async () => {
    expect(await countVercelProjects(options())).toMatchObject({ status: "ok" });
    const teams = (await json(`${vercel}/v2/teams`)).teams as { id: string }[];
    expect(await countVercelProjects(options(teams[0]!.id))).toEqual({
      status: "failed",
      code: "hosting_no_projects",
    });
    expect((await listDeploys(options(teams[0]!.id))).problem).toBe("hosting_no_projects");
  });

  test("refuses a team that it does not know", async () => {
    const { projects, problem } = await listDeploys(options("team_nobody"));
    expect(projects).toEqual([]);
    expect(problem).toMatch(/^hosting_http_40[0134]$/);
  });
});

describe("Resend as its emulator has it", () => {
  const client = () => resendClient({ baseUrl: new URL(resend), apiKey: new Secret("re_test") });
  const email: Email = {
    from: "relatorios@example.com",
    fromName: "Relatórios (loja)",
    replyTo: "ajuda@example.com",
    to: "dono@example.org",
    subject: "Semana de 2 a 8 de março \u{1F4C8}",
    html: "<p>Olá</p>",
    text: "Olá",
    unsubscribe: "mailto:sair@example.com?subject=Sair",
    deliveryId: "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11",
  };
  const idOf = async (sent: Email) => {
    const outcome = await client().sendEmail(sent);
    if (outcome.status !== "sent") throw new Error(JSON.stringify(outcome));
    return outcome.providerMessageId;
  };

  test("takes an e-mail as it is", async () => {
    expect(await json(`${resend}/emails/${await idOf(email)}`)).toMatchObject({
      from: '"Relatórios (loja)" <relatorios@example.com>',
      to: ["dono@example.org"],
      reply_to: ["ajuda@example.com"],
      subject: email.subject,
      html: email.html,
      text: email.text,
    });
  });

  test("keeps the tag that says which delivery it is", async () => {
    const deliveryId = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e12";
    const id = await idOf({ ...email, deliveryId });
    const tags = [{ name: "delivery_id", value: deliveryId }];
    expect(await json(`${resend}/emails/${id}`)).toMatchObject({ tags });
  });

  test("takes it once, however often it is sent", async () => {
    const again = { ...email, deliveryId: "again" };
    const count = async () => ((await json(`${resend}/emails`)).data as unknown[]).length;
    const before = await count();
    const ids = [await idOf(again), await idOf(again), ...(await Promise.all([idOf(again), idOf(again)]))];
    expect(new Set(ids).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  test("does not take another text under the same key, and what became of the first is unknown", async () => {
    const first = { ...email, deliveryId: "other-text" };
    await idOf(first);
    expect(await client().sendEmail({ ...first, text: "Oi" })).toEqual({
      status: "unknown",
      code: "invalid_idempotent_request",
    });
  });

  test("says what is missing, by its name", async () => {
    const outcome = await client().sendEmail({ ...email, subject: "", deliveryId: "no-subject" });
    expect(outcome).toMatchObject({ status: "failed", stopsChannel: false });
    expect(outcome.status === "failed" && outcome.code).toMatch(
      /^(validation_error|missing_required_field)$/,
    );
  });
});
