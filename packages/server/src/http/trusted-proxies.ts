/** The addresses of proxies whose word about the client is believed. */
import { BlockList, isIP } from "node:net";

/** Addresses and blocks of them. */
export interface AddressSet {
  has(address: string): boolean;
}

const BITS = { 4: 32, 6: 128 } as const;

/** Why a text is neither an address nor a block (CIDR); null when it is one. */
export function explainBlock(text: string): string | null {
  const [address = "", length] = text.split("/");
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || address.includes("%"))
    return "must be an IP address, or a block of them such as 10.0.0.0/8";
  if (length !== undefined && Number(length) > BITS[version])
    return `must have at most ${BITS[version]} bits after the slash`;
  return null;
}

/** Makes the set of texts for which `explainBlock` says null. An IPv4 address that comes as `::ffff:a.b.c.d` is that address. */
export function createAddressSet(blocks: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", length] = block.split("/");
    const type = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (length === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(length), type);
  }
  return {
    has: (addressAndZone) => {
      const [address = ""] = addressAndZone.split("%");
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
    },
  };
}
