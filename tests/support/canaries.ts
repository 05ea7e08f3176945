/** The secrets that a weekly run needs for its peers; each is a canary that must never be seen in any output. */
export const CANARIES = {
  TRIGGER_SECRET: "canary-trigger-7f3a9e",
  SOCIAL_EDITORIALS_CRON_SECRET: "canary-editorials-91bc44",
  GATEWAY_ADMIN_KEY: "canary-gateway-key-44d0aa",
  EMAIL_API_KEY: "re_canary_email_key_5e11bb",
};
