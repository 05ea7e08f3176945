import { singleLine } from "../../text/single-line.ts";

type Labels = Readonly<Record<string, string>>;

/** What an alert without a name is called in texts. */
export const NAMELESS = "sem nome";

/**
 * The rule's title for people, on one line.
 *
 * Shape:  `rulename` where the platform put its own word into `alertname`, else `alertname`; null without either.
 * Source: alert webhook contract, Special alerts.
 */
export function alertName(labels: Labels): string | null {
  const ruleName = datasourceTrouble(labels) === null ? null : lineOf(labels.rulename);
  return ruleName ?? alertnameOf(labels);
}

/** The label `alertname` itself, on one line: what an alert is called among machines, and in an issue's title. */
export function alertnameOf(labels: Labels): string | null {
  return lineOf(labels.alertname);
}

/** Which of the two alerts about the measuring itself this is, rather than about what a rule measures; or null. */
export function datasourceTrouble(labels: Labels): "DatasourceNoData" | "DatasourceError" | null {
  const { alertname } = labels;
  return alertname === "DatasourceNoData" || alertname === "DatasourceError" ? alertname : null;
}

function lineOf(label: string | undefined): string | null {
  return label === undefined ? null : singleLine(label) || null;
}
