// What the benchmark uses of peers that come without types, or with types Node's module resolution cannot find.

declare module "redlock-4" {
  import type { Redis } from "ioredis";

  class Redlock {
    constructor(clients: readonly Redis[], options: { retryCount: number; retryDelay?: number; retryJitter?: number });
    acquire(resource: string, ttlMs: number): PromiseLike<{ unlock(): PromiseLike<unknown> }>;
  }
  export = Redlock;
}

declare module "redlock-5" {
  import type { Redis } from "ioredis";

  class Redlock {
    constructor(clients: readonly Redis[], options: { retryCount: number; retryDelay?: number; retryJitter?: number });
    acquire(resources: readonly string[], ttlMs: number): Promise<{ release(): Promise<unknown> }>;
  }

  // biome-ignore lint/style/noDefaultExport: that is what it exports.
  export { Redlock as default };
}
