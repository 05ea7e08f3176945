import * as v from "valibot";
import { parseDatabaseUrl } from "../database/url.ts";
import { isLoopback } from "../loopback.ts";
import type { Environment } from "../secrets/adapter.ts";
import { Secret } from "../secrets/secret.ts";
import { parseUuid } from "./uuid.ts";

/** What a setting may hold. The texts of `schema` are shown to people and must not quote the value. */
export type Kind<T> = {
  schema: (env: Environment) => v.GenericSchema<string, T>;
  expected?: string;
  example?: string;
};

const MAX_URL_LENGTH = 400;
const NO_HTTP_URL = "is not an http or https URL";
const UNENCRYPTED =
  "would send a secret unencrypted; use https, or set OPSCTL_ALLOW_PLAIN_HTTP=1 to accept that";
const CONTACT_POINT = /^[^\p{C}\p{Zl}\p{Zp}]{1,190}$/u;
/** One address without a name. */
const EMAIL =
  /^[^\s\p{C}@<>()[\],;:\\"]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+\p{L}[\p{L}\p{M}\p{N}-]+$/u;
/** What an address in angle brackets may have: printable ASCII but a comma and the marks that RFC 3986 leaves out. */
const IN_ANGLE_BRACKETS = /^[!#-+\-./0-;=?-[\]_a-z~]+$/;

/**
 * The base of a service's URLs, without its trailing slash afterwards. Each such service is sent a secret, so `http://`
 * is accepted for loopback addresses only, unless `OPSCTL_ALLOW_PLAIN_HTTP` is `1`.
 */
export const url: Kind<string> = {
  schema: (env) =>
    v.pipe(
      v.string(),
      v.check((text) => text.length <= MAX_URL_LENGTH, `is longer than ${MAX_URL_LENGTH} characters`),
      v.check((text) => text === text.trim() && isHttpUrl(text), NO_HTTP_URL),
      v.transform((text) => new URL(text)),
      v.check((address) => !hasLogin(address), "carries a user name or a password"),
      v.check((address) => !/[?#]/.test(address.href), "carries a query or a fragment"),
      v.check((address) => mayCarrySecret(address, env), UNENCRYPTED),
      v.transform((address) => address.href.replace(/\/+$/, "")),
    ),
  expected: "the http or https URL that the paths are added to",
  example: "https://app.example.com",
};

/**
 * The address that is pinged while a service or a run is well; it knows its sender by the address alone, so it is a
 * secret.
 */
const pingUrl: Kind<Secret> = {
  schema: (env) =>
    v.pipe(
      v.string(),
      v.trim(),
      v.check((text) => text.length <= 2_000, "is longer than 2000 characters"),
      v.check(isHttpUrl, NO_HTTP_URL),
      v.check((text) => !text.includes("#"), "carries a fragment"),
      v.check((text) => !isHttpUrl(text) || mayCarrySecret(new URL(text), env), UNENCRYPTED),
      v.transform((text) => new Secret(text)),
    ),
  expected: "the whole http or https URL of a check",
  example: "https://hc-ping.com/<uuid>",
};

/** The URL of a PostgreSQL database. */
const database: Kind<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        const address = dataset.typed ? parseDatabaseUrl(dataset.value) : undefined;
        if (typeof address === "string") addIssue({ message: address });
      }),
    ),
  expected: "a postgres:// URL with special characters of the password percent-encoded",
  example: "postgres://<user>:<password>@db.example.com:5432/app?sslmode=verify-full",
};

/**
 * Where a recipient stops the e-mails: `mailto:` and one address with at most a subject, or an https address.
 *
 * Shape:  the address as the header `List-Unsubscribe` and a link take it.
 * Source: RFC 2369, 2 and 3.2; RFC 6068, 2.
 */
const unsubscribe: Kind<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.check((text) => text.length <= MAX_URL_LENGTH, `is longer than ${MAX_URL_LENGTH} characters`),
      v.check((text) => IN_ANGLE_BRACKETS.test(text), "holds a character that has to be percent-encoded"),
      v.check(
        (text) => /^(?:https:\/\/|mailto:)/i.test(text) && URL.canParse(text),
        "is neither mailto: nor https",
      ),
      v.transform((text) => new URL(text)),
      v.check((address) => !hasLogin(address), "carries a user name or a password"),
      v.check(
        (address) => address.protocol !== "mailto:" || hasOneRecipient(address),
        "is not one address, with nothing but a subject",
      ),
      v.transform((address) => address.href),
    ),
  expected: "mailto: with one address, or an https address",
  example: "mailto:sair@mail.example.com?subject=Sair",
};

/** The kinds of settings, by the name that the table of settings has for them. */
export const KINDS = {
  url,
  pingUrl,
  database,
  unsubscribe,
  text: { schema: () => v.string() },
  /** What a header can carry: each key is sent in one, and an unusable one must be found before the first call. */
  token: matching(/^[ -~]+$/, "holds a character that a header cannot carry", "printable ASCII on one line"),
  uuid: parsed(parseUuid, "is not a UUID", "a UUID", "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d"),
  count: parsed(parseCount, "is not a positive whole number", "a positive whole number", "20"),
  /** The editorial budget is spent in batches of three calls. */
  multipleOfThree: parsed(
    (text) => (Number(text) % 3 === 0 ? parseCount(text) : undefined),
    "is not a positive multiple of 3",
    "a positive multiple of 3",
    "30",
  ),
  port: parsed(parsePort, "is not a port", "a port, 0 to 65535", "9300"),
  /** Only the exact text `1` turns it on. */
  switch: { ...parsed((text) => text === "1", ""), expected: "1, or nothing" },
  path: matching(/^\/[^\0]*$/, "is not an absolute path", "an absolute path", "/var/log/opsctl"),
  /** 10 to 15 digits, as in E.164; a leading `+` and separators are dropped, a country code is not guessed. */
  phone: parsed(
    parsePhone,
    "is not a phone number with country code",
    "digits with country code",
    "55 11 91234-5678",
  ),
  email: parsed(
    (text) => (EMAIL.test(text.trim()) ? text.trim() : undefined),
    "is not one e-mail address",
    "one address without a name; ALERT_EMAIL_TO, ALERT_EMAIL_FROM and ALERT_EMAIL_API_KEY belong together",
    // One with a whole domain would be masked.
    "ops@<your domain>",
  ),
  platformUid: matching(
    /^[A-Za-z0-9_-]{1,40}$/,
    "is not a uid of the platform",
    "1 to 40 letters, digits, - or _, as the platform shows them",
    "grafanacloud-prom",
  ),
  contactPoint: parsed(
    (text) => (CONTACT_POINT.test(text.trim()) ? text.trim() : undefined),
    "is not the name of a contact point",
    "the name of a contact point, one line of at most 190 characters",
    "opsctl-webhook",
  ),
  /** As the engine allows it: exact, and no part of a path. */
  container: matching(
    /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/,
    "is not the name of a container",
    "the exact name of a container",
    "traefik",
  ),
  /** `tcp://` is unencrypted, as for Docker's own client. */
  dockerHost: parsed(
    parseDockerHost,
    "is not an address that opsctl can use",
    "unix:// with an absolute path, or tcp://host:port without encryption",
    "unix:///var/run/docker.sock",
  ),
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a type of its own, which `loadSettings` recovers
} satisfies Record<string, Kind<any>>;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

/** The type of the values of a kind. */
export type KindValue<K extends KindName> = (typeof KINDS)[K] extends {
  schema: (env: Environment) => v.GenericSchema<string, infer T>;
}
  ? T
  : never;

/** Text that this pattern allows. */
function matching(allowed: RegExp, problem: string, expected: string, example?: string): Kind<string> {
  return parsed((text) => (allowed.test(text) ? text : undefined), problem, expected, example);
}

/** What `parse` makes of the text; undefined for `problem`. */
function parsed<T>(
  parse: (text: string) => T | undefined,
  problem: string,
  expected?: string,
  example?: string,
): Kind<T> {
  const schema = () =>
    v.pipe(
      v.string(),
      v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
        const value = parse(dataset.value);
        if (value !== undefined) return value;
        addIssue({ message: problem });
        return NEVER;
      }),
    );
  return {
    schema,
    ...(expected === undefined ? {} : { expected }),
    ...(example === undefined ? {} : { example }),
  };
}

function parsePhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]/g, "").replace(/^\+/, "");
  return /^[1-9][0-9]{9,14}$/.test(digits) ? digits : undefined;
}

function parseCount(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : 0;
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

function parsePort(text: string): number | undefined {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function parseDockerHost(text: string): { unixSocket: string } | { url: URL } | undefined {
  const path = /^unix:\/\/(\/[^\0]+)$/.exec(text)?.[1];
  if (path !== undefined) return { unixSocket: path };
  const place = /^tcp:\/\/([^/?#@\s]+:\d{1,5})\/?$/.exec(text)?.[1];
  return place !== undefined && URL.canParse(`http://${place}`)
    ? { url: new URL(`http://${place}`) }
    : undefined;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Whether a secret may be sent there: encrypted, or on this host, or where the operator accepts another way. */
function mayCarrySecret({ protocol, hostname }: URL, env: Environment): boolean {
  return protocol === "https:" || isLoopback(hostname) || env.OPSCTL_ALLOW_PLAIN_HTTP === "1";
}

function hasLogin({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

/** A second recipient or a `bcc` would also send each owner's wish to another address. */
function hasOneRecipient({ pathname, search, hash }: URL): boolean {
  try {
    const [address, subject] = [decodeURIComponent(pathname), decodeURIComponent(search)];
    const isPlain = /^[!-~]+$/.test(address) && EMAIL.test(address);
    return isPlain && hash === "" && (search === "" || /^\?subject=[^&\p{Cc}]*$/iu.test(subject));
  } catch {
    return false;
  }
}
