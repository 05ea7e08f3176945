import * as v from "valibot";
import { DEFAULT_TEXTFILE_DIR } from "../host/metrics-file-name.ts";
import { hasAny, SET_UP_BY } from "../host/set-up.ts";
import {
  absolutePath,
  anyText,
  httpBaseUrl,
  loadConfig,
  optional,
  positiveInteger,
  type Rule,
  requiredSecret,
} from "../platform/config/config.ts";
import { loadTogether } from "../platform/config/load-together.ts";
import { DEFAULT_LOG_DIR } from "../platform/config/settings/log-directory.ts";
import { loadPingUrl } from "../platform/config/settings/ping-url.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { DockerAddress } from "../providers/docker/client.ts";

/** The settings of the collector; the hosting token is looked for later, within the hosting source's limit. */
export type CollectConfig = {
  textfileDir: string;
  logDir: string;
  proxy: { container: string; address: DockerAddress };
  hosting: { apiUrl: string; teamId: string | null; projects: number };
};

/** How many projects the account has by the monitoring document, Limits. */
const DEFAULT_PROJECTS = 16;
const DEFAULT_SOCKET = "/var/run/docker.sock";

/** A container's name, as the engine allows it: exact, and no part of a path. */
const containerName: Rule<string> = {
  schema: () => v.pipe(v.string(), v.regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, "is not the name of a container")),
  expected: "the exact name of a container",
  example: "traefik",
};

/** The address of the container engine; `tcp://` is unencrypted, as for Docker's own client. */
const dockerHost: Rule<DockerAddress> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const address = parseDockerHost(dataset.value);
        if (address !== undefined) return address;
        addIssue({ message: "is not an address that opsctl can use" });
        return NEVER;
      }),
    ),
  expected: "unix:// with an absolute path, or tcp://host:port without encryption",
  example: `unix://${DEFAULT_SOCKET}`,
};

/** Variables that other commands read as well; one of them is enough, too. */
const SHARED: readonly string[] = [
  ...["OPSCTL_LOG_DIR", "DOCKER_HOST", "OPSCTL_PING_URL"],
  ...["OPSCTL_SECRETS_DIR", "OPSCTL_SECRETS_COMMAND", "CREDENTIALS_DIRECTORY"],
];

/**
 * Refuses to run without any setting: a run that somebody starts by hand would replace the metrics of the installed
 * collector by those of one that is not set up.
 *
 * Errors: CONFIG_INVALID.
 */
export function refuseWithoutSettings(
  env: Environment,
  file: { path: string; isThere: boolean } | null,
): void {
  if (file?.isThere || hasAny(env, [...SET_UP_BY.collector, ...SHARED])) return;
  const missing = file === null ? "no settings file is read" : `${file.path} is not there`;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot start: the collector is not set up on this host: ${missing}, and none of its variables is set`,
    hint: "Nothing was written. opsctl collect-metrics --stdout shows the metrics without settings. What it needs: opsctl doctor collect-metrics",
  });
}

/**
 * Reads the settings of `opsctl collect-metrics`.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadCollectConfig(env: Environment): Promise<CollectConfig> {
  const values = await loadConfig(
    {
      TEXTFILE_DIR: optional({ ...absolutePath, example: DEFAULT_TEXTFILE_DIR }, DEFAULT_TEXTFILE_DIR),
      OPSCTL_LOG_DIR: optional(absolutePath, DEFAULT_LOG_DIR),
      PROXY_CONTAINER: optional(containerName, "traefik"),
      DOCKER_HOST: optional(dockerHost, { unixSocket: DEFAULT_SOCKET }),
      HOSTING_API_URL: optional(httpBaseUrl, "https://api.vercel.com"),
      HOSTING_TEAM_ID: optional(anyText),
      HOSTING_PROJECTS: optional(positiveInteger, DEFAULT_PROJECTS),
    },
    env,
  );
  return {
    textfileDir: values.TEXTFILE_DIR,
    logDir: values.OPSCTL_LOG_DIR,
    proxy: { container: values.PROXY_CONTAINER, address: values.DOCKER_HOST },
    hosting: {
      apiUrl: values.HOSTING_API_URL,
      teamId: values.HOSTING_TEAM_ID?.trim() ?? null,
      projects: values.HOSTING_PROJECTS,
    },
  };
}

/**
 * Reads the settings, the token, which a pass looks for later, and the ping, without which it goes on; what is missing
 * or wrong is one error.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadWholeCollectConfig(env: Environment): Promise<CollectConfig> {
  const others = [loadConfig({ HOSTING_TOKEN: requiredSecret() }, env), loadPingUrl(env)];
  return await loadTogether(loadCollectConfig(env), others, env);
}

function parseDockerHost(text: string): DockerAddress | undefined {
  const path = /^unix:\/\/(\/[^\0]+)$/.exec(text)?.[1];
  if (path !== undefined) return { unixSocket: path };
  const place = /^tcp:\/\/([^/?#@\s]+:\d{1,5})\/?$/.exec(text)?.[1];
  return place !== undefined && URL.canParse(`http://${place}`)
    ? { url: new URL(`http://${place}`) }
    : undefined;
}
