/** Which addresses are likely one party: an IPv4 address alone, of IPv6 a whole /64, which is what one network is given. */
import { isIP } from "node:net";

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

/** Equal for addresses of one group; null for what is no address. */
export function addressGroup(addressAndZone: string): string | null {
  const [address = ""] = addressAndZone.split("%");
  if (isIP(address) === 4) return address;
  if (isIP(address) !== 6) return null;
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  return mapped ?? `${expand(address).slice(0, GROUPS_OF_NETWORK).join(":")}::/64`;
}

/** The groups of an IPv6 address (RFC 4291 §2.2) without leading zeros. */
function expand(address: string): readonly string[] {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after];
}

/** An IPv4 address at the end stands for two groups; which ones does not matter for a network. */
const groupsOf = (text: string): readonly string[] =>
  text === ""
    ? []
    : text
        .split(":")
        .flatMap((group) => (group.includes(".") ? ["0", "0"] : [Number.parseInt(group, 16).toString(16)]));
