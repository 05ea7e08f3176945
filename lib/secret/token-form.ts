/** What is known of a peer's tokens: `beginsWith` is their usual beginning, null where that is not known. */
type TokenForm = { peer: string; beginsWith: string | null };

const EMAIL_PROVIDER: TokenForm = { peer: "the e-mail provider", beginsWith: "re_" };

/**
 * The secrets that a peer issues; every other one is made up by people, who may write what they like.
 *
 * Source: resend.com, API reference; linear.app, API keys; grafana.com, service accounts; vercel.com, access tokens.
 */
const FORMS: Readonly<Record<string, TokenForm>> = {
  EMAIL_API_KEY: EMAIL_PROVIDER,
  EMAIL_READ_API_KEY: EMAIL_PROVIDER,
  ALERT_EMAIL_API_KEY: EMAIL_PROVIDER,
  // Its tokens of OAuth begin otherwise.
  ISSUE_TRACKER_TOKEN: { peer: "the issue tracker", beginsWith: "lin_api_" },
  MONITORING_TOKEN: { peer: "the metrics platform", beginsWith: "glsa_" },
  HOSTING_TOKEN: { peer: "the hosting provider", beginsWith: null },
};

/** RFC 6750, section 2.1: what a bearer token may hold. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** A token with fewer characters than this was not copied whole. */
const FEWEST = 8;
const USUALLY_AT_LEAST = 16;

/** Why a value cannot be the token that a peer issues for this secret; null where it can, and for any other secret. */
export function tokenFault(name: string, text: string): string | null {
  const form = formOf(name);
  if (form === null) return null;
  if (!BEARER_TOKEN.test(text))
    return "holds what no token can, such as a blank, a quotation mark or the name of the variable";
  return bodyOf(form, text).length < FEWEST ? "is cut off: there is next to nothing of a token" : null;
}

/** What is odd about the token of a secret, a sentence each; its peer may take it all the same. */
export function oddToken(name: string, text: string): string[] {
  const form = formOf(name);
  if (form === null) return [];
  const { peer, beginsWith } = form;
  const isOther = beginsWith !== null && !text.startsWith(beginsWith);
  const isShort = bodyOf(form, text).length < USUALLY_AT_LEAST;
  return [
    ...(isOther ? [`the value does not begin with ${beginsWith}, as the tokens of ${peer} usually do`] : []),
    ...(isShort ? [`the value is shorter than the tokens of ${peer} usually are: see that it is whole`] : []),
  ];
}

function formOf(name: string): TokenForm | null {
  return Object.hasOwn(FORMS, name) ? FORMS[name]! : null;
}

/** What follows the part by which a token is known. */
function bodyOf({ beginsWith }: TokenForm, text: string): string {
  return beginsWith !== null && text.startsWith(beginsWith) ? text.slice(beginsWith.length) : text;
}
