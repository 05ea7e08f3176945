import { claim } from "../checks.ts";
import { digitsOf } from "../digits.ts";
import { writeEmails } from "../emails.ts";
import { quote, step, table } from "../screen.ts";
import type { Scene } from "../set-up.ts";

/** What the customers got. */
export function showMessages({ peers, tenants }: Scene): void {
  const first = tenants[0]!;
  const digits = digitsOf(first.owner.phone!);
  step(`What ${first.name} got by WhatsApp`);
  const message = peers.gateway.accepted.find(({ number }) => number === digits);
  claim("the first customer got a message", message !== undefined);
  quote(message!.text);

  step("The e-mails, as files to open in a browser");
  const written = writeEmails(peers.email.accepted, tenants);
  claim("an e-mail file for each accepted e-mail", written.length === peers.email.accepted.length);
  table(written);
}
