"""How the pages of the site look: like the report of `rlint verify`, with what only they have."""

from __future__ import annotations

from rlint.output.verify.verify_style import CSS as _SHARED

CSS = (
    _SHARED
    + """
nav { margin-bottom: 1rem; }
.lead { font-size: 1.1rem; }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 1rem 0; }
.facts div { display: flex; gap: .4rem; }
.facts dt { color: var(--soft); }
pre { overflow-x: auto; padding: .75rem 1rem; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; }
main li, main p { max-width: 46rem; }
main a { overflow-wrap: anywhere; }
h1 code { font-size: 1em; }
.before-after { margin-top: 1rem; }
.filters { display: grid; gap: .5rem; margin: 1rem 0; }
fieldset {
  border: 1px solid var(--rule); border-radius: 6px; padding: .25rem .75rem .5rem; margin: 0; min-width: 0;
  display: flex; flex-wrap: wrap; gap: .25rem 1rem;
}
legend { color: var(--soft); padding: 0 .25rem; }
label { white-space: nowrap; }
input:focus-visible, a:focus-visible, summary:focus-visible, pre:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px;
}
"""
)
