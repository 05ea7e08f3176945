import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { runningContainer } from "../../standins/docker-engine.ts";
import { projectOf } from "../../standins/hosting.ts";
import { metricsText, NOW_MS } from "../support/host.ts";
import type { Fault, Faults } from "./fault.ts";

/** What the last plan on this host left; null is no file. */
const PLANS: [code: string, plan: object | null][] = [
  ["RULES_NOT_PLANNED", null],
  ["RULES_DIFFER", { at: "2026-11-22T12:00:00Z", differ: 4 }],
  ["RULES_NOT_CHECKED", { at: "2026-10-22T12:00:00Z", differ: 0 }],
];

/** Faults that doctor finds of the collector and of what the alert rules need. */
export const METRICS: Faults = {
  "the text-file directory is missing": {
    finds: ["collect-metrics", "text-file directory", "fail", "TEXTFILE_DIR_MISSING"],
    spoil: (host) => host.setting("collect-metrics", "TEXTFILE_DIR", host.path("etc/closed")),
  },
  "the address of the collector's ping has another form": {
    finds: ["collect-metrics", "configuration", "fail", "CONFIG_INVALID"],
    about: "OPSCTL_PING_URL",
    spoil: (host) => host.setting("collect-metrics", "OPSCTL_PING_URL", "canary"),
  },
  "a file stands in the place of the text-file directory": {
    finds: ["collect-metrics", "text-file directory", "fail", "TEXTFILE_DIR_MISSING"],
    spoil: (host) => {
      host.put("etc/file", "", 0o777);
      host.setting("collect-metrics", "TEXTFILE_DIR", host.path("etc/file"));
    },
  },
  "others may write to the text-file directory": {
    finds: ["collect-metrics", "text-file directory", "fail", "TEXTFILE_DIR_UNTRUSTED"],
    spoil: ({ path }) => chmodSync(path("textfile"), 0o777),
  },
  "others may read the environment file that root reads": {
    finds: ["collect-metrics", "environment file", "fail", "SECRET_FILE_EXPOSED"],
    about: "close it (chmod 0600)",
    spoil: ({ path }) => chmodSync(path("etc/collect-metrics.env"), 0o640),
  },
  "an environment file is missing": {
    finds: ["collect-metrics", "environment file", "warn", "ENV_FILE_MISSING"],
    spoil: ({ path }) => rmSync(path("etc/collect-metrics.env")),
  },
  "no container engine is there": {
    finds: ["collect-metrics", "container", "fail", "docker_unreachable"],
    spoil: (host) => host.setting("collect-metrics", "DOCKER_HOST", "unix:///nowhere/docker.sock"),
  },
  "the agent cannot read the metrics": {
    finds: ["collect-metrics", "metrics file", "fail", "METRICS_FILE_CLOSED"],
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000), 0o600),
  },
  "the collector has not run yet": {
    finds: ["collect-metrics", "status", "warn", "LAST_RUN_MISSING"],
    spoil: ({ path }) => rmSync(path("textfile/custom_metrics.prom")),
  },
  "a directory stands in the place of the metrics": {
    finds: ["collect-metrics", "status", "warn", "FILE_UNREADABLE"],
    spoil: ({ path }) => {
      rmSync(path("textfile/custom_metrics.prom"), { force: true });
      mkdirSync(path("textfile/custom_metrics.prom"));
    },
  },
  "the collector has stopped": {
    finds: ["collect-metrics", "status", "fail", "LAST_RUN_STALE"],
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000 - 181), 0o644),
  },
  "the collector wrote with a clock that was wrong": {
    finds: ["collect-metrics", "status", "fail", "CLOCK_WRONG"],
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000 + 61), 0o644),
  },
  "the metrics do not say when they were written": {
    finds: ["collect-metrics", "status", "fail", "LAST_RUN_UNREADABLE"],
    spoil: (host) => host.put("textfile/custom_metrics.prom", "other 1\n", 0o644),
  },
  "a source failed in the last run": {
    finds: ["collect-metrics", "status", "warn", "SOURCE_FAILED"],
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000, 0), 0o644),
  },
  "there is no such container": {
    finds: ["collect-metrics", "container", "fail", "docker_container_missing"],
    spoil: (host) => host.engine.containers.clear(),
  },
  "the container's name is only the beginning of its id": {
    finds: ["collect-metrics", "container", "fail", "docker_container_missing"],
    spoil: (host) => host.setting("collect-metrics", "PROXY_CONTAINER", "9f3c0d"),
  },
  "the container does not run": {
    finds: ["collect-metrics", "container", "fail", "docker_container_not_running"],
    spoil: (host) => host.engine.containers.set("traefik", runningContainer({ state: "exited" })),
  },
  "the container runs, and its memory is not measured": {
    finds: ["collect-metrics", "container", "fail", "docker_memory_unknown"],
    spoil: ({ engine }) => {
      engine.routes.stats.script = () => ({ status: 200, json: { message: "no metrics received" } });
    },
  },
  "the hosting token is missing": {
    finds: ["collect-metrics", "configuration", "fail", "CONFIG_INVALID"],
    about: "HOSTING_TOKEN is missing",
    spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
  },
  "the hosting token is missing, which the check of the configuration reports": {
    finds: ["collect-metrics", "hosting provider", "warn", "PREREQUISITE_FAILED"],
    about: "see configuration",
    spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
  },
  "the hosting token is missing, which keeps no other source from being looked at": {
    finds: ["collect-metrics", "container", "pass", null],
    spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
  },
  "the hosting token is open to others, which is not the same as missing": {
    finds: ["collect-metrics", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "HOSTING_TOKEN cannot be read, see secrets",
    spoil: ({ path }) => chmodSync(path("secrets/HOSTING_TOKEN"), 0o644),
  },
  "the hosting provider refuses the token": {
    finds: ["collect-metrics", "hosting provider", "fail", "hosting_http_403"],
    spoil: (host) => host.put("secrets/HOSTING_TOKEN", "another-token"),
  },
  "the token sees an empty account": {
    finds: ["collect-metrics", "hosting provider", "fail", "hosting_no_projects"],
    spoil: ({ hosting }) => {
      hosting.projects.length = 0;
    },
  },
  "the account has more projects than it should": {
    finds: ["collect-metrics", "hosting provider", "warn", "HOSTING_PROJECTS_DIFFER"],
    about: "shows 2 projects, not 1",
    spoil: ({ hosting }) => void hosting.projects.push(projectOf("loja", "READY")),
  },
  "the folder is missing": {
    finds: ["alert-rules", "folder", "fail", "MONITORING_FOLDER_NOT_FOUND"],
    spoil: (host) => host.setting("alert-rules", "MONITORING_FOLDER_UID", "other"),
  },
  "a data source is missing": {
    finds: ["alert-rules", "metrics data source", "fail", "DATA_SOURCE_MISSING"],
    spoil: (host) => host.setting("alert-rules", "MONITORING_PROMETHEUS_UID", "other"),
  },
  "the data sources are exchanged": {
    finds: ["alert-rules", "logs data source", "warn", "DATA_SOURCE_TYPE_DIFFERS"],
    spoil: (host) => host.setting("alert-rules", "MONITORING_LOKI_UID", "prom"),
  },
  "the token may not read data sources": {
    finds: ["alert-rules", "logs data source", "warn", "TOKEN_LACKS_PERMISSION"],
    spoil: (host) => {
      host.monitoring.routes.dataSource.script = () => ({ status: 403, json: { message: "Forbidden" } });
    },
  },
  "something else answers in the platform's place": {
    finds: ["alert-rules", "rules", "fail", "MONITORING_HTTP_404"],
    spoil: (host) => {
      host.monitoring.routes.list.script = () => ({ status: 404, json: { message: "Not found" } });
    },
  },
  "the platform refuses the token": {
    finds: ["alert-rules", "rules", "fail", "MONITORING_HTTP_401"],
    spoil: (host) => host.put("secrets/MONITORING_TOKEN", "another-token"),
  },
  ...Object.fromEntries(
    PLANS.map(([code, plan]) => [
      `the last plan of the alert rules is ${JSON.stringify(plan)}`,
      {
        finds: ["alert-rules", "status", "warn", code],
        spoil: ({ path, put }) => {
          const common = { command: "plan", withExtras: true, rules: 18 };
          if (plan === null) rmSync(path("log/alert-rules.last.json"));
          else put("log/alert-rules.last.json", JSON.stringify({ ...common, ...plan }));
        },
      } satisfies Fault,
    ]),
  ),
};
