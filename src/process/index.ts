export { gitSettings, type HardenedGitOptions, hardenedGit } from "./git/hardened-git.ts";
export { type Git, type GitEnvironment, type GitOptions, type GitOutput, systemGit } from "./git/system-git.ts";
export { findClosedAncestor } from "./isolation/find-closed-ancestor.ts";
export { findIsolation } from "./isolation/find-isolation.ts";
export {
  type IsolatedRun,
  type Isolation,
  type IsolationRequest,
  isolatedCommand,
  type UserId,
  visibleWorkTree,
} from "./isolation/isolated-command.ts";
export { killAll } from "./kill-all.ts";
export { hasLockHolders, lockFile, signalLockHolders, underLock } from "./lock-holders.ts";
export { ProcessError, runChild } from "./run-child.ts";
