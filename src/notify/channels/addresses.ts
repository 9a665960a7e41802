import { type LookupAddress, lookup as lookupInDns } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Which addresses may be connected to. Whoever writes a URL must not reach into the network of this process with it. */
export interface Addresses {
  allows(address: string): boolean;
  /** Resolves a name for a connection, and fails unless all of its addresses are allowed. What it gives is connected to. */
  readonly lookup: LookupFunction;
}

/** A name that leads, or an address that is, where nothing may be sent to. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/** Loopback, link-local, private, shared, multicast, reserved, and what translates into any of these. */
const inside: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 128],
  ["::1", 128],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
];

type Resolve = (hostname: string, done: (error: Error | null, found: LookupAddress[]) => void) => void;

/** All of the internet, and `networks` (such as `10.1.0.0/16`) besides. */
export function addresses(
  networks: readonly string[],
  resolve: Resolve = (hostname, done) => lookupInDns(hostname, { all: true }, done),
): Addresses {
  const refused = listOf(inside);
  const allowed = listOf(networks.map((network) => [network.split("/")[0] ?? "", Number(network.split("/")[1])]));
  const allows = (address: string) => {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return allowed.check(address, family) || !refused.check(address, family);
  };
  return {
    allows,
    lookup(hostname, options, callback) {
      resolve(hostname, (error, found) => {
        if (error) return callback(error, "", 0);
        const stranger = found.find(({ address }) => !allows(address));
        const [first] = found;
        if (stranger || !first) return callback(refusal(hostname), "", 0);
        // What was checked is what is connected to: a second look at the name could find something else.
        if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      });
    },
  };
}

export function refusal(host: string): AddressRefused {
  return new AddressRefused(`${host} is in a network of its own; if that is meant, add it to notify.allowedNetworks`);
}

function listOf(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, isIP(address) === 6 ? "ipv6" : "ipv4");
  return list;
}
