import { type LookupAddress, lookup as lookupInDns } from "node:dns";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";

/** The addresses that channels may connect to. The author of a URL must not reach the internal network of this process. */
export interface Addresses {
  allows(address: string): boolean;
  /** Resolves a name for a connection, and fails unless all of its addresses are allowed. The connection uses the result. */
  readonly lookup: LookupFunction;
}

/** The address, or one that the name resolves to, is not allowed. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

type Network = readonly [address: string, bits: number];

/** IPv4 networks that are not the public internet: private, shared, loopback, link-local, special, multicast, reserved. */
const deniedIpv4: readonly Network[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * The only IPv6 network that is assigned for the public internet. All other addresses are denied without being listed:
 * loopback, unique local, link-local, site-local, multicast, discard, segment routing, and networks assigned later.
 */
const globalIpv6: Network = ["2000::", 3];

/** Parts of `globalIpv6` that are not the public internet, or that tunnel to an IPv4 address of the sender's choice. */
const deniedIpv6: readonly Network[] = [
  // Protocol assignments: Teredo tunnels (2001::/32), benchmarking, ORCHID.
  ["2001::", 23],
  // Documentation.
  ["2001:db8::", 32],
  ["3fff::", 20],
  // 6to4 tunnels.
  ["2002::", 16],
  // The former 6bone.
  ["3ffe::", 16],
];

/**
 * IPv6 networks whose last 32 bits are the IPv4 address that is reached in the end, so that this address decides: IPv4
 * addresses as IPv6 sockets write them, and the well-known prefix of NAT64, through which an IPv6-only cluster reaches
 * every IPv4 host.
 */
const embeddingIpv4: readonly Network[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

type Resolve = (hostname: string, done: (error: Error | null, found: LookupAddress[]) => void) => void;

/** Allows the public internet, and `networks` such as `10.1.0.0/16`. */
export function addresses(
  networks: readonly string[],
  resolve: Resolve = (hostname, done) => lookupInDns(hostname, { all: true }, done),
): Addresses {
  const configured = networkList(networks.map(parseNetwork));
  const denied = networkList([...deniedIpv4, ...deniedIpv6]);
  const global = networkList([globalIpv6]);
  const embedding = networkList(embeddingIpv4);

  function allows(address: string): boolean {
    // A zone, as in fe80::1%eth0, names an interface; it does not change which network the address is in.
    const plain = address.replace(/%.*$/, "");
    if (isIP(plain) === 0) return false;
    if (!isIPv6(plain)) return configured.check(plain, "ipv4") || !denied.check(plain, "ipv4");
    if (configured.check(plain, "ipv6")) return true;
    if (embedding.check(plain, "ipv6")) return allows(embeddedIpv4(plain));
    return global.check(plain, "ipv6") && !denied.check(plain, "ipv6");
  }

  return {
    allows,
    lookup(hostname, options, callback) {
      resolve(hostname, (error, found) => {
        if (error) return callback(error, "", 0);
        const [first] = found;
        if (!first || !found.every(({ address }) => allows(address))) return callback(refusal(hostname), "", 0);
        // The checked addresses are the ones connected to: a second lookup could return others.
        if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      });
    },
  };
}

export function refusal(host: string): AddressRefused {
  return new AddressRefused(
    `${host} is not on the public internet; to allow it, add its network to notify.allowedNetworks`,
  );
}

function networkList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, isIPv6(address) ? "ipv6" : "ipv4");
  return list;
}

function parseNetwork(network: string): Network {
  const [address = "", bits = ""] = network.split("/");
  return [address, Number(bits)];
}

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function embeddedIpv4(address: string): string {
  // The URL parser writes each address in one spelling: hexadecimal groups, at most one "::".
  const { hostname } = new URL(`http://[${address}]/`);
  const [before = "", after] = hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groups(before), groups(after ?? "")];
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const [high = 0, low = 0] = [...head, ...Array<number>(zeros).fill(0), ...tail].slice(-2);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
