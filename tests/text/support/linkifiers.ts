/** How other programs find links in plain text: the library that web clients use most, and the patterns of Android. */
import { LinkifyIt } from "linkify-it";
import tlds from "tlds";

/** Reserved names lead nowhere, but a reader does not know that. */
const TLDS = [...tlds, "example", "test", "invalid", "local", "internal"];

const library = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, fuzzyIP: true }).tlds(TLDS);
for (const scheme of ["tel:", "sms:", "whatsapp:", "intent:", "javascript:"])
  library.add(scheme, { validate: (text, at) => /^\S+/.exec(text.slice(at))?.[0].length ?? 0 });

// As in android.util.Patterns, AUTOLINK_WEB_URL and AUTOLINK_EMAIL_ADDRESS, of the Android Open Source Project.
const LETTER = String.raw`a-zA-Z\u00A1-\u1FFF\u200B-\u2027\u202A-\u202E\u2030-\u2FFF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{EFFFD}`;
const LABEL = `[${LETTER}0-9](?:[${LETTER}0-9_-]{0,61}[${LETTER}0-9])?`;
const PUNYCODE = String.raw`xn--[\w-]{0,58}\w`;
const STRICT_HOST = String.raw`(?:${LABEL}\.)+(?:${PUNYCODE}|${TLDS.toSorted((a, b) => b.length - a.length).join("|")})`;
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]\d|\d)`;
const ADDRESS = String.raw`${OCTET}\.${OCTET}\.${OCTET}\.${OCTET}`;
const android = [
  new RegExp(String.raw`(?:\b|^)(?:${STRICT_HOST}|${ADDRESS})(?::\d{1,5})?(?:\b|$)`, "giu"),
  new RegExp(String.raw`(?:https?|rtsp):\/\/(?:${LABEL}|\[)`, "giu"),
  new RegExp(String.raw`[${LETTER}0-9+_%'-]{1,64}@(?:${LABEL}\.)+(?:${PUNYCODE}|[${LETTER}]{2,63})`, "giu"),
];

/** Everything in `text` that one of them makes a link of. */
export function linksIn(text: string): string[] {
  const found = (library.match(text) ?? []).map(({ raw }) => raw);
  return [...found, ...android.flatMap((pattern) => [...text.matchAll(pattern)].map(([link]) => link))];
}

/** Every top-level domain that there is. */
export const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);
