"""How the page of findings looks: light or dark as the reader's system is, on paper, and on a phone."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --ink: #1c2128; --soft: #57606a; --rule: #d4d9e0; --link: #0a55a0;
  --mark: #ffe7a8; --added: #d9f2df; --removed: #fbdfe0; --hot: #a3201d; --warm: #8a4600; --cold: #57606a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --panel: #1d2127; --ink: #e4e7eb; --soft: #a3acb8; --rule: #3a414b; --link: #82bdf7;
    --mark: #5c4810; --added: #17361f; --removed: #451d20; --hot: #ff8a84; --warm: #f0a35c; --cold: #a3acb8;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; font-weight: 400; margin: 0; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
.soft { color: var(--soft); font-size: .875rem; }
.clean { font-size: 1.1rem; }
code, .place {
  font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}

.counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.counts li {
  flex: 1 1 6.5rem; padding: .5rem .75rem; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; line-height: 1.3;
}
.counts b { display: block; font-size: 1.6rem; font-variant-numeric: tabular-nums; }
.counts .none { color: var(--soft); }
.counts .none b { font-weight: 400; }
.problems { padding-left: 1.1rem; }
.problems li { margin-bottom: .5rem; }

table { border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.35; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--rule); font-weight: 600; }
th[scope=row] { font-weight: 400; }
td { font-variant-numeric: tabular-nums; }

summary { cursor: pointer; }
.file > summary { padding: .5rem 0; border-bottom: 2px solid var(--rule); }
.file { margin-bottom: 1.5rem; }
article { padding: 1rem 0; border-bottom: 1px solid var(--rule); }
.place { color: var(--soft); }
.heat { font-size: .8rem; border: 1px solid; border-radius: 4px; padding: 0 .35rem; white-space: nowrap; }
.heat.hot { color: var(--hot); }
.heat.warm { color: var(--warm); }
.heat.cold { color: var(--cold); }
dl { margin: .5rem 0; }
dl div { display: flex; gap: .75rem; }
dt { flex: 0 0 5.5rem; color: var(--soft); }
dd { margin: 0; min-width: 0; }
pre {
  margin: .5rem 0; padding: .5rem .75rem; overflow-x: auto; background: var(--panel);
  border: 1px solid var(--rule); border-radius: 6px; overflow-wrap: normal;
}
.row { display: block; width: max-content; min-width: 100%; white-space: pre; }
.row i { display: inline-block; min-width: 3.5em; color: var(--soft); font-style: normal; user-select: none; }
.row .mark { display: inline-block; width: 1em; float: right; }
.row.added { background: var(--added); }
.row.removed { background: var(--removed); }
.row.gap { color: var(--soft); }
mark { background: var(--mark); color: inherit; }
.rule { border-bottom: 1px solid var(--rule); padding: .4rem 0; }
.page { margin-left: 1.1rem; }
.page table { display: block; overflow-x: auto; }
.page h2 { font-size: 1rem; margin: 1.25rem 0 .25rem; }

@media (max-width: 40rem) {
  .rows, .rows tbody, .rows tr { display: block; }
  .rows thead { display: none; }
  .rows tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .rows td, .rows th[scope=row] { display: flex; gap: .75rem; border: 0; padding: .1rem 0; }
  .rows td::before { content: attr(data-label); flex: 0 0 5.5rem; color: var(--soft); }
  dl div { flex-wrap: wrap; gap: 0 .75rem; }
}
@media print { body { max-width: none; } article { break-inside: avoid; } }
"""
