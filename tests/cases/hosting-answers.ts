/**
 * What the hosting provider (Vercel) answers to the question for the account's projects, and what each answer becomes.
 *
 * Source: Vercel REST API, GET /v9/projects and its errors, read 2026-11-21.
 */
import type { Answer } from "../standins/standin.ts";
import { cases, page } from "./answer-case.ts";

const error = (status: number, code: string): Answer => ({
  status,
  json: { error: { code, message: "no" } },
});
const projects = (json: unknown): Answer => ({ status: 200, json });
const UNREADABLE = "hosting_answer_unreadable";

/** Answers to the question for a page of projects; each becomes the code of what is wrong, null for nothing. */
export const PROJECTS_ANSWERS = cases<string | null>([
  ["one project", projects({ projects: [{ id: "a", name: "a", latestDeployments: [] }] }), null],
  ["a list without pages", projects([{ id: "a", name: "a", latestDeployments: [] }]), null],
  ["no project: the token's team is missing", projects({ projects: [] }), "hosting_no_projects", "doctor"],
  ["400", error(400, "bad_request"), "hosting_http_400"],
  ["401", error(401, "unauthorized"), "hosting_http_401"],
  ["403 for the token", error(403, "forbidden"), "hosting_http_403", "doctor"],
  ["404", error(404, "not_found"), "hosting_http_404"],
  ["429", error(429, "rate_limited"), "hosting_http_429"],
  ["500", error(500, "internal_server_error"), "hosting_http_500"],
  ["502 of a proxy", page(502), "hosting_http_502"],
  ["null", projects(null), UNREADABLE],
  ["no key of projects", projects({}), UNREADABLE],
  ["projects that are no list", projects({ projects: {} }), UNREADABLE],
  ["a next page that is an object", projects({ projects: [], pagination: { next: {} } }), UNREADABLE],
  ["text", projects("x"), UNREADABLE],
  ["a number", projects(5), UNREADABLE],
  ["a page for people", "not_json", UNREADABLE],
  ["no answer", "hang", "hosting_timeout"],
  ["half an answer, then closed", "break_body", "hosting_connection_lost"],
  ["nobody listens", "nobody_listens", "hosting_unreachable"],
]);
