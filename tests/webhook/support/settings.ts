/** The settings of the service that each test knows; the secrets are found wherever they are shown. */

/** What senders bring. */
export const SECRET = "canary-webhook-secret-0123456789";

/** The tracker's token. */
export const TOKEN = "lin_api_canarytoken0123456789";

/** The gateway's key. */
export const KEY = "canary-gateway-key";

/** The tracker's team, in which issues are made. */
export const TEAM = "0f0e0d0c-0b0a-4908-8706-050403020100";

/** The number of the phone that gets the messages. */
export const PHONE = "5511912345678";
