/**
 * `opsctl alert-rules contact-point apply`: the contact point by which Grafana reaches the webhook.
 *
 * Writes: one webhook integration of that name, when something visible differs or with `--rotate`; it deletes nothing.
 * JSON:   `name`, `uid`, `result`: created, updated or unchanged, `changes` of `path`, `from`, `to`, `secret`: written
 *         or not_compared.
 */
import { aWebUrl } from "../../args/checks.ts";
import { flag, option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";

/** The command; see the head of this file. */
export const alertRulesContactPointApply = defineCommand({
  notes:
    "Writes only what differs. Grafana never shows the stored secret: after a change of WEBHOOK_SECRET add --rotate.",
  args: {
    url: option("url", "Where Grafana reaches the webhook: https://<alert host>/webhook", {
      required: true,
      check: aWebUrl,
    }),
    receiver: option("name", "Name of the contact point, instead of MONITORING_RECEIVER"),
    rotate: flag("Write the secret even when nothing differs"),
  },
  example:
    "opsctl alert-rules contact-point apply --receiver opsctl-webhook \\\n" +
    "    --url https://alerts.example.com/webhook",

  async run({ url, receiver, rotate }, { env, log }) {
    const { loadContactPointConfig } = await import("../../../lib/alert-rules/config.ts");
    const { grafana, point } = await loadContactPointConfig(env, { url, receiver });
    const { applyPoint } = await import("../../../lib/alert-rules/contact-point.ts");
    const { renderPoint } = await import("../../../lib/alert-rules/render.ts");
    const { openGrafana } = await import("../../wiring/grafana.ts");
    const applied = await applyPoint(openGrafana(grafana, log), point, { isRotation: rotate === true });
    log.info("The contact point was applied", { uid: applied.uid, result: applied.result });
    return { fields: applied, text: (screen) => renderPoint(applied, screen) };
  },
});
