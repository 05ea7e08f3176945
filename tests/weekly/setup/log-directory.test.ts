import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { logDirectoryProblem } from "../../../lib/weekly/setup/log-directory.ts";
import { requires } from "../../support/requires.ts";
import { smallDisk } from "../../support/small-disk.ts";

describe("logDirectoryProblem()", () => {
  requires("mount").test("is that of a full file system, and none once there is room", async () => {
    const own = smallDisk(1);
    try {
      expect(await logDirectoryProblem(own.directory)).toBeNull();
      own.fill();
      expect(await logDirectoryProblem(own.directory)).toBe("ENOSPC");
      own.empty();
      expect(await logDirectoryProblem(own.directory)).toBeNull();
    } finally {
      own.remove();
    }
  });

  test("is that of a directory which is not there", async () => {
    expect(await logDirectoryProblem(join(import.meta.dirname, "nowhere"))).toBe("ENOENT");
  });
});
