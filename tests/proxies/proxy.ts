import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { DebianTool } from "../support/debian-tool.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

/** Debian's reverse proxies. It has no Traefik; Caddy sends as Traefik does, with Go's net/http. */
export const PROXY_TOOLS: readonly DebianTool[] = [
  { program: "nginx", packageName: "nginx", versionWord: "-v" },
  { program: "haproxy", packageName: "haproxy", versionWord: "-v" },
  { program: "caddy", packageName: "caddy", versionWord: "version" },
];

/** Where a proxy has its files and listens, and the port of the service behind it, both on 127.0.0.1. */
type Place = { folder: string; port: number; backend: number };

/** The text of a proxy's configuration, and the command line that starts it with the file of that text. */
type Plan = { config(place: Place): string; words(file: string, place: Place): string[] };

/** The configurations that are tried, by name. */
export type ProxyName = "nginx as documented" | "nginx, kept alive" | "haproxy" | "Caddy";

const PLANS: Record<ProxyName, Plan> = {
  "nginx as documented": nginx(({ backend }) => ({ location: documentedLocation(backend) })),
  "nginx, kept alive": nginx(({ backend }) => ({
    upstream: `upstream opsctl { server 127.0.0.1:${backend}; keepalive 16; }`,
    location: `location = /webhook {
      proxy_pass http://opsctl;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      client_max_body_size 16m;
    }`,
  })),
  haproxy: {
    config: ({ port, backend }) => `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend alerts
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend opsctl
backend opsctl
  server opsctl 127.0.0.1:${backend}
`,
    words: (file) => ["haproxy", "-db", "-f", file],
  },
  Caddy: {
    config: ({ port, backend }) => `{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${backend}
}
`,
    words: (file) => ["caddy", "run", "--adapter", "caddyfile", "--config", file],
  },
};

function nginx(parts: (place: Place) => { upstream?: string; location: string }): Plan {
  return {
    config: (place) => {
      const { upstream = "", location } = parts(place);
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      return `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
pid ${place.folder}/pid;
events {}
http {
  access_log off;
  ${folders.map((name) => `${name}_temp_path ${place.folder}/${name};`).join("\n  ")}
  ${upstream}
  server {
    listen 127.0.0.1:${place.port};
    ${location}
  }
}
`;
    },
    words: (file, { folder }) => ["nginx", "-e", "stderr", "-p", folder, "-c", file],
  };
}

/** The block of the manual, with this service's port. */
function documentedLocation(backend: number): string {
  const manual = readFileSync(join(import.meta.dirname, "../../docs/webhook.md"), "utf8");
  const block = /^```nginx\n([^`]*)^```$/m.exec(manual)?.[1];
  if (block === undefined) throw new Error("docs/webhook.md has no block for nginx");
  return block.replace("127.0.0.1:9300", `127.0.0.1:${backend}`);
}

/** A reverse proxy that runs; `folder` has its files. */
export type Proxy = { folder: string; port: number; url: string; [Symbol.asyncDispose](): Promise<void> };

/** Starts a reverse proxy in front of the port `backend`; all that it writes is in a folder that goes with it. */
export async function startProxy(name: ProxyName, backend: number): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-proxy-"));
  const place = { folder, port: await freePort(), backend };
  const file = join(folder, "config");
  writeFileSync(file, PLANS[name].config(place));
  const [program, ...words] = PLANS[name].words(file, place);
  const env = { PATH: process.env.PATH, HOME: folder };
  const child = spawn(program!, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  await until(`${name} listens`, async () => child.exitCode !== null || (await isOpen(place.port)));
  if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
  return {
    folder,
    port: place.port,
    url: `http://127.0.0.1:${place.port}/webhook`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "close");
      if (child.kill("SIGTERM")) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
