import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { readEnvFile } from "../../lib/platform/config/env-file.ts";
import {
  type Clone,
  MADE,
  make,
  makeClone,
  type Ran,
  removeClone,
  run,
  STAND_IN,
  stateOf,
  treeOf,
} from "./support/clone.ts";

const ENVIRONMENTS = ["alert-rules", "collect-metrics", "socket-monitor", "webhook", "weekly"];
const isRoot = process.geteuid?.() === 0;
const NOBODY = 65534;

const SHARE = "usr/local/share";
/** The files that are installed with the default paths, by their modes; every directory is 755 but those named. */
const FILES = {
  "600": ENVIRONMENTS.map((name) => `etc/opsctl/${name}.env`),
  "644": [
    ...["etc/cron.d/opsctl", "etc/logrotate.d/opsctl"],
    ...ENVIRONMENTS.map((name) => `etc/opsctl/${name}.env.example`),
    ...["service", "socket"].map((kind) => `etc/systemd/system/opsctl-webhook.${kind}`),
    ...[`${SHARE}/bash-completion/completions/opsctl`, `${SHARE}/zsh/site-functions/_opsctl`],
    ...[`${SHARE}/fish/vendor_completions.d/opsctl.fish`],
    ...[`${SHARE}/man/man1/opsctl-weekly.1`, `${SHARE}/man/man1/opsctl.1`],
    ...["alloy.env.example", "config.alloy", "dashboard.json"].map((name) => `${SHARE}/opsctl/agent/${name}`),
    ...[`${SHARE}/opsctl/firewall/opsctl-webhook.nft`, `${SHARE}/opsctl/proxy/opsctl-alerts.yml`],
  ],
  "755": ["usr/local/bin/opsctl", `${SHARE}/opsctl/firewall/opsctl-webhook.ufw.sh`],
};
const OWN_DIRECTORIES = { "etc/opsctl/root-secrets": "d700", "etc/opsctl/secrets": "d750" };

/** A directory and those above it. */
const upward = (path: string): string[] => (path === "." ? [] : [path, ...upward(dirname(path))]);
/** What is installed with the default paths, and nothing else. */
const TREE = {
  ...Object.fromEntries(
    Object.values(FILES).flatMap((paths) =>
      paths.flatMap((path) => upward(dirname(path)).map((one) => [one, "d755"])),
    ),
  ),
  ...Object.fromEntries(Object.entries(FILES).flatMap(([mode, paths]) => paths.map((path) => [path, mode]))),
  ...OWN_DIRECTORIES,
};

let clone: Clone;
beforeEach(() => {
  clone = makeClone();
});
afterEach(() => removeClone(clone));

function install(words: string[] = [], options: Parameters<typeof make>[2] = {}): Ran {
  const ran = make(clone, ["install", `DESTDIR=${clone.destdir}`, ...words], options);
  expect([ran.stderr, ran.status]).toEqual(["", 0]);
  return ran;
}

function uninstall(words: string[] = []): Ran {
  const ran = make(clone, ["uninstall", `DESTDIR=${clone.destdir}`, ...words]);
  expect([ran.stderr, ran.status]).toEqual(["", 0]);
  return ran;
}

const at = (path: string) => join(clone.destdir, path);
const filesIn = (folder: string) =>
  Object.keys(treeOf(folder)).filter((path) => lstatSync(join(folder, path)).isFile());

describe("make install", () => {
  test.each(["000", "077"])("puts every file with its mode under the umask %s", (umask) => {
    install([], { umask });
    expect(treeOf(clone.destdir)).toEqual(TREE);
  });

  test("puts the files of the clone, unchanged with the default paths", () => {
    install();
    expect(readFileSync(at("usr/local/bin/opsctl"), "utf8")).toBe(STAND_IN);
    for (const [installed, source] of [
      ["etc/cron.d/opsctl", "opsctl.cron"],
      ["etc/logrotate.d/opsctl", "opsctl.logrotate"],
      ["etc/systemd/system/opsctl-webhook.service", "opsctl-webhook.service"],
      ["etc/systemd/system/opsctl-webhook.socket", "opsctl-webhook.socket"],
      ["etc/opsctl/webhook.env", "webhook.env.example"],
      ["etc/opsctl/weekly.env.example", "weekly.env.example"],
      ["usr/local/share/opsctl/agent/config.alloy", "agent/config.alloy"],
    ] as const)
      expect(readFileSync(at(installed), "utf8")).toBe(
        readFileSync(join(clone.clone, "systemd", source), "utf8"),
      );
    // Every file of systemd/ but the installer itself.
    const texts = new Set(filesIn(clone.destdir).map((path) => readFileSync(at(path), "utf8")));
    const sources = filesIn(join(clone.clone, "systemd")).filter((path) => path !== "install.sh");
    expect(sources.length).toBeGreaterThan(10);
    for (const path of sources)
      expect(texts).toContain(readFileSync(join(clone.clone, "systemd", path), "utf8"));
  });

  test("changes nothing when it is done again, also not the mode of a directory that was there", () => {
    mkdirSync(at("etc/cron.d"), { recursive: true, mode: 0o700 });
    install();
    expect(treeOf(clone.destdir)["etc/cron.d"]).toBe("d700");
    const before = stateOf(clone.destdir);
    const { stdout } = install([], { umask: "077" });
    expect(stateOf(clone.destdir)).toEqual(before);
    expect(stdout).not.toContain(at("usr/local/bin/opsctl"));
  });

  test("replaces what differs, in one step: a process that runs the old binary keeps it", () => {
    install();
    const old = lstatSync(at("usr/local/bin/opsctl")).ino;
    writeFileSync(join(clone.clone, "dist/opsctl"), `${STAND_IN}# newer\n`);
    chmodSync(at("etc/cron.d/opsctl"), 0o666);
    install();
    expect(readFileSync(at("usr/local/bin/opsctl"), "utf8")).toEndWith("# newer\n");
    expect(lstatSync(at("usr/local/bin/opsctl")).ino).not.toBe(old);
    expect(treeOf(clone.destdir)).toEqual(TREE);
  });

  test("never overwrites an environment file, renews the sample beside it", () => {
    install();
    writeFileSync(at("etc/opsctl/webhook.env"), "MESSAGING_PHONE=5511900000000\n");
    writeFileSync(at("etc/opsctl/weekly.env"), "");
    rmSync(at("etc/opsctl/collect-metrics.env"));
    symlinkSync("/nowhere/at-all", at("etc/opsctl/collect-metrics.env"));
    writeFileSync(join(clone.clone, "systemd/webhook.env.example"), "NEW=\n");
    install();
    expect(readFileSync(at("etc/opsctl/webhook.env"), "utf8")).toBe("MESSAGING_PHONE=5511900000000\n");
    expect(readFileSync(at("etc/opsctl/weekly.env"), "utf8")).toBe("");
    expect(lstatSync(at("etc/opsctl/collect-metrics.env")).isSymbolicLink()).toBe(true);
    expect(readFileSync(at("etc/opsctl/webhook.env.example"), "utf8")).toBe("NEW=\n");
  });

  test("puts the paths of PREFIX and SYSCONFDIR into the files, and nothing elsewhere", () => {
    install(["PREFIX=/opt/ops", "SYSCONFDIR=/opt/etc"]);
    const files = filesIn(clone.destdir);
    expect(files.filter((path) => !/^opt\/(etc|ops)\//.test(path))).toEqual([]);
    const texts = files
      .filter((path) => !path.endsWith("bin/opsctl") && !path.includes("/share/"))
      .map((path) => readFileSync(at(path), "utf8"))
      .join("\n");
    expect(texts).not.toContain("/usr/local/bin/opsctl");
    expect(texts.match(/\S*(?<!\/opt)\/etc\/(opsctl|cron\.d|logrotate\.d|systemd)\S*/g)).toBeNull();
    expect(texts).toContain("ExecStart=/opt/ops/bin/opsctl webhook serve --digest-after 120\n");
    expect(texts.split("\nEnvironment=OPSCTL_ENV_DIR=/opt/etc/opsctl\n")).toHaveLength(2);
    const cron = readFileSync(at("opt/etc/cron.d/opsctl"), "utf8");
    expect(cron).toContain("\nOPSCTL_ENV_DIR=/opt/etc/opsctl\n");
    expect(cron).toContain(" /opt/ops/bin/opsctl weekly --json >>");
    expect(cron).toContain("PATH=/usr/local/sbin:/usr/local/bin:");
    for (const name of ENVIRONMENTS) {
      const variables = readEnvFile(readFileSync(at(`opt/etc/opsctl/${name}.env`), "utf8")).variables;
      const secrets = name === "collect-metrics" ? "root-secrets" : "secrets";
      expect(variables.get("OPSCTL_SECRETS_DIR")).toBe(`/opt/etc/opsctl/${secrets}`);
    }
  });

  test("needs no root below DESTDIR", () => {
    if (isRoot) {
      run("chown", ["-R", `${NOBODY}:${NOBODY}`, clone.folder]);
      install([], { account: NOBODY });
    } else install();
    expect(treeOf(clone.destdir)).toEqual(TREE);
  });

  test.each([
    ["PREFIX=usr/local", "absolute"],
    ["PREFIX=/opt/my ops", "plain characters"],
    ["SYSCONFDIR=/etc%", "plain characters"],
    ["PREFIX=/opt/$$(id)", "plain characters"],
    ["PREFIX=/a;b", "plain characters"],
  ])("refuses %s and writes nothing", (word, reason) => {
    const { status, stderr } = make(clone, ["install", `DESTDIR=${clone.destdir}`, word]);
    expect(status).not.toBe(0);
    expect(stderr).toContain(reason);
    expect(existsSync(clone.destdir)).toBe(false);
  });

  test("refuses to change the host as an ordinary user", () => {
    if (isRoot) run("chown", ["-R", `${NOBODY}:${NOBODY}`, clone.folder]);
    const { status, stderr } = make(clone, ["install"], isRoot ? { account: NOBODY } : {});
    expect(status).not.toBe(0);
    expect(stderr).toContain("run it as root, or set DESTDIR");
  });

  test("takes a DESTDIR with blanks and a quote", () => {
    const destdir = join(clone.folder, "it's a place");
    expect(make(clone, ["install", `DESTDIR=${destdir}`]).status).toBe(0);
    expect(treeOf(destdir)).toEqual(TREE);
  });
});

describe("make install and the build", () => {
  /** A Bun that notes who called it, and builds a binary that says so. */
  function bunStandIn(): string {
    const path = join(clone.folder, "bun");
    const lines = [
      `#!/bin/sh\nid -u >> ${clone.folder}/bun-ran`,
      `[ "$1" != build ] || printf 'built\\n' > dist/opsctl`,
      `[ "$1" != .ci/manual.ts ] || { mkdir -p dist/man dist/completions && touch ${MADE.join(" ")}; }`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o755 });
    mkdirSync(join(clone.clone, "node_modules"));
    return path;
  }
  const ran = () => {
    const path = join(clone.folder, "bun-ran");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  };

  test("does not build when the binary is newer than its sources", () => {
    install([`BUN=${bunStandIn()}`]);
    expect(ran()).toEqual([]);
  });

  test.each(["cli/main.ts", "sql/0001.sql", "bun.lock"])("builds when %s is newer", (name) => {
    const bun = bunStandIn();
    utimesSync(join(clone.clone, "dist/opsctl"), 1, 1);
    for (const path of filesIn(clone.clone).filter((path) => path !== "dist/opsctl" && path !== name))
      utimesSync(join(clone.clone, path), 0, 0);
    writeFileSync(join(clone.clone, name), "x");
    install([`BUN=${bun}`]);
    expect(ran().length).toBeGreaterThan(0);
    expect(readFileSync(at("usr/local/bin/opsctl"), "utf8")).toBe("built\n");
  });

  test("leaves no file of root in a clone of somebody else", () => {
    const bun = bunStandIn();
    rmSync(join(clone.clone, "dist"), { recursive: true });
    if (isRoot) {
      run("chown", ["-R", `${NOBODY}:${NOBODY}`, clone.clone]);
      writeFileSync(join(clone.folder, "bun-ran"), "");
      chownSync(join(clone.folder, "bun-ran"), NOBODY, NOBODY);
    }
    const owner = statSync(clone.clone).uid;
    install([`BUN=${bun}`]);
    expect(new Set(ran().filter(Boolean))).toEqual(new Set([String(owner)]));
    const paths = readdirSync(clone.clone, { recursive: true }).map((path) =>
      join(clone.clone, String(path)),
    );
    expect(paths.filter((path) => lstatSync(path).uid !== owner)).toEqual([]);
  });
});

describe("man pages and completions", () => {
  const man = (page: string) => at(`usr/local/share/man/man1/${page}`);

  test("are installed as they are; the page of a command that is gone is removed with them, and no other", () => {
    install();
    expect(readFileSync(man("opsctl.1"), "utf8")).toBe("dist/man/opsctl.1\n");
    for (const page of ["opsctl-gone.1", "opsctlx.1"]) writeFileSync(man(page), "");
    uninstall();
    expect([existsSync(man("opsctl-gone.1")), existsSync(man("opsctlx.1"))]).toEqual([false, true]);
  });

  test("are taken back also from a clone in which nothing is built any more", () => {
    install();
    rmSync(join(clone.clone, "dist"), { recursive: true });
    uninstall();
    expect(filesIn(clone.destdir)).toEqual([]);
  });

  test("go below /usr where Debian's zsh looks for those of packages", () => {
    install(["PREFIX=/usr"]);
    expect(existsSync(at("usr/share/zsh/vendor-completions/_opsctl"))).toBe(true);
    uninstall(["PREFIX=/usr"]);
    expect(filesIn(clone.destdir)).toEqual([]);
  });
});

describe("make uninstall", () => {
  test.each([[[]], [["PREFIX=/opt/ops", "SYSCONFDIR=/opt/etc"]]])(
    "takes back every file, and directories of its own: %j",
    (words) => {
      install(words);
      uninstall(words);
      expect(filesIn(clone.destdir)).toEqual([]);
      for (const folder of ["etc/opsctl", "usr/local/share/opsctl", "opt/etc/opsctl", "opt/ops/share/opsctl"])
        expect([folder, existsSync(at(folder))]).toEqual([folder, false]);
    },
  );

  test("leaves secrets, edited environment files, logs, state, and what others put beside its own", () => {
    install();
    const kept = {
      "etc/opsctl/webhook.env": "WEBHOOK_SECRET=x\n",
      "etc/opsctl/secrets/DATABASE_URL": "postgres://x\n",
      "etc/cron.d/other": "# other\n",
      "usr/local/bin/other": "other\n",
      "usr/local/share/opsctl/agent/mine.alloy": "// mine\n",
      "var/log/opsctl/weekly.log": "{}\n",
      "var/log/opsctl/weekly_performance_reports.success": "{}\n",
      "var/lib/opsctl/state.db": "db\n",
    };
    for (const name of ["log", "lib"]) mkdirSync(at(`var/${name}/opsctl`), { recursive: true });
    for (const [path, text] of Object.entries(kept)) writeFileSync(at(path), text);
    uninstall();
    expect(filesIn(clone.destdir).sort()).toEqual(Object.keys(kept).sort());
    for (const [path, text] of Object.entries(kept)) expect(readFileSync(at(path), "utf8")).toBe(text);
  });

  test("may be done again, and without an installation; neither builds", () => {
    mkdirSync(clone.destdir);
    rmSync(join(clone.clone, "dist"), { recursive: true });
    uninstall();
    uninstall();
    expect(treeOf(clone.destdir)).toEqual({});
  });
});
