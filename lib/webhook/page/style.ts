import { hash } from "node:crypto";
import { type Html, html } from "../../../text/html.ts";

/** The page's style sheet, as an element. */
export const STYLE: Html = html`<style>
:root{color-scheme:light dark;--page:#f1f4f5;--panel:#fff;--ink:#14212a;--muted:#566570;--line:#e2e8eb;
--ok:#12704a;--ok-back:#def3e8;--warn:#7d5200;--warn-back:#fdf0d3;--bad:#ab2018;--bad-back:#fde6e3;
--link:#0b645e;--bar:#5b93aa;--red:#d9352a;--orange:#e07b10;--yellow:#d6a400;--blue:#3f8fd6;--green:#1f9d63;--grey:#93a1aa}
@media (prefers-color-scheme:dark){:root{--page:#0b1215;--panel:#141d22;--ink:#e3eaee;--muted:#9badb7;--line:#26333b;
--ok:#79dcab;--ok-back:#0f2a1e;--warn:#f3c873;--warn-back:#2e2410;--bad:#ffa79e;--bad-back:#3a1815;
--link:#7fd8c8;--bar:#5b9ab5;--red:#ff6257;--orange:#f79a3c;--yellow:#f2cc4e;--blue:#6db3f2;--green:#4fc98d;--grey:#75858f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;padding:16px;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:1080px;margin:0 auto}
h1,h2,p,dl,dd,ul,table,figure{margin:0}
h2{font-size:15px;line-height:22px;font-weight:650}
code{font:13px/1.45 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
a{color:var(--link);text-underline-offset:2px}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:12px;padding:16px;margin:0 0 12px}
.head{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:0 12px;margin:0 0 10px}
.muted,.note{color:var(--muted)}
.note{font-size:14px;line-height:20px}
.verdict{border-color:transparent}
.verdict h1{display:flex;align-items:center;gap:12px;font-size:28px;line-height:36px;font-weight:700}
.verdict svg{flex:none;width:30px;height:30px}
.verdict circle{fill:currentColor}
.verdict path{fill:none;stroke:var(--panel);stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}
.verdict ul{padding:0;list-style:none;color:var(--ink)}
.verdict li{margin:8px 0 0}
.verdict code{display:inline-block;padding:1px 7px;border-radius:6px;background:var(--panel)}
.verdict .note{color:inherit;margin:8px 0 0}
.verdict.ok{background:var(--ok-back);color:var(--ok)}
.verdict.warn{background:var(--warn-back);color:var(--warn)}
.verdict.bad{background:var(--bad-back);color:var(--bad)}
.peers{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:0 12px}
.tag{flex:none;padding:1px 9px;border-radius:99px;font-size:13px;line-height:20px;font-weight:600}
.tag.ok{background:var(--ok-back);color:var(--ok)}
.tag.warn{background:var(--warn-back);color:var(--warn)}
.tag.bad{background:var(--bad-back);color:var(--bad)}
.peers dl{display:grid;grid-template-columns:auto 1fr;gap:5px 16px;font-size:15px;line-height:22px}
.peers dt{color:var(--muted)}
.peers dd{text-align:right}
.plot svg{display:block;width:100%;height:88px;border-bottom:1px solid var(--line)}
.plot rect{fill:var(--bar)}
.plot .midnight{fill:var(--line)}
.days{display:grid;grid-template-columns:repeat(7,1fr);margin:5px 0 0;padding:0;list-style:none;font-size:12px;
line-height:15px;color:var(--muted);overflow-wrap:normal}
.days li{padding:0 0 0 3px}
table{width:100%;border-collapse:collapse;font-size:15px;line-height:21px}
th{padding:0 12px 8px 0;text-align:left;font-size:13px;font-weight:600;color:var(--muted)}
td{padding:9px 12px 9px 0;border-top:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
td code{color:var(--muted)}
.when{white-space:nowrap;font-variant-numeric:tabular-nums;color:var(--muted)}
.what{width:55%;overflow:hidden}
.name{font-weight:600}
.small{display:block;font-size:13px;line-height:19px;color:var(--muted)}
.alerts .what{position:relative;padding-left:18px}
.dot{position:absolute;left:0;top:15px;width:10px;height:10px;border-radius:50%;background:var(--grey)}
.dot.critical{background:var(--red)}.dot.high{background:var(--orange)}
.dot.warning{background:var(--yellow)}.dot.info{background:var(--blue)}
.dot.resolved{background:transparent;box-shadow:inset 0 0 0 2.5px var(--green)}
.fate.warn{color:var(--warn)}.fate.bad{color:var(--bad);font-weight:600}
footer{padding:4px 4px 12px}
@media (max-width:719px){
body{padding:10px}
.panel{padding:14px}
.verdict h1{font-size:25px;line-height:32px}
.alerts thead,.lost thead{display:none}
.alerts table,.alerts tbody,.lost table,.lost tbody{display:block}
.alerts tr,.lost tr{display:grid;grid-template-columns:1fr auto;gap:2px 12px;padding:10px 0;border-top:1px solid var(--line)}
.alerts tbody tr:first-child,.lost tbody tr:first-child{border-top:0;padding-top:0}
.alerts td,.lost td{display:block;padding:0;border:0}
.alerts .what,.lost .what{grid-area:1/1;width:auto;min-width:0}
.alerts .when,.lost .when{grid-area:1/2}
.alerts .message,.alerts .issue,.lost .message{grid-column:1/-1}
.alerts .message,.alerts .issue{padding-left:18px}
.alerts .issue:empty{display:none}
.alerts .issue::before{content:"Issue ";color:var(--muted)}
.alerts .what{padding-left:18px}
.dot{top:6px}
}
</style>`;

/** The source of the style sheet for a content security policy: exactly this text, and no other style. */
export const STYLE_SOURCE = `'sha256-${hash("sha256", sheetIn(STYLE), "base64")}'`;

function sheetIn(element: Html): string {
  return element.toString().slice("<style>".length, -"</style>".length);
}
