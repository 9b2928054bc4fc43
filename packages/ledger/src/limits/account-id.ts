/** How the accounts of end users are named: an end user is one person for all keys of an owner. */

/** The account's id. */
export function endUserAccountId(owner: string | null, key: string, endUser: string): string {
  return `${owner === null ? `key ${key}` : `owner ${owner}`}\n${endUser}`;
}
