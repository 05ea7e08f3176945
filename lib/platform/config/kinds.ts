import * as v from "valibot";
import { parseDatabaseUrl } from "../database/url.ts";
import { GRAFANA_UID, isGrafanaUid } from "../grafana-uid.ts";
import { isLoopback } from "../loopback.ts";
import type { Environment } from "../secrets/adapter.ts";
import { Secret } from "../secrets/secret.ts";

/**
 * What a setting may hold, with an example. The texts of `schema` are shown to people and must not quote the value; `getsSecrets` marks a
 * URL to which a secret is sent, so that plain `http://` is refused.
 */
export type Kind<T> = {
  schema: v.GenericSchema<string, T>;
  expected: string;
  getsSecrets?: true;
};

/** For a value that is not what `expected` says. */
const INVALID = "is invalid";
const TOO_LONG = "is longer than 400 characters";
const UNENCRYPTED =
  "would send a secret unencrypted; use https, or set OPSCTL_ALLOW_PLAIN_HTTP=1 to accept that";
/** One address without a name. */
const EMAIL =
  /^[^\s\p{C}@<>()[\],;:\\"]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+\p{L}[\p{L}\p{M}\p{N}-]+$/u;
/**
 * Where a recipient stops the e-mails, as the header `List-Unsubscribe` takes it in angle brackets (RFC 2369, 2 and 3.2;
 * RFC 6068, 2): https, or mailto with one address. A second recipient or a `bcc` would also get each owner's wish.
 */
const UNSUBSCRIBE =
  /^(?:https:\/\/[!#-+\-./0-;=?-[\]_a-z~]+|mailto:[\w.+=-]{1,64}@(?:[\w-]+\.)+[a-z][\w-]+(?:\?subject=(?!.*%(?:0[ad]|26))(?:[\w.~+-]|%[0-9a-f]{2})*)?)$/i;

const http = v.pipe(
  v.string(),
  v.check((text) => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text), "is not an http or https URL"),
);
const noLogin = v.check((text: string) => {
  const { username, password } = new URL(text);
  return username === "" && password === "";
}, "carries a user name or a password");
const toSecret = v.transform((text: string) => new Secret(text));
const count = v.pipe(
  v.string(),
  v.digits(INVALID),
  v.transform(Number),
  v.check((value) => value > 0 && Number.isSafeInteger(value), INVALID),
);

/** The base of a service's URLs, without its trailing slash afterwards. */
export const url: Kind<string> = {
  schema: v.pipe(
    http,
    v.transform((text) => new URL(text).href.replace(/\/+$/, "")),
    v.maxLength(400, TOO_LONG),
    noLogin,
    v.check((text) => !/[?#]/.test(text), "carries a query or a fragment"),
  ),
  expected: "an http or https URL, such as https://app.example.com",
  getsSecrets: true,
};

/** The kinds of settings, by the name that the table of settings has for them. */
export const KINDS = {
  url,
  /** The address of a check knows its sender by nothing else, so it is a secret. */
  pingUrl: {
    schema: v.pipe(v.string(), v.trim(), http, toSecret),
    expected: "the whole http or https URL of a check, such as https://hc-ping.com/<uuid>",
    getsSecrets: true,
  },
  database: {
    schema: v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        const address = dataset.typed ? parseDatabaseUrl(dataset.value) : undefined;
        if (typeof address === "string") addIssue({ message: address });
      }),
      toSecret,
    ),
    expected:
      "a postgres:// URL with special characters of the password percent-encoded, such as postgres://<user>:<password>@db.example.com:5432/app?sslmode=verify-full",
  },
  unsubscribe: {
    schema: v.pipe(
      matching(UNSUBSCRIBE),
      v.url(INVALID),
      v.maxLength(400, TOO_LONG),
      v.transform((text) => new URL(text).href),
      noLogin,
    ),
    expected:
      "mailto: with one address and at most a subject, or https, such as mailto:sair@mail.example.com",
  },
  text: { schema: v.pipe(v.string(), v.trim()), expected: "its id or name" },
  /** Each key is sent in a header, and an unusable one must be found before the first call. */
  token: {
    schema: v.pipe(matching(/^[ -~]+$/, "holds a character that a header cannot carry"), toSecret),
    expected: "printable ASCII on one line",
  },
  uuid: {
    schema: v.pipe(v.string(), v.uuid(INVALID), v.toLowerCase()),
    expected: "a UUID, such as 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",
  },
  count: { schema: count, expected: "a positive whole number, such as 20" },
  /** The editorial budget is spent in batches of three calls. */
  multipleOfThree: {
    schema: v.pipe(count, v.multipleOf(3, INVALID)),
    expected: "a positive multiple of 3, such as 30",
  },
  port: {
    schema: v.pipe(v.string(), v.digits(INVALID), v.transform(Number), v.maxValue(65_535, INVALID)),
    expected: "a port, 0 to 65535, such as 9300",
  },
  /** Only the exact text `1` turns it on. */
  switch: {
    schema: v.pipe(
      v.string(),
      v.transform((text) => text === "1"),
    ),
    expected: "1, or nothing",
  },
  path: { schema: matching(/^\/[^\0]*$/), expected: "an absolute path, such as /var/log/opsctl" },
  /** As in E.164; a leading `+` and separators are dropped, a country code is not guessed. */
  phone: {
    schema: v.pipe(
      v.string(),
      v.transform((text) => text.replace(/[\s().-]/g, "").replace(/^\+/, "")),
      v.regex(/^[1-9][0-9]{9,14}$/, INVALID),
    ),
    expected: "a phone number with country code, such as 55 11 91234-5678",
  },
  email: {
    schema: v.pipe(v.string(), v.trim(), v.regex(EMAIL, INVALID)),
    expected: "one address without a name, such as alerts@example.com",
  },
  /** Exact, and no part of a path. */
  name: { schema: matching(/^[\w-][\w.-]{0,99}$/), expected: "its exact name, such as traefik" },
  /** Of a folder or a data source of Grafana. */
  grafanaUid: { schema: v.pipe(v.string(), v.check(isGrafanaUid, INVALID)), expected: GRAFANA_UID },
  /** `tcp://` is unencrypted, as for Docker's own client. */
  dockerHost: {
    schema: v.pipe(
      matching(/^(?:unix:\/\/\/[^\0]+|tcp:\/\/[^/?#@\s]+:\d{1,5}\/?)$/),
      v.check((text) => URL.canParse(text.replace(/^tcp:/, "http:")), INVALID),
      v.transform(parseDockerHost),
    ),
    expected:
      "unix:// with an absolute path, or tcp://host:port without encryption, such as unix:///var/run/docker.sock",
  },
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a type of its own, which `loadSettings` recovers
} satisfies Record<string, Kind<any>>;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

/** Why a text is no value of this kind, for people; null where it is one. `env` may allow plain HTTP. */
export function faultOf(
  { schema, getsSecrets }: Kind<unknown>,
  text: string,
  env: Environment,
): string | null {
  const { issues } = v.safeParse(schema, text);
  if (issues !== undefined) return issues[0].message;
  return getsSecrets && !mayCarrySecret(new URL(text.trim()), env) ? UNENCRYPTED : null;
}

/** Whether a secret may be sent there: encrypted, or on this host, or where the operator accepts another way. */
function mayCarrySecret({ protocol, hostname }: URL, env: Environment): boolean {
  return protocol === "https:" || isLoopback(hostname) || env.OPSCTL_ALLOW_PLAIN_HTTP === "1";
}

function matching(pattern: RegExp, problem = INVALID) {
  return v.pipe(v.string(), v.regex(pattern, problem));
}

function parseDockerHost(text: string): { unixSocket: string } | { url: URL } {
  if (text.startsWith("unix:")) return { unixSocket: text.slice("unix://".length) };
  return { url: new URL(text.replace("tcp:", "http:")) };
}
