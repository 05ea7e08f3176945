import { isRootsAlone } from "./directory.ts";
import type { Place } from "./place.ts";

/**
 * A line that changes a file in a directory of secrets, as root may run it; else a sentence that says what comes first.
 *
 * Behaviour: `chmod`, `rm` and `mv` go where the directory leads at that moment: the line is for a directory that root
 *            itself chose, and that no other account can exchange. The paths in it are words of a shell already.
 */
export function fileLine(place: Place, line: string): string {
  if (place.refused !== null) return place.refused;
  return isRootsAlone(place) ? line : "Mend its directory first, then look again: opsctl secret list";
}
