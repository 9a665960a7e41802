export { type Check, remaining } from "./checks.ts";
export { type Allowed, type Blocked, type Decision, decide } from "./decide.ts";
export { explain } from "./explanation.ts";
export { foldAck, foldEnd, freeHolder, historyOf, isFolded, withHolder } from "./fold.ts";
export { lastingPauses, type Pause } from "./pauses.ts";
export type { ActionRequest, Situation } from "./request.ts";
export { defaultPolicy, type FailureBackoff, type PolicySettings } from "./settings.ts";
