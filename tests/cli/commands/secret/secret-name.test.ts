/** What is typed instead of a secret's name, which may be its value. */
import { describe, expect, test } from "bun:test";
import { secretSet } from "../../../../cli/commands/secret/set.ts";
import { strictArguments } from "../../../../cli/framework/usage/arguments.ts";

const problem = (...words: string[]) => {
  const checked = strictArguments(words, secretSet);
  return "problem" in checked ? checked.problem : undefined;
};

describe("opsctl secret set takes", () => {
  test("the name of a secret, with and without --root", () => {
    expect([problem("DATABASE_URL"), problem("DATABASE_URL", "--root", "--json")]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("no other name, and suggests one that is near", () => {
    expect(problem("DATABSE_URL")).toBe("argument <name> is no secret of opsctl; did you mean DATABASE_URL?");
    expect(problem("database-url")).toContain("did you mean DATABASE_URL?");
    expect(problem("OPSCTL_PING_URL")).toContain("belongs into the environment file of its command");
    expect(problem()).toBe("argument <name> is missing");
  });

  test("no value, neither in the place of the name nor behind it, and repeats none", () => {
    const value = "postgres://owner:canary@db/app";
    expect(problem(value)).toBe("argument <name> is no secret of opsctl; opsctl secret list shows them");
    expect(problem("DATABASE_URL", value)).toContain("the value is asked for");
    expect(`${problem(value)}${problem("DATABASE_URL", value)}`).not.toContain("canary");
  });
});
