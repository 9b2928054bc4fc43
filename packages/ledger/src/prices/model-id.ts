/** Model ids and their dated snapshots: `gpt-5-2025-08-07`, `claude-haiku-4-5-20251001` and `…@20251001` cost what the name costs. */

const DATED = /(?:[-@](?:20\d{6}|20\d{2}-[01]\d-[0-3]\d)|-latest)$/;

/** The id without the date of a snapshot or `-latest`; the same text when it has neither. */
export function undatedModelId(model: string): string {
  return model.replace(DATED, "");
}
