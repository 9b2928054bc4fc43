// Writing neutral references as JSON.
import { isSlice } from "@dragoman/core";
import type { Extension, Num, Raw, SegmentWriter } from "@dragoman/core";

/** Writes a value: its source bytes as they are, or the JSON of a decoded one. */
export function writeRaw(writer: SegmentWriter, raw: Raw): void {
  if (isSlice(raw)) writer.raw(raw);
  else writer.glue(JSON.stringify(raw.value) ?? "null");
}

/** Writes a number in its source spelling. */
export function writeNumber(writer: SegmentWriter, number: Num): void {
  if (typeof number === "number") writer.number(number);
  else writer.raw(number);
}

/** Writes extensions as further members of an object that has members already; paths with a dot nest one level. */
export function writeExtensions(writer: SegmentWriter, extensions: readonly Extension[], prefix = ""): void {
  const groups = new Map<string, Extension[]>();
  for (const extension of extensions) {
    const path = extension.path.startsWith(prefix) ? extension.path.slice(prefix.length) : extension.path;
    const dot = path.indexOf(".");
    const group = dot === -1 ? path : path.slice(0, dot);
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [extension]);
    else members.push(extension);
  }
  for (const [name, members] of groups) {
    const [first] = members;
    const path = `${prefix}${name}`;
    writer.glue(`,${JSON.stringify(name)}:`);
    if (first !== undefined && first.path === path) writeRaw(writer, first.raw);
    else {
      const separators = members.map((_, index) => (index === 0 ? "{" : ","));
      members.forEach((extension, index) => {
        writer.glue(`${separators[index]}${JSON.stringify(extension.path.slice(path.length + 1))}:`);
        writeRaw(writer, extension.raw);
      });
      writer.glue("}");
    }
  }
}
