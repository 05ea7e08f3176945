import { formatCount } from "../../../text/pt-br.ts";
import type { Detour } from "../../state/contract.ts";

/** What the first message says after WhatsApp could not be used; null when nothing went another way. */
export function detourWording({ emailed, givenUp }: Detour): string | null {
  const parts = [
    emailed > 0 ? formatCount(emailed, "alerta avisado por e-mail", "alertas avisados por e-mail") : null,
    givenUp > 0 ? formatCount(givenUp, "alerta desistido", "alertas desistidos") : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `Enquanto o WhatsApp não recebia: ${parts.join(", ")}`;
}
