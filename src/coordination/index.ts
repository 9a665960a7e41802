export { CoordinationError, type CoordinationErrorCode, isCoordinationError } from "./errors.ts";
export { type Key, keyOf } from "./key.ts";
export type {
  AcquireOptions,
  Guarantee,
  Holder,
  Lease,
  LockEvents,
  LockLoad,
  Locks,
  ReleaseOutcome,
  TryOptions,
} from "./locks.ts";
export { memoryLocks } from "./memory/memory-locks.ts";
export { RedisConnection, type RedisOptions } from "./redis/connection.ts";
export { type RedisLocksOptions, redisLocks } from "./redis/redis-locks.ts";
