import { expect, test } from "bun:test";
import { exitStatusOf, statusWord } from "../../../cli/framework/exit-status.ts";

test.each([
  ["USAGE_INVALID", 2, "failed"],
  ["CONFIG_INVALID", 3, "not_ready"],
  ["SECRET_FILE_EXPOSED", 3, "not_ready"],
  ["SOCIAL_EDITORIALS_CRON_SECRET_REUSED", 3, "not_ready"],
  ["DATABASE_UNREACHABLE", 3, "not_ready"],
  ["DATABASE_TIMEOUT", 3, "not_ready"],
  ["DATABASE_BUSY", 3, "not_ready"],
  ["WEEKLY_OUTSIDE_MONDAY", 4, "refused"],
  ["DATABASE_LOST", 1, "failed"],
  ["INTERNAL_ERROR", 1, "failed"],
  ["NOT_IN_THE_TABLE", 1, "failed"],
  ["constructor", 1, "failed"],
])("exitStatusOf(%s) is %d", (code, status, word) => {
  expect(exitStatusOf(code)).toBe(status);
  expect(statusWord(status)).toBe(word as "failed");
});
