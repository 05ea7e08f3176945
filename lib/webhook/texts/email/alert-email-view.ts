/** What both parts of the e-mail show, as plain text. */
export type AlertEmailView = {
  subject: string;
  why: string;
  alerts: readonly AlertView[];
  /** Further alerts, a line each. */
  lines: readonly string[];
  notShown: string | null;
};

/** One alert of it. */
export type AlertView = {
  marker: string;
  title: string;
  state: string;
  delivery: string;
  texts: readonly string[];
  labels: string | null;
  value: string | null;
  links: readonly { word: string; href: string }[];
};
