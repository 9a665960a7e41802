import { createServer, connect as dial, type Socket } from "node:net";

/**
 * What the network between a client and its server does:
 * - `pass`: everything arrives
 * - `delay`: everything arrives, later, in both directions
 * - `hold-replies`: requests arrive at once, replies later
 * - `black-hole`: connections stay open, and nothing arrives either way. What was sent meanwhile arrives, late, when the
 *   network heals, even if its sender has given up: that is what retransmission does.
 * - `cut`: every connection is reset, and so is every new one
 * - `one-byte`: everything arrives, a byte at a time
 */
export type Network =
  | { readonly mode: "pass" | "black-hole" | "cut" | "one-byte" }
  | { readonly mode: "delay" | "hold-replies"; readonly ms: number };

export interface TcpProxy {
  readonly port: number;
  readonly network: Network;
  /** Changes the network for connections that are open and for new ones. */
  become(network: Network): void;
  close(): Promise<void>;
}

/** Stands between clients and `target` on this machine, and fails the way networks do. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let network: Network = { mode: "pass" };
  const links = new Set<Link>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (network.mode === "cut") {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = dial({ port: target, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const link = new Link(client, upstream, () => network);
    links.add(link);
    link.whenClosed(() => links.delete(link));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });

  return {
    port: (server.address() as { port: number }).port,
    get network() {
      return network;
    },
    become(next) {
      network = next;
      for (const link of [...links]) link.networkChanged();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const link of links) link.reset();
      await closed;
    },
  };
}

/** One connection through the proxy: a stream each way. */
class Link {
  readonly #sockets: readonly Socket[];
  readonly #streams: readonly Stream[];
  readonly #network: () => Network;

  constructor(client: Socket, upstream: Socket, network: () => Network) {
    this.#network = network;
    this.#sockets = [client, upstream];
    this.#streams = [
      new Stream(client, upstream, () => delayOf(network(), "request")),
      new Stream(upstream, client, () => delayOf(network(), "reply")),
    ];
  }

  networkChanged(): void {
    if (this.#network().mode === "cut") return this.reset();
    for (const stream of this.#streams) stream.pump();
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  whenClosed(then: () => void): void {
    let open = this.#sockets.length;
    for (const socket of this.#sockets) socket.on("close", () => --open === 0 && then());
  }
}

/** How long a chunk is under way; undefined: it does not arrive. */
function delayOf(network: Network, direction: "request" | "reply"): Delivery | undefined {
  switch (network.mode) {
    case "pass":
    case "cut":
      return { ms: 0, bytes: Number.POSITIVE_INFINITY };
    case "one-byte":
      return { ms: 0, bytes: 1 };
    case "delay":
      return { ms: network.ms, bytes: Number.POSITIVE_INFINITY };
    case "hold-replies":
      return { ms: direction === "reply" ? network.ms : 0, bytes: Number.POSITIVE_INFINITY };
    case "black-hole":
      return undefined;
  }
}

interface Delivery {
  readonly ms: number;
  /** At most so many at once. */
  readonly bytes: number;
}

/** Bytes from one socket to another, in order, each when the network of that moment lets it through. */
class Stream {
  readonly #to: Socket;
  readonly #delivery: () => Delivery | undefined;
  /** What was read and not delivered; undefined data is the end of the stream. */
  readonly #underway: { data: Buffer | undefined; readonly at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #pausing = false;
  #ended = false;

  constructor(from: Socket, to: Socket, delivery: () => Delivery | undefined) {
    this.#to = to;
    this.#delivery = delivery;
    from.on("data", (data) => this.#read(data));
    from.on("end", () => this.#read(undefined));
    from.on("error", () => {});
    from.on("close", () => this.#read(undefined));
  }

  #read(data: Buffer | undefined) {
    if (this.#ended) return;
    this.#ended = data === undefined;
    this.#underway.push({ data, at: performance.now() });
    this.pump();
  }

  /** Delivers what is due. */
  pump(): void {
    clearTimeout(this.#timer);
    if (this.#pausing) return;
    for (let next = this.#underway[0]; next; next = this.#underway[0]) {
      const delivery = this.#delivery();
      if (!delivery) return;
      const inMs = next.at + delivery.ms - performance.now();
      if (inMs > 0) {
        this.#timer = setTimeout(() => this.pump(), inMs);
        return;
      }
      if (!next.data) {
        this.#underway.shift();
        this.#to.end();
        return;
      }
      if (next.data.length > delivery.bytes) {
        this.#to.write(next.data.subarray(0, delivery.bytes));
        next.data = next.data.subarray(delivery.bytes);
        return this.#pause();
      }
      this.#to.write(next.data);
      this.#underway.shift();
    }
  }

  /** Lets the bytes just written leave on their own before more follow. */
  #pause() {
    this.#pausing = true;
    setImmediate(() => {
      this.#pausing = false;
      this.pump();
    });
  }
}
