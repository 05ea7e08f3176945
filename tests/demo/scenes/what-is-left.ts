import { claim, taken } from "../checks.ts";
import { digitsOf } from "../digits.ts";
import { blank, say, step } from "../screen.ts";
import type { Scene } from "../set-up.ts";

/** What a person does: reads the week, corrects the data, and settles the doubt with evidence. */
export async function whatIsLeft(scene: Scene): Promise<void> {
  step("What is left for a person to do");
  const status = await scene.run(["reports", "status"]);
  const failed = await scene.run(["deliveries", "list", "--state", "failed"]);
  claim("the week is open", status.exitCode === 1);
  claim("the failed deliveries are listed", failed.exitCode === 0);
  blank();
  say("Somebody corrects the phone and the address in the application.");
  await correctData(scene);
  await settleDoubt(scene);
}

async function correctData({ sql, tenants }: Scene): Promise<void> {
  for (const { owner, expected } of tenants) {
    if (expected === "absent") continue;
    if (expected.whatsapp !== "sent")
      await sql`update users set phone = '+55 48 97777-6666' where id = ${owner.userId}`;
    if (expected.email !== "sent")
      await sql`update users set email = 'tatiana@amigofiel.example' where id = ${owner.userId}`;
  }
}

async function settleDoubt(scene: Scene): Promise<void> {
  step("The message in doubt");
  const [doubt] = await scene.sql`
    select d.id, u.phone from weekly_performance_deliveries as d join users as u on u.id = d.user_id
    where d.status = 'unknown'`;
  const digits = digitsOf(doubt!.phone);
  const message = scene.peers.gateway.accepted.find(({ number }) => number.endsWith(digits));
  claim("the gateway has the doubtful message", message !== undefined);
  say("opsctl asks the gateway for evidence. That sends nothing, and without --settle it changes nothing.");
  const before = taken(scene);
  const shown = await scene.run(["deliveries", "show", doubt!.id]);
  const found = await scene.run(["deliveries", "look-up", doubt!.id]);
  claim("the delivery is shown and looked up", shown.exitCode === 0 && found.exitCode === 0);
  claim("to look changes nothing", (await stateOf(scene, doubt!.id)) === "unknown -");
  const settled = await scene.run(["deliveries", "look-up", doubt!.id, "--settle"]);
  claim("the doubt is settled", settled.exitCode === 0);
  claim(
    "it is sent, with the id that the gateway gave it",
    (await stateOf(scene, doubt!.id)) === `sent ${message!.id}`,
  );
  claim("nothing was sent by it", taken(scene) === before);
}

async function stateOf({ sql }: Scene, id: string): Promise<string> {
  const [row] = await sql`
    select status, coalesce(provider_message_id, '-') as "providerId"
    from weekly_performance_deliveries where id = ${id}`;
  return `${row!.status} ${row!.providerId}`;
}
