// The style of the HTML report, inlined into it: light and dark, and colours that stay apart for colour-blind readers (Okabe and Ito,
// Color Universal Design, 2008).

/** Style sheet of `comparison.html`. */
export const HTML_STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #59616b; --line: #d9dde3; --paper: #ffffff; --card: #f6f7f9; --bad: #a8321a; --good: #1c7a4a; --s0: #0072b2; --s1: #e69f00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3abb5; --line: #3a4049; --paper: #16181c; --card: #1f2228; --bad: #ff9478; --good: #6fd39c; --s0: #56b4e9; --s1: #e69f00; } }
body { margin: 0 auto; max-width: 1240px; padding: 24px; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 26px; margin: 0 0 12px; } h2 { font-size: 20px; margin: 40px 0 8px; border-bottom: 1px solid var(--line); padding-bottom: 4px; } h3 { font-size: 16px; margin: 28px 0 4px; }
p, li { max-width: 95ch; } .soft { color: var(--soft); margin: 2px 0 10px; } ul { padding-left: 20px; margin: 8px 0; }
.verdict { border-left: 4px solid var(--bad); background: var(--card); padding: 10px 16px; } .verdict.good { border-color: var(--good); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; } th, td { text-align: left; vertical-align: top; padding: 5px 10px; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 600; white-space: nowrap; } tr.doubtful td { color: var(--soft); } td:first-child { white-space: nowrap; font-weight: 600; }
.notes { font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: 16px; margin: 12px 0; } .chart { width: 100%; height: auto; background: var(--card); border-radius: 6px; padding: 12px; box-sizing: border-box; align-self: start; } .chart.wide { grid-column: 1 / -1; }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif; } .chart .title { font-weight: 600; font-size: 13px; } .chart .tick, .chart .axis { fill: var(--soft); font-size: 11px; } .chart .value { font-size: 11px; }
.grid { stroke: var(--line); stroke-width: 1; } .series-0 { fill: var(--s0); } .series-1 { fill: var(--s1); } .chart .doubtful { opacity: 0.45; }
.curve { fill: none; stroke-width: 2; } .curve.direct { stroke: var(--soft); stroke-dasharray: 3 3; }
.line-0 { stroke: #0072b2; } .line-1 { stroke: #e69f00; } .line-2 { stroke: #009e73; } .line-3 { stroke: #cc79a7; } .line-4 { stroke: #d55e00; }
.line-5 { stroke: #56b4e9; stroke-dasharray: 8 3; } .line-6 { stroke: #b09b00; stroke-dasharray: 8 3; } .line-7 { stroke: #009e73; stroke-dasharray: 8 3; } .line-8 { stroke: #cc79a7; stroke-dasharray: 8 3; } .line-9 { stroke: #d55e00; stroke-dasharray: 8 3; }
code { font-size: 12px; overflow-wrap: anywhere; }
`;
