// The library, as programs import it: PACKAGE/coordination. Everything here is a promise to them; what Interlock itself is made
// of is in src/coordination. Types come from the files that declare them, because the package contains the declarations of
// exactly these files.
export type {
  Claim,
  ClaimDone,
  ClaimFailed,
  ClaimInFlight,
  ClaimOptions,
  Claims,
  CompleteOutcome,
  Effect,
  FailOutcome,
  Failure,
  NewClaim,
} from "../coordination/claims/claims.ts";
export { type OnceOptions, type OnceOutcome, once } from "../coordination/claims/once.ts";
export { CoordinationError, type CoordinationErrorCode, isCoordinationError } from "../coordination/errors.ts";
export { type Key, keyOf } from "../coordination/key.ts";
export type {
  AcquireOptions,
  Guarantee,
  Holder,
  Lease,
  LockLoad,
  Locks,
  ReleaseOutcome,
  TryOptions,
} from "../coordination/locks/locks.ts";
export type { LeaderEvents, LeaderWork } from "../coordination/locks/run-as-leader.ts";
export type { Beginning, Cursor, PolledItem } from "../coordination/watermarks/cursor.ts";
export type {
  AdvanceOutcome,
  Watermark,
  WatermarkOptions,
  WatermarkRecord,
} from "../coordination/watermarks/watermarks.ts";
export type { Clock, Timer } from "../time/clock.ts";
export { type Random, systemRandom } from "../time/random.ts";
export { systemClock } from "../time/system-clock.ts";
export {
  type OpenClaimsOptions,
  type OpenLocksOptions,
  openClaims,
  openLocks,
  openWatermarks,
  type RunAsLeaderOptions,
  runAsLeader,
  type Watermarks,
} from "./open.ts";
export type { OpenOptions } from "./options.ts";
