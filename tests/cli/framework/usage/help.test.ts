import { describe, expect, test } from "bun:test";
import { type Command, defineCommand, type Group } from "../../../../cli/framework/command.ts";
import { outcomeOf } from "../../../../cli/framework/outcome.ts";
import { renderCommandHelp, renderGroupHelp } from "../../../../cli/framework/usage/help.ts";
import { helpWidth } from "../../../../cli/framework/usage/help-width.ts";
import { root } from "../../../../cli/root.ts";

const command = defineCommand({
  meta: { name: "send", description: "Send what waits, one after the other, to whom it belongs" },
  notes: "The first paragraph is longer than a narrow line.\nThe second is short.",
  args: {
    row: { type: "positional", required: true, description: "The row, as the list shows it" },
    limit: { type: "string", valueHint: "n", default: "100", description: "How many rows at most" },
  },
  example: "opsctl send 17 --limit 20 --and-more-words-than-fit-into-a-narrow-line",
  run: async () => outcomeOf({ command: "send", fields: {}, text: "" }),
});

describe("renderCommandHelp()", () => {
  test("wraps notes paragraph by paragraph, and indents what follows a line", () => {
    expect(renderCommandHelp("opsctl send", command, 40).split("\n")).toEqual([
      "Send what waits, one after the other, to",
      "  whom it belongs",
      "",
      "The first paragraph is longer than a",
      "  narrow line.",
      "The second is short.",
      "",
      "Usage: opsctl send <row> [--limit <n>]",
      "       [--log-format <text|json>]",
      "",
      "Arguments:",
      "  <row>  The row, as the list shows it",
      "",
      "Options:",
      "  --limit <n>",
      "      How many rows at most (default",
      "      100)",
      "  --log-format <text|json>",
      "      How the log on standard error is",
      "      written (default text)",
      "  --help",
      "      Show this help",
      "",
      "Example:",
      "  opsctl send 17 --limit 20 --and-more-words-than-fit-into-a-narrow-line",
      "",
    ]);
  });

  test("is the same for 80 columns as where none are given", () => {
    expect(renderCommandHelp("opsctl send", command, 80)).toBe(renderCommandHelp("opsctl send", command));
    expect(renderGroupHelp("opsctl", root, 80)).toBe(renderGroupHelp("opsctl", root));
  });
});

/** An option with its value is copied as it is, and never broken. */
const OPTION = /^ +\[?--\S+(?: <[^>]+>)?\]?$/;

describe("the help of every command", () => {
  test.each([50, 60, 80, 100])("fits %d columns, but for its example and long options", async (width) => {
    for (const { path, text } of await helps("opsctl", root, width)) {
      const [head] = text.split("Example:\n");
      const tooWide = head!.split("\n").filter((line) => line.length > width && !OPTION.test(line));
      expect({ path, tooWide }).toEqual({ path, tooWide: [] });
    }
  });
});

async function helps(path: string, group: Group, width: number): Promise<{ path: string; text: string }[]> {
  const own = { path, text: renderGroupHelp(path, group, width) };
  const below = await Promise.all(
    Object.entries(group.commands).map(async ([word, entry]) => {
      if (!("load" in entry)) return await helps(`${path} ${word}`, entry, width);
      const loaded: Command = await entry.load();
      return [{ path: `${path} ${word}`, text: renderCommandHelp(`${path} ${word}`, loaded, width) }];
    }),
  );
  return [own, ...below.flat()];
}

describe("helpWidth()", () => {
  test.each([
    [{}, 80],
    [{ TERM: "xterm" }, 80],
    [{ COLUMNS: "60" }, 60],
    [{ COLUMNS: "100", TERM: "xterm" }, 100],
    [{ COLUMNS: "101" }, 100],
    [{ COLUMNS: "240" }, 100],
    [{ COLUMNS: "40" }, 40],
    [{ COLUMNS: "39" }, 40],
    [{ COLUMNS: "0" }, 80],
    [{ COLUMNS: "wide" }, 80],
  ])("of %p in a pipe is %d", async (env, width) => {
    expect(await helpWidth(env)).toBe(width);
  });
});
