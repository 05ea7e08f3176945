/** Headless Chromium, driven over its DevTools protocol. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { findDebianTool } from "./debian-tool.ts";

/** How a page is looked at; without `scale` a narrow screen is a phone's, with two pixels for one. */
export type View = { width: number; scheme: "light" | "dark"; scale?: number };

/**
 * A page as it was shown.
 *
 * Shape: `requests` are all that the browser wanted to load, `complaints` what it wrote to its console. `evaluate`
 *        returns the value of an expression, or of the promise that it gives; `picture` a file of the page's top, or of
 *        all of it when it is no higher; `look` looks at the same page in another way.
 */
export type ShownPage = {
  requests: string[];
  complaints: string[];
  evaluate<T>(expression: string): Promise<T>;
  picture(wanted: { format: "webp"; quality: number; maxHeight: number }): Promise<Buffer>;
  look(view: View): Promise<void>;
};

/** A running browser. */
export type Chromium = { show(url: string, view: View): Promise<ShownPage>; stop(): Promise<void> };

type Message = {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: { request?: { url: string }; entry?: { text: string }; message?: string };
  result?: unknown;
  error?: unknown;
};

/** Where the browser's program is; null where there is none and none can be had. */
export function findChromium(): string | null {
  const program = "chromium-headless-shell";
  return findDebianTool({ program, packageName: program, folder: "usr/lib/chromium", needsOthers: true });
}

/** Starts the browser with an empty profile; it reaches nothing but this host. */
export async function startChromium(program: string): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), "opsctl-chromium-"));
  const browser = spawn(
    program,
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
      ...["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
      // Letters look the same whatever the machine's screen and fonts are set to.
      ...["--disable-lcd-text", "--font-render-hinting=none", "--force-color-profile=srgb"],
      ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
    ],
    // A group of its own: the program may be a script that starts the browser.
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  const call = await connect(await endpointOf(browser.stderr));
  return {
    show: (url, view) => show(call, url, view),
    async stop() {
      const ended = once(browser, "exit");
      process.kill(-browser.pid!, "SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function endpointOf(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error("Chromium ended before it listened");
}

type Call = {
  <T = unknown>(method: string, params?: object, sessionId?: string): Promise<T>;
  heard: Set<(message: Message) => void>;
};

type Waiter = { resolve: (value: never) => void; reject: (error: Error) => void };

async function connect(endpoint: string): Promise<Call> {
  const socket = new WebSocket(endpoint);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, Waiter>();
  const heard = new Set<(message: Message) => void>();
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const waiter = waiting.get(message.id ?? -1);
    if (message.error) waiter?.reject(new Error(JSON.stringify(message.error)));
    else waiter?.resolve(message.result as never);
    for (const listener of heard) listener(message);
  };
  let last = 0;
  const call = <T>(method: string, params: object = {}, sessionId?: string) =>
    new Promise<T>((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  return Object.assign(call, { heard });
}

/** What a tab asked for and complained about, and when it has loaded. */
function watch(
  call: Call,
  sessionId: string,
): Pick<ShownPage, "requests" | "complaints"> & { loaded: Promise<void> } {
  const [requests, complaints]: [string[], string[]] = [[], []];
  const loaded = new Promise<void>((resolve) => {
    call.heard.add(({ sessionId: of, method = "", params = {} }) => {
      if (of !== sessionId) return;
      if (method === "Network.requestWillBeSent") requests.push(params.request!.url);
      if (method === "Log.entryAdded") complaints.push(params.entry!.text);
      if (method === "Page.javascriptDialogOpening") complaints.push(`dialog: ${params.message}`);
      if (/^Runtime\.(consoleAPICalled|exceptionThrown)$/.test(method))
        complaints.push(JSON.stringify(params));
      if (method === "Page.loadEventFired") resolve();
    });
  });
  return { requests, complaints, loaded };
}

async function show(call: Call, url: string, view: View): Promise<ShownPage> {
  const { targetId } = await call<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call<{ sessionId: string }>("Target.attachToTarget", {
    targetId,
    flatten: true,
  });
  const ask = <T>(method: string, params?: object) => call<T>(method, params, sessionId);
  const { requests, complaints, loaded } = watch(call, sessionId);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await ask(`${domain}.enable`);
  const look = async ({ width, scheme, scale }: View) => {
    const isPhone = width < 700;
    const [height, factor] = isPhone ? [780, scale ?? 2] : [900, scale ?? 1];
    const metrics = { width, height, deviceScaleFactor: factor, mobile: isPhone };
    await ask("Emulation.setDeviceMetricsOverride", metrics);
    await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  };
  const evaluate = async <T>(expression: string) => {
    const answer = await ask<{ result: { value: T } }>("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    return answer.result.value;
  };
  await look(view);
  await ask("Page.navigate", { url });
  await loaded;
  return {
    requests,
    complaints,
    look,
    evaluate,
    async picture({ format, quality, maxHeight }) {
      const [width, height] = await evaluate<[number, number]>(
        "[document.documentElement.clientWidth, document.documentElement.scrollHeight]",
      );
      const clip = { x: 0, y: 0, width, height: Math.min(height, maxHeight), scale: 1 };
      const options = { format, quality, clip, captureBeyondViewport: true };
      const { data } = await ask<{ data: string }>("Page.captureScreenshot", options);
      return Buffer.from(data, "base64");
    },
  };
}
