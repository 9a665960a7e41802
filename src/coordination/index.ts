export type { ClaimClientOptions } from "./claims/claim-client.ts";
export type {
  Claim,
  ClaimDone,
  ClaimEvents,
  ClaimFailed,
  ClaimInFlight,
  ClaimOptions,
  Claims,
  CompleteOutcome,
  Effect,
  Eviction,
  FailOutcome,
  Failure,
  NewClaim,
} from "./claims/claims.ts";
export { type OnceOptions, type OnceOutcome, once } from "./claims/once.ts";
export { CoordinationError, type CoordinationErrorCode, isCoordinationError } from "./errors.ts";
export { type FencedPush, type FencedPushOutcome, fencedPush } from "./fencing/git.ts";
export {
  type Fence,
  type FencedCreateOutcome,
  type FencedDeleteOutcome,
  type FencedUpdateOutcome,
  fenceAnnotation,
  fencedCreate,
  fencedDelete,
  fencedUpdate,
  fenceOf,
} from "./fencing/kubernetes.ts";
export { type Key, keyOf } from "./key.ts";
export { type JanitorOptions, startJanitor } from "./kubernetes/janitor.ts";
export { type KubernetesClaimsOptions, kubernetesClaims } from "./kubernetes/kubernetes-claims.ts";
export { type KubernetesLocksOptions, kubernetesLocks } from "./kubernetes/kubernetes-locks.ts";
export { type KubernetesWatermarksOptions, kubernetesWatermarks } from "./kubernetes/kubernetes-watermarks.ts";
export type { JanitorEvents, SweepResult } from "./kubernetes/lease-sweep.ts";
export { type ListedLock, listLocks } from "./kubernetes/list-locks.ts";
export type { LockTableOptions } from "./locks/lock-table.ts";
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
} from "./locks/locks.ts";
export { type LeaderEvents, type LeaderOptions, type LeaderWork, runAsLeader } from "./locks/run-as-leader.ts";
export { type MemoryClaimsOptions, memoryClaims } from "./memory/memory-claims.ts";
export { memoryLocks } from "./memory/memory-locks.ts";
export { memoryWatermarks } from "./memory/memory-watermarks.ts";
export { observeClaims } from "./observed/observe-claims.ts";
export { observeJanitor } from "./observed/observe-janitor.ts";
export { observeLockLoad, observeLocks } from "./observed/observe-locks.ts";
export { type ObservedWatermark, observeWatermarks } from "./observed/observe-watermarks.ts";
export type { Observer, Stage } from "./observed/observer.ts";
export { RedisConnection, type RedisOptions } from "./redis/connection.ts";
export type { CredentialSource } from "./redis/credentials.ts";
export { entraCredentials } from "./redis/entra.ts";
export { type RedisClaimsOptions, redisClaims } from "./redis/redis-claims.ts";
export { type RedisLocksOptions, redisLocks } from "./redis/redis-locks.ts";
export { type RedisWatermarksOptions, redisWatermarks } from "./redis/redis-watermarks.ts";
export type { Scripts } from "./redis/script.ts";
export { type Beginning, type Cursor, instantMs, lag, type PolledItem } from "./watermarks/cursor.ts";
export {
  type AdvanceOutcome,
  openWatermark,
  type Watermark,
  type WatermarkEntry,
  type WatermarkOptions,
  type WatermarkRecord,
  type WatermarkStore,
  type WriteOutcome,
} from "./watermarks/watermarks.ts";
