"""How the HTML report looks: light or dark as the reader's system is, on paper, and on a phone."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --ink: #1c2128; --soft: #57606a; --rule: #d4d9e0; --grid: #e3e7ec;
  --better: #0a61b0; --even: #57606a; --worse: #a14400; --wrong: #b3202c; --floor: #dfe3e8; --link: #0a55a0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --panel: #1d2127; --ink: #e4e7eb; --soft: #a3acb8; --rule: #3a414b; --grid: #2a3038;
    --better: #6cb2f5; --even: #b4bdc8; --worse: #f0a35c; --wrong: #ff8088; --floor: #343b45; --link: #82bdf7;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: break-word;
}
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
small, .soft { color: var(--soft); font-size: .875rem; }
code { font: .875em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.remark { border-left: 4px solid var(--worse); padding: .25rem .75rem; background: var(--panel); }

.counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.counts li {
  flex: 1 1 8.5rem; padding: .5rem .75rem; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; line-height: 1.3;
}
.counts b { display: block; font-size: 1.6rem; font-variant-numeric: tabular-nums; }
.counts .none { color: var(--soft); }
.counts .none b { font-weight: 400; }
.machine { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: .25rem 1.5rem; }
.machine div { display: flex; gap: .5rem; }
.machine dt { color: var(--soft); flex: none; }
dl, dd { margin: 0; }

.icon { width: 1em; height: 1em; margin-right: .4em; vertical-align: -.12em; overflow: visible; }
.sign { stroke-width: 2; }
.sign.line { fill: none; stroke-width: 2.5; }
.faster { fill: var(--better); stroke: var(--better); }
.no-change { fill: var(--even); stroke: var(--even); }
.slower { fill: var(--worse); stroke: var(--worse); }
.different-behaviour, .failed { fill: var(--wrong); stroke: var(--wrong); }
.not-run-here { fill: var(--soft); stroke: var(--soft); }
.not-enough-cases { fill: var(--worse); stroke: var(--worse); }

figure { margin: 0; }
.chart { margin-bottom: 1.5rem; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
.growth figcaption { font-weight: 400; }
.ratio-row {
  display: grid; grid-template-columns: minmax(9rem, 16rem) 1fr minmax(8.5rem, auto); column-gap: 1rem;
  align-items: center;
}
.ratio-row small { display: block; line-height: 1.1; }
.who { overflow-wrap: anywhere; padding: .2rem 0; line-height: 1.25; }
.ratio-row .figure { min-width: 9.5rem; text-align: right; font-variant-numeric: tabular-nums; }
.axis { grid-column: 2; margin-right: 0; }
.axis-row::after { content: ""; min-width: 9.5rem; }
.track { position: relative; align-self: stretch; min-height: 28px; }
.track.labels { min-height: 16px; }
.plot { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.plot text, .curves text { fill: var(--soft); font-size: 11px; }
.sides { display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .8rem; }
.sides span:last-child { text-align: right; }
.grid { stroke: var(--grid); stroke-width: 1; }
.one { stroke: var(--ink); stroke-width: 1.5; }
.floor { fill: var(--floor); }
.whisker { stroke-width: 2; }
.key { display: inline-block; width: 1.6em; height: .8em; background: var(--floor); vertical-align: -.05em; }

.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: 1rem; }
.cards .chart { margin: 0; padding: .75rem; border: 1px solid var(--rule); border-radius: 6px; min-width: 0; }
.curves { display: block; width: 100%; max-width: 26rem; height: auto; }
.curve { fill: none; stroke-width: 2; }
.curve.before { stroke: var(--worse); }
.curve.after { stroke: var(--better); }
.curve.before polyline, .curve.before line { stroke-dasharray: 5 3; }
.curve circle { fill: var(--paper); }
.curve.after rect { fill: var(--better); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .875rem; }
.legend sup { line-height: 0; }
.sample { width: 30px; height: 12px; margin-right: .35rem; vertical-align: -.05em; }

table { border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.35; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--rule); font-weight: 600; }
td, .numbers th { font-variant-numeric: tabular-nums; }
.rows .name { overflow-wrap: anywhere; min-width: 7rem; }
.rows td > span, .rows th > span { min-width: 0; }
.rows .line:not(.soft), .rows .figure { white-space: nowrap; }
.line { display: block; }
th[scope=row] { font-weight: 400; }
.numbers { width: auto; }
.scrolls { overflow-x: auto; margin: .5rem 0; }
.scrolls th, .scrolls td { white-space: nowrap; }
details summary { cursor: pointer; }
.outcome { border-bottom: 1px solid var(--rule); padding: .4rem 0; }
.outcome > :not(summary) { margin-left: 1.1rem; }
.title { color: var(--soft); }
.differences > li { margin-bottom: .5rem; }
.differences dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .75rem; }
.differences dd { min-width: 0; overflow-wrap: anywhere; }
.differences dt { color: var(--soft); }

@media (max-width: 44rem) {
  .ratio-row { grid-template-columns: 1fr auto; row-gap: 0; padding-top: .35rem; }
  .ratio-row > .track { grid-column: 1 / -1; grid-row: 2; }
  .ratio-row .figure, .axis-row::after { min-width: 0; }
  .axis { grid-column: 1 / -1; }
  .rows, .rows tbody, .rows tr, .rows td, .rows th[scope=row] { display: block; }
  .rows thead, .rows td.empty { display: none; }
  .rows td, .rows th[scope=row] { overflow-wrap: anywhere; }
  .rows tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .rows td, .rows th[scope=row] { display: flex; gap: .75rem; border: 0; padding: .1rem 0; }
  .rows td::before, .rows th[scope=row]::before {
    content: attr(data-label); flex: 0 0 7.5rem; color: var(--soft);
  }
}
@media print { body { max-width: none; } .outcome { break-inside: avoid; } }
"""
