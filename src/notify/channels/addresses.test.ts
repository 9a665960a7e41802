import { describe, expect, it } from "vitest";
import { addresses } from "./addresses.ts";

const { allows } = addresses([]);

describe("the deny list of the notifier", () => {
  it.each([
    ["this network", "0.0.0.0"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["shared", "100.64.0.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.8.8.8"],
    ["link-local, cloud metadata", "169.254.169.254"],
    ["protocol assignments", "192.0.0.8"],
    ["documentation", "192.0.2.1"],
    ["documentation", "198.51.100.1"],
    ["documentation", "203.0.113.1"],
    ["6to4 relay", "192.88.99.1"],
    ["benchmarking", "198.19.0.1"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
  ])("covers IPv4 %s: %s", (_what, address) => {
    expect(allows(address)).toBe(false);
  });

  it.each([
    ["unspecified, ::/128", "::"],
    ["loopback, ::1/128", "::1"],
    ["IPv4-compatible, ::/96", "::127.0.0.1"],
    ["IPv4-compatible, ::/96", "::8.8.8.8"],
    ["IPv4-mapped loopback, ::ffff:0:0/96", "::ffff:127.0.0.1"],
    ["IPv4-mapped loopback in hexadecimal", "::ffff:7f00:1"],
    ["IPv4-mapped loopback written in full", "0000:0000:0000:0000:0000:ffff:7f00:0001"],
    ["IPv4-mapped private", "::ffff:10.0.0.1"],
    ["IPv4-mapped metadata", "::ffff:a9fe:a9fe"],
    ["IPv4-mapped unspecified", "::ffff:0:0"],
    ["IPv4-translated, ::ffff:0:0:0/96", "::ffff:0:127.0.0.1"],
    ["IPv4-translated, ::ffff:0:0:0/96", "::ffff:0:808:808"],
    ["NAT64 of loopback, 64:ff9b::/96", "64:ff9b::7f00:1"],
    ["NAT64 of private", "64:ff9b::10.1.2.3"],
    ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
    ["NAT64 of 0.0.0.0", "64:ff9b::"],
    ["local NAT64, 64:ff9b:1::/48", "64:ff9b:1::8.8.8.8"],
    ["local NAT64, 64:ff9b:1::/48", "64:ff9b:1:ffff::1"],
    ["discard, 100::/64", "100::1"],
    ["dummy prefix, 100:0:0:1::/64", "100:0:0:1::1"],
    ["Teredo, 2001::/32", "2001::1"],
    ["Teredo that embeds a private address", "2001:0:a00:1::f5ff:fffe"],
    ["benchmarking, 2001:2::/48", "2001:2::1"],
    ["ORCHIDv2, 2001:20::/28", "2001:2f::1"],
    ["documentation, 2001:db8::/32", "2001:db8::1"],
    ["documentation, 3fff::/20", "3fff:fff::1"],
    ["6to4 of loopback, 2002::/16", "2002:7f00:1::"],
    ["6to4 of a public address", "2002:808:808::1"],
    ["former 6bone, 3ffe::/16", "3ffe::1"],
    ["unassigned, 4000::/3", "4000::1"],
    ["segment routing, 5f00::/16", "5f00::1"],
    ["unique local, fc00::/7", "fc00::1"],
    ["unique local, fc00::/7", "fdff:ffff::1"],
    ["link-local, fe80::/10", "fe80::1"],
    ["link-local, fe80::/10", "febf::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local, fec0::/10", "fec0::1"],
    ["multicast, ff00::/8", "ff02::1"],
    ["multicast, ff00::/8", "ff0e::1"],
  ])("covers IPv6 %s: %s", (_what, address) => {
    expect(allows(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "172.32.0.1",
    "192.169.0.1",
    "2606:4700::1111",
    "2001:4860:4860::8888",
    "2003::1",
    "2a00:1450:4001::200e",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
    "64:ff9b::8.8.8.8",
    "64:ff9b::808:808",
  ])("does not cover %s", (address) => {
    expect(allows(address)).toBe(true);
  });

  it.each(["", "localhost", "127.1", "0x7f.0.0.1", "1.1.1.1.", "[::1]", "::1::"])(
    "covers text that is not an address: %j",
    (text) => {
      expect(allows(text)).toBe(false);
    },
  );
});

describe("a configured network", () => {
  it("is allowed, but not its neighbour", () => {
    const some = addresses(["10.1.0.0/16", "fd00:1::/32"]);

    expect(["10.1.2.3", "10.2.0.1", "fd00:1::5", "fd00:2::5"].map(some.allows)).toEqual([true, false, true, false]);
  });

  it("is allowed in the spellings that embed it", () => {
    const some = addresses(["10.1.0.0/16"]);

    expect(["::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "::ffff:10.2.0.1"].map(some.allows)).toEqual([true, true, false]);
  });
});

describe("a host name", () => {
  it("is refused if any of its addresses is denied", async () => {
    const found = ["1.1.1.1", "10.0.0.1"].map((address) => ({ address, family: 4 }));
    const { lookup } = addresses([], (_hostname, done) => done(null, found));

    const error = await new Promise((resolve) => lookup("example.com", { all: true }, resolve));

    expect(error).toMatchObject({ name: "AddressRefused" });
  });
});
