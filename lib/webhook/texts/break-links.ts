/** The full stop and what a browser takes for one in a host's name. */
const DOT = String.raw`[.\u3002\uFF0E\uFF61\u2024\uFE52]`;

/**
 * Endings of files and units that are shown as they are, so that `nginx.service` and `auth.log` can be searched for.
 * None of them is a top-level domain, which a test looks up.
 */
const FILE_ENDINGS = "conf|env|gz|ini|json|log|service|sock|socket|sql|timer|toml|txt|yaml|yml";

/** A letter alone is no top-level domain in ASCII; a file's ending is none either. */
const DOMAIN = String.raw`(?!(?:${FILE_ENDINGS})(?![\p{L}\p{M}\p{N}_]))(?:\p{L}[\p{L}\p{M}\p{Cf}]|(?![\0-\x7F])[\p{L}\p{M}\p{N}\p{Cf}])`;

const LINKING = new RegExp(
  [
    // Before a top-level domain; of what stands before it only ASCII's punctuation is never part of a name, but for
    // marks that may be gone, or another letter, when links are looked for.
    String.raw`(?<=[^\s\p{P}]|[*_@-]|[^\0-\x7F])${DOT}(?=${DOMAIN})`,
    String.raw`(?<=\bwww)${DOT}(?=\S)`,
    // From the third dot of an IPv4 address on.
    String.raw`(?<=(?<!\d)\d{1,3}${DOT}\d{1,3}${DOT}\d{1,3})${DOT}(?=\d)`,
    String.raw`@(?=[^\s\p{P}]|[*_-]|[^\0-\x7F])`,
    // At a text's end too: what is put there after a cut, the "…", may be part of a host.
    String.raw`:\/\/|\/\/(?=\S)`,
    String.raw`(?<=\b(?:mailto|tel|sms|whatsapp|intent|javascript)):(?=\S)`,
    // What is in brackets already gets a second pair, so that no two texts become one.
    String.raw`\[(?:${DOT}|@|:|:?\/\/)\]`,
  ].join("|"),
  "giu",
);

/**
 * `text` with nothing in it that a phone or a tracker makes a link of by itself: `https[://]evil[.]example/x`.
 *
 * Shape:  visible brackets around what makes the link, as reports of threats write it: any host before any letters is
 *         one, since top-level domains are made anew. Times, versions, percentages and the file endings above stay.
 *         Different texts stay different. Telephone numbers stay, being digits like a count of bytes.
 * Source: AOSP android/util/Patterns.java: every character beyond ASCII, the invisible ones too, may be part of a host
 *         that Android links, and a bare IPv4 address is linked; UTS #46 drops the invisible ones again, so none of
 *         them breaks a link. IETF draft-grimminck-safe-ioc-sharing for the brackets. Read 2026-11-22.
 */
export function breakLinks(text: string): string {
  return text.replace(LINKING, "[$&]");
}
