export { type ManifestOptions, manifests, usualManifests } from "./manifests.ts";
export { type Permission, type Place, permissions, type StageName, stages } from "./permissions.ts";
export type { Places } from "./rbac.ts";
