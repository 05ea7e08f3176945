/** One kill at one point, and the runs after it: nothing doubled, nothing lost. */
import { expect } from "bun:test";
import { openArena } from "./arena.ts";
import type { KillPoint } from "./kill-points.ts";
import { expectEndAnnounced } from "./last-run.ts";
import { expectConsistent, expectNothingDoubled, expectNothingLost, expectQuiet } from "./ledger.ts";

/**
 * Kills a run at this point and lets others finish its work.
 *
 * Shape: `thorough` adds a run while the dead one's leases are valid, and one more when everything is done; and the run
 *        that finishes the work is a start of the binary.
 */
export async function killAt(point: KillPoint, { thorough }: { thorough: boolean }): Promise<void> {
  await using arena = await openArena({ owners: 3, editorials: point.editorials ?? false });
  const owner = arena.owners[1]!;
  const armed = await point.arm(arena, owner);
  const worker = point.hurried
    ? arena.startHurried({ concurrency: 1, patienceMinutes: 15 })
    : arena.start(["--concurrency", "1"]);
  const early = worker.ended.then(({ stdout, stderr }) => {
    throw new Error(`The run ended before it reached the point: ${stdout}${stderr}`);
  });
  await Promise.race([armed.reached(worker), early]);
  early.catch(() => {});
  worker.kill("SIGKILL");
  expect((await worker.ended).signal).toBe("SIGKILL");
  await armed.afterKill();
  await expectNothingDoubled(arena);

  if (thorough) {
    // The dead run's leases are still valid: whatever it held is left alone.
    expectConsistent(await arena.run());
    await expectNothingDoubled(arena);
  }

  await arena.passLeases();
  const next = await (thorough ? arena.run() : arena.runHere());
  expectConsistent(next);
  const states = await expectNothingLost(arena);
  const isUnknown = (channel: "whatsapp" | "email") => (point[channel]?.status === "unknown" ? 1 : 0);
  expect(states["whatsapp unknown"] ?? 0).toBe(isUnknown("whatsapp"));
  expect(states["email unknown"] ?? 0).toBe(isUnknown("email"));
  expect(next.summary).toMatchObject({
    reports: { busy: 0, failed: 0 },
    whatsapp: { failed: 0, partial: 0, unknown: isUnknown("whatsapp") },
    email: { failed: 0, partial: 0, unknown: isUnknown("email") },
  });
  expect(arena.gateway.accepted).toHaveLength(2 + (point.whatsapp?.taken ?? 1));
  expect(arena.email.accepted).toHaveLength(2 + (point.email?.taken ?? 1));

  expectEndAnnounced(arena, next);
  if (thorough) {
    const again = await arena.run();
    expectQuiet(arena, again, states);
    expectEndAnnounced(arena, again);
    expect(await expectNothingLost(arena)).toEqual(states);
  }
  const unexpected = [arena.application, arena.gateway, arena.email].flatMap((peer) => peer.unexpected);
  expect(unexpected).toEqual([]);
}
