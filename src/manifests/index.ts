export { type Alert, alerts, prometheusRules } from "./alerts.ts";
export { grafanaDashboard, panels } from "./dashboard.ts";
export { ackIdentity, approvalIdentity, identityPolicies, resumeIdentity } from "./identity.ts";
export { agentManifests, consoleManifests, manifests, usualManifests, version } from "./manifests.ts";
export { type Permission, type PermissionScope, permissions, type StageName, stages } from "./permissions.ts";
export type { Places } from "./rbac.ts";
export {
  digestPattern,
  imageProblem,
  latestPattern,
  type ReleaseOptions,
  releaseKind,
  releaseObjects,
  tagPattern,
} from "./release.ts";
export type { ManifestOptions } from "./workloads.ts";
