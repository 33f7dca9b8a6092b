#include "report/html_style.hpp"

namespace xtts::report {
namespace {

// Each pair of text and ground has a contrast of at least 4.5 in both schemes;
// tests/html/check_pages.py computes it in a browser.
constexpr std::string_view kHtmlStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f5f7f9; --ink: #14191f; --muted: #515c68; --line: #d5dbe1;
  --good: #12663f; --good-ground: #e6f4ec; --warn: #7a4d00; --warn-ground: #fdf1da;
  --bad: #a51d24; --bad-ground: #fdeaea; --unknown: #4c5661; --unknown-ground: #eceff2;
  --mark: #1f5fa8; --mark-soft: #b9d3f0; --band: #eef2f6; --level: #a8480a;
  --on-part: #ffffff; --part-1: #1f5fa8; --part-2: #a8480a; --part-3: #146b50;
  --part-4: #7a3f8f; --part-5: #6b5a00; --part-6: #4d5661;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #12161b; --raised: #1a2027; --ink: #e8ecf0; --muted: #a6b1bd; --line: #333d48;
    --good: #6fd3a3; --good-ground: #12301f; --warn: #f0bf62; --warn-ground: #362806;
    --bad: #ff9a98; --bad-ground: #3d1719; --unknown: #b6c0ca; --unknown-ground: #262e37;
    --mark: #7db4f0; --mark-soft: #2b4a6c; --band: #1c242d; --level: #f29a66;
    --on-part: #10141a; --part-1: #7db4f0; --part-2: #f29a66; --part-3: #63c9a3;
    --part-4: #cf9be0; --part-5: #d6c25a; --part-6: #a9b4c0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 60rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0; font-size: 1rem; font-weight: 600; }
h2 { margin: 2.5rem 0 0.75rem; font-size: 1.3rem; line-height: 1.25; }
h3 { margin: 0; font-size: 1rem; line-height: 1.4; }
p { margin: 0.5rem 0; max-width: 44rem; }
.aside { color: var(--muted); font-size: 0.875rem; margin: 0; }
.verdict { margin: 1.25rem 0 0; padding: 1.1rem 1.25rem; border-left: 0.35rem solid var(--tone);
  border-radius: 0.35rem; background: var(--tone-ground); }
.verdict p { margin: 0.5rem 0 0; font-size: 1.3rem; line-height: 1.4; max-width: none;
  font-weight: 600; }
.tone-plain { --tone: var(--ink); --tone-ground: var(--raised); }
.tone-good { --tone: var(--good); --tone-ground: var(--good-ground); }
.tone-warn { --tone: var(--warn); --tone-ground: var(--warn-ground); }
.tone-bad { --tone: var(--bad); --tone-ground: var(--bad-ground); }
.tone-unknown { --tone: var(--unknown); --tone-ground: var(--unknown-ground); }
.status { display: inline-block; padding: 0.05rem 0.55rem; border-radius: 1rem;
  border: 1px solid var(--tone); color: var(--tone); background: var(--tone-ground);
  font-size: 0.8125rem; font-weight: 600; line-height: 1.5; white-space: nowrap; }
.counts { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 0.75rem 0 0; padding: 0;
  list-style: none; }
.items { margin: 0; padding: 0; list-style: none; counter-reset: item; }
.items > li { padding: 0.75rem 0; border-top: 1px solid var(--line); }
.items > li:first-child { border-top: 0; padding-top: 0; }
.items p { margin: 0; }
.numbered > li { counter-increment: item; padding-left: 2.25rem; position: relative; }
.numbered > li::before { content: counter(item) "."; position: absolute; left: 0;
  width: 1.6rem; text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
.items .note { margin: 0.15rem 0 0; }
.note, figcaption .note { color: var(--muted); font-size: 0.875rem; font-weight: 400; }
.gain { font-weight: 600; color: var(--good); }
code, .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875em; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; font-size: 0.9375rem; }
th, td { padding: 0.45rem 0.75rem 0.45rem 0; text-align: left; vertical-align: top;
  border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; color: var(--muted); font-size: 0.8125rem; }
td.value { font-weight: 600; font-variant-numeric: tabular-nums; }
.facts th { width: 32%; } .facts td.value { width: 28%; }
.changes th { width: 30%; } .changes td.diff { width: 28%; }
del, ins { display: block; text-decoration: none; padding: 0.05rem 0.4rem;
  border-radius: 0.2rem; }
del { color: var(--bad); background: var(--bad-ground); }
ins { color: var(--good); background: var(--good-ground); }
del + ins { margin-top: 0.15rem; }
.folded { border-top: 1px solid var(--line); }
.folded:last-of-type { border-bottom: 1px solid var(--line); }
.folded > summary { padding: 0.75rem 0; cursor: pointer; list-style: none; display: grid;
  grid-template-columns: 8rem 1fr 1rem; gap: 0 0.75rem; align-items: baseline; }
summary::-webkit-details-marker { display: none; }
.folded > summary::after { content: ""; width: 0.5rem; height: 0.5rem; margin-top: 0.35rem;
  border-right: 2px solid var(--muted); border-bottom: 2px solid var(--muted);
  transform: rotate(45deg); align-self: start; }
.folded[open] > summary::after { transform: rotate(225deg); margin-top: 0.6rem; }
summary:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.folded > summary > .status { justify-self: start; }
.folded > summary h3 { display: inline; }
.about { display: block; margin-top: 0.1rem; color: var(--muted); font-size: 0.9375rem; }
.folded > .inside { padding: 0 0 1.25rem 8.75rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
  gap: 1rem; margin: 1rem 0; align-items: start; }
figure { margin: 0; padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 0.35rem;
  max-width: 30rem; }
figcaption { font-weight: 600; font-size: 0.9375rem; }
figcaption .note { display: block; }
svg { display: block; width: 100%; height: auto; margin-top: 0.5rem; overflow: hidden; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg text.small { fill: var(--muted); font-size: 10px; }
svg text.strong { font-weight: 600; }
svg text.halo { paint-order: stroke; stroke: var(--paper); stroke-width: 3px;
  stroke-linejoin: round; }
svg text.level { fill: var(--level); }
svg text.on-part { fill: var(--on-part); font-weight: 600; }
.axis { stroke: var(--line); fill: none; }
.band { fill: var(--band); }
.mark { fill: var(--mark); } .mark-soft { fill: var(--mark-soft); }
.mark-line { stroke: var(--mark); stroke-width: 1.5; fill: none; stroke-linejoin: round; }
.level-line { stroke: var(--level); stroke-width: 1.5; stroke-dasharray: 5 3; fill: none; }
.range { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.part-1 { fill: var(--part-1); } .part-2 { fill: var(--part-2); } .part-3 { fill: var(--part-3); }
.part-4 { fill: var(--part-4); } .part-5 { fill: var(--part-5); } .part-6 { fill: var(--part-6); }
.numbers { margin-top: 0.5rem; font-size: 0.875rem; }
.numbers > summary { color: var(--muted); cursor: pointer; list-style: revert; }
.numbers table { font-size: 0.875rem; }
footer { margin-top: 2.5rem; color: var(--muted); font-size: 0.8125rem; }
@media (max-width: 40rem) {
  body { padding: 1rem 1rem 2rem; }
  .verdict { padding: 0.9rem 1rem; }
  .verdict p { font-size: 1.125rem; }
  .folded > summary { grid-template-columns: 1fr 1rem; }
  .folded > summary > .status { grid-column: 1; }
  .folded > summary > .head { grid-column: 1; margin-top: 0.25rem; }
  .folded > summary::after { grid-column: 2; grid-row: 1; }
  .folded > .inside { padding-left: 0; }
  figure { padding: 0.75rem; }
  .facts thead, .changes thead { position: absolute; clip-path: inset(50%); width: 1px;
    height: 1px; overflow: hidden; }
  .facts tr, .changes tr { display: block; padding: 0.5rem 0; border-top: 1px solid var(--line); }
  .facts th, .facts td, .facts td.value, .changes th, .changes td, .changes td.diff {
    display: block; width: auto; border: 0; padding: 0.05rem 0; }
}
@media print {
  @page { margin: 15mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .folded > summary::after { display: none; }
  .verdict, figure, .folded > summary, .items > li, tr { break-inside: avoid; }
  h2, summary { break-after: avoid; }
  .verdict, .status, del, ins, svg { print-color-adjust: exact; }
}
)css";

}  // namespace

std::string_view html_style() noexcept {
  return kHtmlStyle;
}

}  // namespace xtts::report
