/** The full stop, and the characters that a browser takes for one in a host's name. */
const DOT = String.raw`[.\u3002\uFF0E\uFF61\u2024\uFE52]`;

/**
 * Endings of files and units that are shown as they are, so that `nginx.service` and `auth.log` can be searched for.
 * None of them is a top-level domain; a test checks that.
 */
const FILE_ENDINGS = "conf|env|gz|ini|json|log|service|sock|socket|sql|timer|toml|txt|yaml|yml";

/** What may be a top-level domain: neither a single ASCII letter nor a file's ending. */
const DOMAIN = String.raw`(?!(?:${FILE_ENDINGS})(?![\p{L}\p{M}\p{N}_]))(?:\p{L}[\p{L}\p{M}\p{Cf}]|(?![\0-\x7F])[\p{L}\p{M}\p{N}\p{Cf}])`;

const LINKING = new RegExp(
  [
    // Before a top-level domain. ASCII punctuation before the dot is not part of a name, except marks that formatting
    // may remove or replace before links are looked for.
    String.raw`(?<=[^\s\p{P}]|[*_@-]|[^\0-\x7F])${DOT}(?=${DOMAIN})`,
    String.raw`(?<=\bwww)${DOT}(?=\S)`,
    // From the third dot of an IPv4 address on.
    String.raw`(?<=(?<!\d)\d{1,3}${DOT}\d{1,3}${DOT}\d{1,3})${DOT}(?=\d)`,
    String.raw`@(?=[^\s\p{P}]|[*_-]|[^\0-\x7F])`,
    // At a text's end, too: the "…" that a cut adds may be part of a host.
    String.raw`:\/\/|\/\/(?=\S)`,
    String.raw`(?<=\b(?:mailto|tel|sms|whatsapp|intent|javascript)):(?=\S)`,
    // What is in brackets already gets a second pair, so that different texts stay different.
    String.raw`\[(?:${DOT}|@|:|:?\/\/)\]`,
  ].join("|"),
  "giu",
);

/**
 * `text` without anything that a phone or a tracker turns into a link: `https[://]evil[.]example/x`.
 *
 * Behaviour: puts visible brackets around what makes the link, as threat reports do. Any letters after a dot count as a
 *            top-level domain, since new ones appear. Times, versions, percentages and the file endings above are
 *            unchanged, and so are telephone numbers, which are digits like a count of bytes. Different texts stay
 *            different.
 * Source:    AOSP android/util/Patterns.java: every character beyond ASCII, the invisible ones too, may be part of a
 *            host that Android links, and a bare IPv4 address is linked; UTS #46 drops the invisible ones again, so
 *            none of them breaks a link. IETF draft-grimminck-safe-ioc-sharing for the brackets. Read 2026-11-22.
 */
export function breakLinks(text: string): string {
  return text.replace(LINKING, "[$&]");
}
