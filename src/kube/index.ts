export {
  type Call,
  type CreateOutcome,
  type DeleteOptions,
  type DeleteOutcome,
  type JsonPatchOperation,
  type KubeClient,
  KubeError,
  type KubeErrorCode,
  type List,
  type ListQuery,
  type Patch,
  type UpdateOutcome,
  type WatchEvent,
  type WatchQuery,
  type WriteCall,
} from "./client.ts";
export { type KubeLease, leases, microTime } from "./lease.ts";
export { type MemoryCluster, type MemoryClusterOptions, memoryCluster, type Verb } from "./memory/memory-client.ts";
export type { KubeObject, ObjectMeta, ObjectRef, OwnerReference, ResourceType } from "./object.ts";
