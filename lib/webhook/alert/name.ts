import { singleLine } from "../../text/single-line.ts";

type Labels = Readonly<Record<string, string>>;

/** What an alert without a name is called in texts. */
export const NAMELESS = "sem nome";

/**
 * The rule's title for people, on one line.
 *
 * Shape:  `rulename` where the platform put its own word into `alertname`, else `alertname`; null when it is missing.
 * Source: alert webhook contract, Special alerts.
 */
export function alertName(labels: Labels): string | null {
  const ruleName = datasourceTrouble(labels) === null ? null : lineOf(labels.rulename);
  return ruleName ?? alertnameOf(labels);
}

/** The label `alertname` on one line, as the answer and an issue's title show it; null when it is missing. */
export function alertnameOf(labels: Labels): string | null {
  return lineOf(labels.alertname);
}

/** Which of the two alerts about the measuring itself this is; null for an alert about what a rule measures. */
export function datasourceTrouble(labels: Labels): "DatasourceNoData" | "DatasourceError" | null {
  const { alertname } = labels;
  return alertname === "DatasourceNoData" || alertname === "DatasourceError" ? alertname : null;
}

function lineOf(label: string | undefined): string | null {
  return label === undefined ? null : singleLine(label) || null;
}
