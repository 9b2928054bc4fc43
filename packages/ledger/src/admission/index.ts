/** The ledger's admission. */
export { createLedgerAdmission } from "./ledger-admission.ts";
export type { LedgerAdmission, LedgerAdmissionOptions } from "./ledger-admission.ts";
export { createLimitDirectory } from "./limit-directory.ts";
export type { LimitDirectory, LimitsConfig } from "./limit-directory.ts";
export { restoreBank } from "./restore-accounts.ts";
export type { RestorableBank, RestoreOptions } from "./restore-accounts.ts";
