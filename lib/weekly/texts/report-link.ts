/** Paths that stay in the application and need no escaping in a message. */
const SAFE_PATH = /^\/(?!\/)[A-Za-z0-9/_.~?=&%-]{0,300}$/;

/**
 * The link to the report of the week that begins on `week`, the same in both messages.
 *
 * Shape:  APP_BASE_URL/app/performance?week=YYYY-MM-DD; a slash at the end of the base is tolerated.
 * Source: weekly report document, WhatsApp message contract and Email contract.
 */
export function reportLink(appBaseUrl: string, week: string): string {
  return `${withoutTrailingSlash(appBaseUrl)}/app/performance?week=${week}`;
}

/** The absolute link to a path of the application; null for a path that could lead elsewhere. */
export function appLink(appBaseUrl: string, path: string): string | null {
  return SAFE_PATH.test(path) ? withoutTrailingSlash(appBaseUrl) + path : null;
}

function withoutTrailingSlash(base: string): string {
  return base.replace(/\/+$/, "");
}
