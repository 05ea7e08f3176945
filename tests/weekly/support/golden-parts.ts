import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { renderWhatsappText } from "../../../lib/weekly/texts/whatsapp-text.ts";

const OPTIONS = {
  appBaseUrl: "https://app.example.com",
  unsubscribe: "mailto:sair@mail.example.com?subject=Sair",
};

/** Everything a report says to people, by the ending of its golden file. */
export function partsOf(payload: Payload): Record<string, string> {
  const { subject, html, text } = renderEmail(payload, OPTIONS);
  const whatsapp = renderWhatsappText(payload, OPTIONS);
  return {
    "email.html": html,
    "email.txt": `Subject: ${subject}\n\n${text}`,
    "whatsapp.txt": `${whatsapp}\n`,
  };
}
