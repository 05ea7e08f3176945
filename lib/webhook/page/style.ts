import { hash } from "node:crypto";
import { type Html, html } from "../../text/html.ts";

/** The page's style sheet, as an element. */
export const STYLE: Html = html`<style>
:root{color-scheme:light dark;--page:#f1f4f5;--panel:#fff;--ink:#14212a;--muted:#566570;--line:#e2e8eb;
--ok:#12704a;--ok-back:#def3e8;--warn:#7d5200;--warn-back:#fdf0d3;--bad:#ab2018;--bad-back:#fde6e3;
--link:#0b645e;--bar:#5b93aa;--red:#d9352a;--orange:#e07b10;--yellow:#d6a400;--blue:#3f8fd6;--green:#1f9d63;--grey:#93a1aa}
@media (prefers-color-scheme:dark){:root{--page:#0b1215;--panel:#141d22;--ink:#e3eaee;--muted:#9badb7;--line:#26333b;
--ok:#79dcab;--ok-back:#0f2a1e;--warn:#f3c873;--warn-back:#2e2410;--bad:#ffa79e;--bad-back:#3a1815;
--link:#7fd8c8;--bar:#5b9ab5;--red:#ff6257;--orange:#f79a3c;--yellow:#f2cc4e;--blue:#6db3f2;--green:#4fc98d;--grey:#75858f}}
*{box-sizing:border-box;margin:0;padding:0}
body{padding:16px;background:var(--page);color:var(--ink);overflow-wrap:anywhere;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
main{max-width:1080px;margin:0 auto}h1{font-size:28px;line-height:36px}
h1::before{content:"";display:inline-block;width:18px;height:18px;margin:0 12px 0 0;border-radius:50%;background:currentColor}
h2{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:0 12px;margin:0 0 10px;font-size:15px;line-height:22px}
code{font:13px/1.45 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
a{color:var(--link);text-underline-offset:2px}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:12px;padding:16px;margin:0 0 12px}
.note,small,th,dt,td code,.when{color:var(--muted)}
.note{font-size:14px;font-weight:400}header p{margin:8px 0 0;color:var(--ink)}code:empty{display:none}
header code{display:inline-block;padding:1px 7px;border-radius:6px;background:var(--panel)}
header.panel{border-color:transparent}.panel.ok,.tag.ok{background:var(--ok-back);color:var(--ok)}
.panel.warn,.tag.warn{background:var(--warn-back);color:var(--warn)}
.panel.bad,.tag.bad{background:var(--bad-back);color:var(--bad)}
.services{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:0 12px}
.tag{padding:1px 9px;border-radius:99px;font-size:13px;line-height:20px}
dl{display:grid;grid-template-columns:auto 1fr;gap:5px 16px;font-size:15px;line-height:22px}
dd{text-align:right}.plot svg{display:block;width:100%;height:88px;border-bottom:1px solid var(--line);fill:var(--bar)}
.plot ul{display:grid;grid-template-columns:repeat(7,1fr);margin:5px 0 0;list-style:none;font-size:12px;line-height:15px;
color:var(--muted);overflow-wrap:normal}
.plot li{padding:0 0 0 3px;border-left:1px solid var(--line)}
table{width:100%;border-collapse:collapse;font-size:15px;line-height:21px}
th,td{padding:9px 12px 9px 0;text-align:left;vertical-align:top}
th{padding-top:0;font-size:13px}td{border-top:1px solid var(--line)}
.when{white-space:nowrap;font-variant-numeric:tabular-nums}.what{position:relative;width:55%;overflow:hidden}
small{display:block;font-size:13px;line-height:19px}.what[class*=" "]{padding-left:18px}
.what[class*=" "]::before{content:"";position:absolute;left:0;top:15px;width:10px;height:10px;border-radius:50%;background:var(--dot,var(--grey))}
.critical{--dot:var(--red)}.high{--dot:var(--orange)}.warning{--dot:var(--yellow)}.info{--dot:var(--blue)}
.what.resolved::before{background:transparent;box-shadow:inset 0 0 0 2.5px var(--green)}
.result.queued{color:var(--warn)}.result.dead,.result.unknown{color:var(--bad);font-weight:600}footer{padding:4px 4px 12px}
@media (max-width:719px){
body{padding:10px}.panel{padding:14px}h1{font-size:25px;line-height:32px}
table,tbody{display:block}tr{display:grid;grid-template-columns:1fr auto;gap:2px 12px;padding:10px 0;border-top:1px solid var(--line)}
tbody tr:first-child{border-top:0;padding-top:0}
thead,.issue:empty{display:none}td{grid-column:1/-1;padding:0;border:0}
.what{grid-area:1/1;width:auto;min-width:0}.when{grid-area:1/2}
.what[class*=" "]~td{padding-left:18px}.what[class*=" "]::before{top:6px}
.issue::before{content:"Issue ";color:var(--muted)}
}
</style>`;

/** The source of the style sheet for a content security policy: exactly this text, and no other style. */
export const STYLE_SOURCE = `'sha256-${hash("sha256", STYLE.toString().slice("<style>".length, -"</style>".length), "base64")}'`;
