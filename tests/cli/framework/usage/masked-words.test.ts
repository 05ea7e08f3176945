import { describe, expect, test } from "bun:test";
import { maskedWords } from "../../../../cli/framework/usage/masked-words.ts";
import { COMMAND_FACTS } from "../../../../lib/doctor/context/command-facts.ts";

describe("maskedWords()", () => {
  const secrets = [...new Set(Object.values(COMMAND_FACTS).flatMap((facts) => facts.secrets))];

  test.each(secrets.map(({ name }) => [name]))("masks the value of %s", (name) => {
    const value = `canary-of-${name.toLowerCase()}==`;
    const words = [value, `--tenant=${value}`, `--${value}`, "weekly"];
    expect(maskedWords(words, { [name]: value })).toEqual([
      "<secret>",
      "--tenant=<secret>",
      "--<secret>",
      "weekly",
    ]);
  });

  test("masks the password of a URL, whatever its variable is called", () => {
    const env = { MY_SERVER: "postgres://u:canary-word-8812@db.example/app" };
    expect(maskedWords(["canary-word-8812"], env)).toEqual(["<secret>"]);
  });

  test("leaves ordinary values as they are", () => {
    const env = {
      APP_BASE_URL: "https://app-7713.example",
      MONKEY: "ordinary-monkey-3141",
      TRIGGER_SECRET: " ",
    };
    const words = ["https://app-7713.example", "ordinary-monkey-3141", " "];
    expect(maskedWords(words, env)).toEqual(words);
  });
});
