// Lays out the demo's text in 100 columns, with colour only where the output is a terminal.
/** Where the demo writes. */
export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Width that no line exceeds, except a word that is longer itself. */
export const COLUMNS = 100;

const LABEL_WIDTH = 12;
const INDENT = "   ";

/** Colours of the demo; without a terminal they do nothing. */
export interface Palette {
  readonly title: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
}

/** Chooses the palette for an output (ECMA-48 SGR: bold, green, red, bright black). */
export function paletteFor(output: TextOutput): Palette {
  if (output.isTTY !== true) {
    const plain = (text: string): string => text;
    return { title: plain, good: plain, bad: plain, faint: plain };
  }
  const painted =
    (code: number) =>
    (text: string): string =>
      `\u001b[${code}m${text}\u001b[0m`;
  return { title: painted(1), good: painted(32), bad: painted(31), faint: painted(90) };
}

/** Shortens a text to one line of at most `width` characters. */
export function shorten(text: string, width: number): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join("")}…`;
}

/** Breaks a text at spaces into lines of at most `width` characters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** A labelled row whose text is wrapped under itself. */
export function row(label: string, text: string, paint: (text: string) => string = (each) => each): string {
  const width = COLUMNS - INDENT.length - LABEL_WIDTH;
  return wrap(text, width)
    .map((line, index) => `${INDENT}${(index === 0 ? label : "").padEnd(LABEL_WIDTH)}${paint(line)}\n`)
    .join("");
}

/** A heading with a rule that fills the line. */
export function heading(text: string, palette: Palette): string {
  const rule = "─".repeat(Math.max(3, COLUMNS - text.length - 1));
  return `${palette.title(text)} ${palette.faint(rule)}\n`;
}
