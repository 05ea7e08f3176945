/** Whether a text can be a uid of Grafana: of a rule, a folder or a data source. */
export function isGrafanaUid(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,40}$/.test(text);
}

/** What a uid is, for people. */
export const GRAFANA_UID = "a uid: 1 to 40 letters, digits, - or _";
