import { describe } from "bun:test";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { runningContainer } from "../standins/docker-engine.ts";
import { projectOf } from "../standins/hosting.ts";
import { testFaults } from "./support/fault.ts";
import { metricsText, NOW_MS } from "./support/host.ts";

/** Who could write to the old file chose what is in it, and may still have it open. */
const AWAY = /^Look at it, then move it away: mv -nT (\/.*\/collect-metrics\.env) \1\.foreign$/;

describe("runDoctor() finds of the collector and the alert rules that", () => {
  testFaults({
    "the agent cannot enter the text-file directory": {
      ...{ command: "collect-metrics", check: "text-file directory", status: "fail" },
      reason: /\/etc\/closed does not exist$/,
      mend: /^install -d -m 0755 /,
      spoil: (host) => host.setting("collect-metrics", "TEXTFILE_DIR", host.path("etc/closed")),
    },
    "the address of the collector's ping has another form": {
      ...{ command: "collect-metrics", check: "configuration", status: "fail" },
      reason: "OPSCTL_PING_URL is not an http or https URL",
      mend: /^Set OPSCTL_PING_URL in \/.*\/etc\/collect-metrics\.env$/,
      spoil: (host) => host.setting("collect-metrics", "OPSCTL_PING_URL", "canary"),
    },
    "a file stands in the place of the text-file directory": {
      ...{ command: "collect-metrics", check: "text-file directory", status: "fail" },
      reason: /\/etc\/file is not a directory$/,
      mend: /^mv -nT (\/.*\/etc\/file) \1\.old && install -d -m 0755 \1$/,
      spoil: (host) => {
        host.put("etc/file", "", 0o777);
        host.setting("collect-metrics", "TEXTFILE_DIR", host.path("etc/file"));
      },
    },
    "others may write to the text-file directory": {
      ...{ command: "collect-metrics", check: "text-file directory", status: "fail" },
      reason:
        /^Cannot write metrics to .*: \/.*\/textfile has mode 0777, and group or others may write to it/,
      mend: /^chmod go-w \/.*\/textfile # unless others need it/,
      spoil: ({ path }) => chmodSync(path("textfile"), 0o777),
    },
    "the environment file of a command that cron starts is missing": {
      ...{ command: "collect-metrics", check: "environment file", status: "fail" },
      reason: /collect-metrics\.env does not exist: cron starts collect-metrics without any other setting$/,
      spoil: ({ path }) => rmSync(path("etc/collect-metrics.env")),
    },
    "the environment file that the cron line of an older installation loads is missing": {
      ...{ command: "collect-metrics", check: "environment file", status: "fail" },
      reason: /collect-metrics\.env does not exist: collect-metrics is started with it and ends at once$/,
      spoil: ({ path, put }) => {
        rmSync(path("etc/collect-metrics.env"));
        put("cron", `* * * * * root { . ${path("etc")}/collect-metrics.env; }\n`, 0o644);
      },
    },
    "another account owns the environment file that root reads": {
      ...{ command: "collect-metrics", check: "environment file", status: "fail" },
      reason: /collect-metrics\.env belongs to uid \d+, and root reads it$/,
      mend: AWAY,
      spoil: (host) => host.put("passwd", "root:x:4242:4242::/:/bin/sh\n"),
    },
    "others may write to the environment file that root reads": {
      ...{ command: "collect-metrics", check: "environment file", status: "fail" },
      reason: /collect-metrics\.env.*group or others/,
      mend: AWAY,
      spoil: ({ path }) => chmodSync(path("etc/collect-metrics.env"), 0o660),
    },
    "others may read the environment file that root reads": {
      ...{ command: "collect-metrics", check: "environment file", status: "fail" },
      reason: /collect-metrics\.env has mode 0640, open to group or others$/,
      mend: /^chmod 0600 \/.*\/collect-metrics\.env$/,
      spoil: ({ path }) => chmodSync(path("etc/collect-metrics.env"), 0o640),
    },
    "an environment file that nothing loads is missing": {
      ...{ command: "collect-metrics", check: "environment file", status: "warn" },
      reason: /collect-metrics\.env does not exist: what this process has in its environment was looked at$/,
      spoil: ({ path }) => {
        rmSync(path("etc/collect-metrics.env"));
        rmSync(path("cron"));
      },
    },
    "no container engine is there": {
      ...{ command: "collect-metrics", check: "container", status: "fail" },
      reason: "docker_unreachable: no container engine answers at DOCKER_HOST",
      mend: /^Start the engine, or correct DOCKER_HOST in \/.*\/collect-metrics\.env; where you are not root: sudo OPSCTL_SECRETS_DIR=\S+ opsctl doctor/,
      spoil: (host) => host.setting("collect-metrics", "DOCKER_HOST", "unix:///nowhere/docker.sock"),
    },
    "the agent cannot read the metrics": {
      ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
      reason: /custom_metrics\.prom has mode 0600, closed to the monitoring agent$/,
      mend: /^chmod 0644 /,
      spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000), 0o600),
    },
    "a directory stands in the place of the metrics": {
      ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
      reason: /custom_metrics\.prom is a directory: the collector cannot write there$/,
      mend: /^rmdir \/.*custom_metrics\.prom$/,
      spoil: ({ path }) => {
        rmSync(path("textfile/custom_metrics.prom"), { force: true });
        mkdirSync(path("textfile/custom_metrics.prom"));
      },
    },
    "the collector has stopped": {
      ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
      reason: "the last run was 181 s ago",
      spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000 - 181), 0o644),
    },
    "the collector wrote with a clock that was wrong": {
      ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
      reason: "the last run is said to be 61 s to come: a clock was wrong",
      mend: /^timedatectl /,
      spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000 + 61), 0o644),
    },
    "a source failed in the last run": {
      ...{ command: "collect-metrics", check: "metrics file", status: "warn" },
      reason: "the last run could not read its source proxy_memory",
      spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000, 0), 0o644),
    },
    "there is no such container": {
      ...{ command: "collect-metrics", check: "container", status: "fail" },
      reason: "docker_container_missing: ",
      mend: /^Correct PROXY_CONTAINER in \/.*\/collect-metrics\.env$/,
      spoil: (host) => host.engine.containers.clear(),
    },
    "the container's name is only the beginning of its id": {
      ...{ command: "collect-metrics", check: "container", status: "fail" },
      reason: "docker_container_missing: ",
      mend: /^Correct PROXY_CONTAINER in \/.*\/collect-metrics\.env$/,
      spoil: (host) => host.setting("collect-metrics", "PROXY_CONTAINER", "9f3c0d"),
    },
    "the container does not run": {
      ...{ command: "collect-metrics", check: "container", status: "fail" },
      reason: "docker_container_not_running: ",
      mend: "docker start traefik",
      spoil: (host) => host.engine.containers.set("traefik", runningContainer({ state: "exited" })),
    },
    "the container runs, and its memory is not measured": {
      ...{ command: "collect-metrics", check: "container", status: "fail" },
      reason: "docker_memory_unknown: ",
      mend: /cgroup_enable=memory$/,
      spoil: ({ engine }) => {
        engine.routes.stats.script = () => ({ status: 200, json: { message: "no metrics received" } });
      },
    },
    "the hosting token is missing": {
      ...{ command: "collect-metrics", check: "configuration", status: "fail" },
      reason: "HOSTING_TOKEN is missing",
      mend: /^install -D -m 0600 -o root \/dev\/stdin \/.*\/secrets\/HOSTING_TOKEN$/,
      spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
    },
    "the hosting token is missing, which the check of the configuration tells": {
      ...{ command: "collect-metrics", check: "hosting provider", status: "warn" },
      reason: "not checked: the settings of collect-metrics that it needs are incomplete, see configuration",
      spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
    },
    "the hosting token is missing, which keeps no other source from being looked at": {
      ...{ command: "collect-metrics", check: "container", status: "pass" },
      reason: "container traefik runs",
      spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
    },
    "the hosting token is open to others, which is not the same as missing": {
      ...{ command: "collect-metrics", check: "hosting provider", status: "warn" },
      reason: "not checked: HOSTING_TOKEN cannot be read, see secrets",
      spoil: ({ path }) => chmodSync(path("secrets/HOSTING_TOKEN"), 0o644),
    },
    "the hosting provider refuses the token": {
      ...{ command: "collect-metrics", check: "hosting provider", status: "fail" },
      reason: "hosting_http_403: ",
      mend: /^Correct HOSTING_TOKEN in \/.*\/secrets\/HOSTING_TOKEN; or correct HOSTING_TEAM_ID in \/.*\/collect-metrics\.env$/,
      spoil: (host) => host.put("secrets/HOSTING_TOKEN", "another-token"),
    },
    "the token sees an empty account": {
      ...{ command: "collect-metrics", check: "hosting provider", status: "fail" },
      reason: "hosting_no_projects: ",
      mend: "Set HOSTING_TEAM_ID",
      spoil: ({ hosting }) => {
        hosting.projects.length = 0;
      },
    },
    "the account has more projects than it should": {
      ...{ command: "collect-metrics", check: "hosting provider", status: "warn" },
      reason: "the hosting provider takes the token and shows 2 projects, not 1",
      mend: "Set HOSTING_PROJECTS=2",
      spoil: ({ hosting }) => void hosting.projects.push(projectOf("loja", "READY")),
    },
    "the folder is missing": {
      ...{ command: "alert-rules", check: "folder", status: "fail" },
      reason: "the platform has no folder other",
      mend: /^Create it, or correct MONITORING_FOLDER_UID in \/.*\/alert-rules\.env$/,
      spoil: (host) => host.setting("alert-rules", "MONITORING_FOLDER_UID", "other"),
    },
    "a data source is missing": {
      ...{ command: "alert-rules", check: "metrics data source", status: "fail" },
      reason: "the platform has no data source other",
      mend: /^Correct MONITORING_PROMETHEUS_UID in \/.*\/alert-rules\.env$/,
      spoil: (host) => host.setting("alert-rules", "MONITORING_PROMETHEUS_UID", "other"),
    },
    "the data sources are exchanged": {
      ...{ command: "alert-rules", check: "logs data source", status: "warn" },
      reason: "data source prom is not of type loki",
      spoil: (host) => host.setting("alert-rules", "MONITORING_LOKI_UID", "prom"),
    },
    "the token may not read data sources": {
      ...{ command: "alert-rules", check: "logs data source", status: "warn" },
      reason: "not checked: the token may not read data sources",
      spoil: (host) => {
        host.monitoring.routes.dataSource.script = () => ({ status: 403, json: { message: "Forbidden" } });
      },
    },
    "something else answers in the platform's place": {
      ...{ command: "alert-rules", check: "rules", status: "fail" },
      reason: "monitoring_http_404: ",
      mend: "Check MONITORING_URL",
      spoil: (host) => {
        host.monitoring.routes.list.script = () => ({ status: 404, json: { message: "Not found" } });
      },
    },
    "the platform refuses the token": {
      ...{ command: "alert-rules", check: "rules", status: "fail" },
      reason: /^monitoring_http_401: the platform refuses the token$/,
      mend: /^Correct MONITORING_TOKEN in \/\S+$/,
      spoil: (host) => host.put("secrets/MONITORING_TOKEN", "another-token"),
    },
  });
});
