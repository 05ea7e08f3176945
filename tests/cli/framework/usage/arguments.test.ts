import { describe, expect, test } from "bun:test";
import {
  deliveriesList,
  deliveriesReconcile,
  deliveriesShow,
} from "../../../../cli/commands/deliveries/deliveries.ts";
import { deliveriesLookUp } from "../../../../cli/commands/deliveries/look-up.ts";
import { doctor } from "../../../../cli/commands/host/doctor.ts";
import { weekly } from "../../../../cli/commands/weekly.ts";
import { strictArguments } from "../../../../cli/framework/usage/arguments.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const OTHER = "9e4d8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";

describe("strictArguments() refuses what could be a mistake", () => {
  test.each([
    [["--dryrun"], "unknown option --dryrun; did you mean --dry-run?"],
    [["--dryRun"], "unknown option --dryRun; did you mean --dry-run?"],
    [["--skip-watsapp"], "unknown option --skip-watsapp; did you mean --skip-whatsapp?"],
    [["--no-json"], "unknown option --no-json; did you mean --json?"],
    [["--no-dry-run"], "unknown option --no-dry-run"],
    [["--password=hunter2"], "unknown option --password"],
    [["--constructor"], "unknown option --constructor"],
    [["--__proto__=x"], "unknown option --__proto__"],
    [["-j"], "unknown option -j"],
    [["-jx"], "unknown option -j"],
    [["--tenant"], "option --tenant needs a value"],
    [["--tenant="], "option --tenant needs a value"],
    [["--tenant", ""], "option --tenant needs a value"],
    [["--tenant", " "], "option --tenant needs a value"],
    [["--tenant", "--json"], "option --tenant needs a value"],
    [["--tenant", "--", ID], "option --tenant needs a value"],
    [["--tenant", "not-a-uuid"], "option --tenant expects a UUID"],
    [["--tenant", ID, "--tenant", OTHER], "option --tenant is given more than once, with different values"],
    [["--json=false"], "option --json takes no value"],
    [["--dry-run="], "option --dry-run takes no value"],
    [["--dry-run", "false"], 'unexpected argument "false"'],
    [["extra"], 'unexpected argument "extra"'],
    [["--", "extra"], 'unexpected argument "extra"'],
    [["--", "--json"], 'unexpected argument "--json"'],
    [["--concurrency", "0"], "option --concurrency expects a positive whole number"],
    [["--concurrency", "-1"], "option --concurrency expects a positive whole number"],
    [["--concurrency", "1.5"], "option --concurrency expects a positive whole number"],
    [["--concurrency", "abc"], "option --concurrency expects a positive whole number"],
    [["--concurrency", "1e3"], "option --concurrency expects a positive whole number"],
    [["--concurrency=-1"], "option --concurrency expects a positive whole number"],
    [["--concurrency=9999999999"], "option --concurrency expects a positive whole number"],
  ])("weekly %j", (words, problem) => {
    expect(strictArguments(words, weekly)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  test.each([
    [["--state", "gone"], "option --state expects one of pending, running, sent, failed, unknown"],
    [["--week", "2026-11-17"], "option --week expects a Monday"],
    [["--week", "2026-02-30"], "option --week expects a date"],
    [["--week", "16/11/2026"], "option --week expects a date"],
    [["--limit", "0"], "option --limit expects a positive whole number"],
  ])("deliveries list %j", (words, problem) => {
    expect(strictArguments(words, deliveriesList)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });

  test.each([
    [[], "argument <delivery-id> is missing"],
    [[""], "argument <delivery-id> is missing"],
    [["x"], "argument <delivery-id> expects a UUID"],
    [[ID, OTHER], "unexpected argument"],
  ])("deliveries show %j", (words, problem) => {
    expect(strictArguments(words, deliveriesShow)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });

  test.each([
    [[], "either ids of deliveries or --all is needed"],
    [["--settle"], "either ids of deliveries or --all is needed"],
    [[ID, "--all"], "either ids of deliveries or --all is needed"],
    [[ID, "x"], "argument <delivery-id> expects a UUID"],
    [[ID, ""], "argument <delivery-id> is missing"],
    [[ID, "--actor", "ana"], "option --actor goes with --settle"],
    [["--al"], "unknown option --al; did you mean --all?"],
  ])("deliveries look-up %j", (words, problem) => {
    expect(strictArguments(words, deliveriesLookUp)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });

  test("deliveries look-up takes several ids", () => {
    expect(strictArguments([ID, "--settle", OTHER], deliveriesLookUp)).toEqual({
      rawArgs: ["--settle", "--", ID, OTHER],
      options: new Map([["settle", ""]]),
    });
  });

  test.each([
    [[ID, "--reason", "x"], "option --to is required"],
    [[ID, "--to", "failed"], "option --reason is required"],
    [[ID, "--to", "failed", "--reason", " "], "option --reason needs a value"],
    [[ID, "--to", "sent", "--reason", "x"], "option --to sent needs --provider-message-id: the id"],
    [[ID, "--to", "sent", "--reason", "x"], `To find it: opsctl deliveries look-up ${ID}. Without it leave`],
    [
      [ID, "--to", "failed", "--provider-message-id", "x", "--reason", "x"],
      "option --provider-message-id goes with --to sent only",
    ],
    [[ID, "--to", "pending", "--reason", "x"], "option --to expects one of sent, failed"],
  ])("deliveries reconcile %j", (words, problem) => {
    expect(strictArguments(words, deliveriesReconcile)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });
});

describe("strictArguments() with an argument that may be left out", () => {
  test.each([
    [["nope"], "argument <command> expects one of weekly, webhook"],
    [["weekly", "webhook"], 'unexpected argument "webhook"'],
    [[""], "argument <command> is missing"],
    [["--env-dir", "relative"], "option --env-dir expects an absolute path"],
    [["--env-dir", "/nowhere/at/all"], "option --env-dir expects a directory that is there"],
    [["--env-dir", "/etc/passwd"], "option --env-dir expects a directory that is there"],
  ])("refuses %j", (words, problem) => {
    expect(strictArguments(words, doctor)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  test("takes it, and does without it", () => {
    expect(strictArguments(["weekly", "--json"], doctor)).toEqual({
      rawArgs: ["--json", "--", "weekly"],
      options: new Map([["json", ""]]),
    });
    expect(strictArguments(["--json"], doctor)).toEqual({
      rawArgs: ["--json"],
      options: new Map([["json", ""]]),
    });
  });
});

describe("strictArguments() puts what is right into one form", () => {
  test("flags, values with and without an equals sign, repetition of the same", () => {
    expect(strictArguments(["--json", "--tenant", ID, "--json", `--tenant=${ID}`], weekly)).toEqual({
      rawArgs: ["--json", `--tenant=${ID}`],
      options: new Map([
        ["json", ""],
        ["tenant", ID],
      ]),
    });
    expect(strictArguments([], weekly)).toEqual({ rawArgs: [], options: new Map() });
  });

  test("words after two dashes, whatever they look like", () => {
    const words = ["--to=failed", "--reason=--no-trace", ID, "--actor", "ana=x"];
    expect(strictArguments(words, deliveriesReconcile)).toEqual({
      rawArgs: ["--to=failed", "--reason=--no-trace", "--actor=ana=x", "--", ID],
      options: new Map([
        ["to", "failed"],
        ["reason", "--no-trace"],
        ["actor", "ana=x"],
      ]),
    });
  });
});
