/** Rows as columns of text. */

/** A header line and one line per row, columns two spaces apart. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? "").length), name.length),
  );
  const line = (cells: readonly string[]): string =>
    `${cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()}\n`;
  return [header, ...rows].map(line).join("");
}
