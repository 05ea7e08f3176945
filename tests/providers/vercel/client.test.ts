import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import {
  countVercelProjects,
  type DeployListing,
  listDeploys,
} from "../../../lib/providers/vercel/client.ts";
import { limitMsFor, play } from "../../cases/answer-case.ts";
import { PROJECTS_ANSWERS } from "../../cases/hosting-answers.ts";
import { type Hosting, projectOf, startHosting } from "../../standins/hosting.ts";

const TOKEN = "canary-hosting-token";
/** For an account that answers, on the busiest machine. */
const LONG_MS = 60_000;
let hosting: Hosting;
beforeEach(async () => {
  hosting = await startHosting({ token: TOKEN, projects: [] });
});
afterEach(() => hosting.stop());

type Parts = { token?: string; teamId?: string; timeoutMs?: number; url?: string };

const account = ({ token = TOKEN, teamId, timeoutMs = LONG_MS, url = hosting.url }: Parts = {}) => ({
  ...{ baseUrl: new URL(url), token: new Secret(token), teamId: teamId ?? null, timeoutMs },
});
const list = (parts?: Parts): Promise<DeployListing> => listDeploys(account(parts));

const failure = (problem: string): DeployListing => ({
  ...{ projects: [], total: null, problem },
});

const blog = (failed: boolean) => ({ name: "blog", failed });

describe("listDeploys()", () => {
  const states: [string[], boolean | null][] = [
    [["ERROR"], true],
    [["READY"], false],
    [["READY", "ERROR"], false],
    [["ERROR", "READY"], true],
    [["QUEUED", "ERROR", "READY"], true],
    [["INITIALIZING", "BUILDING", "READY", "ERROR"], false],
    [["CANCELED", "ERROR"], true],
    [["BLOCKED", "DELETED", "READY"], false],
    [["BUILDING"], null],
    [["CANCELED", "CANCELED"], null],
    [[], null],
  ];
  test.each(states)("takes the newest in a final state of %j: %p", async (deployments, failed) => {
    hosting.projects.push(projectOf("loja", ...deployments));
    const projects = failed === null ? [] : [{ name: "loja", failed }];
    expect(await list()).toEqual({ projects, total: 1, problem: null });
  });

  test.each([
    [16, ["?limit=100"]],
    [217, ["?limit=100", "?limit=100&until=100", "?limit=100&until=200"]],
  ])("reads all pages of %i projects, and needs no call more", async (count, queries) => {
    const states = (n: number) => (n === 3 ? "ERROR" : "READY");
    hosting.projects.push(...Array.from({ length: count }, (_, n) => projectOf(`p${n}`, states(n))));
    const { projects } = await list();
    expect(projects).toHaveLength(count);
    expect(projects.filter(({ failed }) => failed)).toEqual([{ name: "p3", failed: true }]);
    expect(hosting.ledger.map(({ path }) => path)).toEqual(queries.map((query) => `/v9/projects${query}`));
  });

  test("counts the projects of all pages, also those that were never deployed", async () => {
    const states = (n: number) => (n % 20 === 0 ? [] : ["READY"]);
    hosting.projects.push(...Array.from({ length: 116 }, (_, n) => projectOf(`p${n}`, ...states(n))));
    expect((await list()).total).toBe(116);
    hosting.ledger.length = 0;
    expect(await countVercelProjects(account())).toEqual({ status: "ok", total: 116 });
    expect(hosting.ledger).toHaveLength(2);
    hosting.projects.length = 0;
    expect(await countVercelProjects(account())).toEqual({ status: "failed", code: "hosting_no_projects" });
  });

  test("sends the team with every call", async () => {
    await using team = await openTeam();
    const { projects } = await list({ teamId: "team_x", url: team.url });
    expect(projects).toEqual([{ name: "loja", failed: true }]);
    expect(team.ledger.every(({ path }) => path.includes("teamId=team_x"))).toBe(true);
    expect(team.ledger).toHaveLength(2);
    expect(await list({ url: team.url })).toEqual(failure("hosting_no_projects"));
  });

  test.each([
    ["shows none in a final state", 1],
    ["shows no list", null],
  ])("asks for the one project whose listing %s", async (_name, listed) => {
    const loja = { ...projectOf("loja", "BUILDING", "ERROR", "READY"), listed };
    hosting.projects.push(projectOf("blog", "READY"), loja);
    const projects = [blog(false), { name: "loja", failed: true }];
    expect(await list()).toMatchObject({ projects, problem: null });
    expect(hosting.routes.deployments.calls).toHaveLength(1);
  });

  test("leaves out the one project that cannot be asked for, and says so", async () => {
    const loja = { ...projectOf("loja", "BUILDING", "READY"), listed: 1 };
    hosting.projects.push(projectOf("blog", "ERROR"), loja);
    hosting.routes.deployments.next({ status: 500, json: {} });
    expect(await list()).toMatchObject({ projects: [blog(true)], problem: "hosting_http_500" });
  });

  test("takes an empty list at its word: never deployed", async () => {
    hosting.projects.push(projectOf("blog", "READY"), { ...projectOf("new", "ERROR"), listed: 0 });
    expect(await list()).toEqual({ projects: [blog(false)], total: 2, problem: null });
    expect(hosting.routes.deployments.calls).toHaveLength(0);
  });

  test.each([
    ["latestDeployments", "x", [{ name: "good", failed: false }]],
    ["latestDeployments", [{ readyState: "READY" }], [{ name: "good", failed: false }]],
    ["latestDeployments", [null], [{ name: "good", failed: false }]],
    ["name", 5, []],
    ["name", "", []],
    ["id", null, []],
  ])("says that a project whose %s is %j cannot be read", async (key, value, projects) => {
    const good = { id: "a", name: "good", latestDeployments: [{ readyState: "READY", createdAt: 1 }] };
    const json = { projects: [{ ...good, id: "b", name: "odd", [key]: value }, good] };
    hosting.routes.projects.next({ status: 200, json });
    expect(await list()).toMatchObject({ projects, problem: "hosting_answer_unreadable" });
  });

  test("reads what is usual among answers: a bare list, nulls, `state`, tokens as pages, deleted deployments", async () => {
    const row = (id: string, ...latestDeployments: object[]) => ({
      id,
      name: id,
      latestDeployments,
      targets: null,
    });
    const a = row("a", { state: "ERROR", created: 1, target: null });
    const deleted = { readyState: "ERROR", createdAt: 2, deletedAt: 3 };
    const b = row("b", deleted, { readyState: "READY", createdAt: 1 });
    hosting.routes.projects.next(
      { status: 200, json: { projects: [a], pagination: { next: "tok en" } } },
      { status: 200, json: [b] },
    );
    expect((await list()).projects).toEqual([
      { name: "a", failed: true },
      { name: "b", failed: false },
    ]);
    expect(hosting.ledger[1]?.path).toBe("/v9/projects?limit=100&until=tok+en");
  });

  test("passes over a state that it does not know", async () => {
    hosting.projects.push(projectOf("loja", "HIBERNATING", "ERROR"), projectOf("blog", "<script>", "READY"));
    const { projects, problem } = await list();
    expect([projects.map(({ failed }) => failed), problem]).toEqual([[true, false], null]);
  });

  test("knows nothing when a page fails, even the last", async () => {
    hosting.projects.push(...Array.from({ length: 150 }, (_, n) => projectOf(`p${n}`, "READY")));
    hosting.routes.projects.script = ({ path }) =>
      path.includes("until") ? { status: 502, text: "<html>" } : undefined;
    expect(await list()).toEqual(failure("hosting_http_502"));
  });

  test("does not go round in a listing that does", async () => {
    const page = (next: number) => ({
      status: 200,
      json: { projects: [{ id: "a", name: "a", latestDeployments: [] }], pagination: { next } },
    });
    hosting.routes.projects.script = ({ path }) => page(path.includes("until=1") ? 2 : 1);
    expect(await list()).toEqual(failure("hosting_pagination_loop"));
    expect(hosting.ledger).toHaveLength(50);
  });

  test.each(PROJECTS_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(hosting, hosting.routes.projects, answer);
    const timeoutMs = limitMsFor(answer);
    const { problem, total } = await list({ url, timeoutMs });
    expect({ problem, total }).toEqual({ problem: becomes, total: becomes === null ? 1 : null });
    await play(hosting, hosting.routes.projects, answer);
    const counted = becomes === null ? { status: "ok", total: 1 } : { status: "failed", code: becomes };
    expect<object>(await countVercelProjects(account({ url, timeoutMs }))).toEqual(counted);
  });

  test("knows nothing for a refused token and an empty account, as the stand-in answers", async () => {
    expect(await list()).toEqual(failure("hosting_no_projects"));
    expect(await list({ token: "wrong-token" })).toEqual(failure("hosting_http_403"));
  });

  test("reads a page of megabytes", async () => {
    const latestDeployments = [{ readyState: "READY", createdAt: 1 }];
    const json = { projects: [{ id: "a", name: "blog", env: "x".repeat(5_000_000), latestDeployments }] };
    hosting.routes.projects.next({ status: 200, json });
    expect((await list()).projects).toEqual([blog(false)]);
  });
});

async function openTeam() {
  const building = { ...projectOf("loja", "BUILDING", "ERROR"), listed: 1 };
  const team = await startHosting({ token: TOKEN, teamId: "team_x", projects: [building] });
  return Object.assign(team, { [Symbol.asyncDispose]: () => team.stop() });
}
