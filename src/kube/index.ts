export { isAllowed } from "./access-review.ts";
export {
  type Call,
  type CreateCall,
  type CreateOutcome,
  type DeleteOptions,
  type DeleteOutcome,
  type EvictOptions,
  type EvictOutcome,
  type JsonPatchOperation,
  type KubeClient,
  KubeError,
  type KubeErrorCode,
  type List,
  type ListQuery,
  type Patch,
  type PodLogQuery,
  type PodLogs,
  type UpdateOutcome,
  type WatchEvent,
  type WatchQuery,
  type WriteCall,
} from "./client.ts";
export { actAs, type Connection, type CredentialSource, type Credentials } from "./connection/connection.ts";
export { inCluster } from "./connection/in-cluster.ts";
export { fromKubeconfig } from "./connection/kubeconfig.ts";
export { listContexts } from "./connection/kubeconfig-files.ts";
export {
  type CrdVersion,
  type CustomResourceDefinition,
  customResourceDefinitions,
  type PrinterColumn,
  type StructuralSchema,
  type ValidationRule,
} from "./custom-resource-definition.ts";
export { draftKubeEvent, type KubeEvent, kubeEvents } from "./event.ts";
export { type HttpClient, type HttpClientLimits, type HttpClientOptions, httpClient } from "./http/http-client.ts";
export { exactTimeHeader } from "./http/server-time.ts";
export { endOfString, isJsonDeeper } from "./json-depth.ts";
export { type KubeLease, leases, microTime } from "./lease.ts";
export { type LinearPattern, linearPattern } from "./linear-pattern.ts";
export { Multimap, setNewest } from "./multimap.ts";
export {
  byAge,
  exactly,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  labelKey,
  nameHash,
  namespaces,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  objectKey,
  type ResourceType,
  refOf,
  refOfKey,
} from "./object.ts";
export {
  Controller,
  type ControllerOptions,
  type KeySource,
  keysFrom,
  onlySynced,
  type Skipped,
  type StallWatch,
  type StopOptions,
} from "./runtime/controller.ts";
export { type ControllerGroup, controllerGroup, type RunningControllers } from "./runtime/controller-group.ts";
export { type Decision, decision, nothing, requeueAfter, requeueAt, soonest } from "./runtime/decision.ts";
export { type Informer, type InformerOptions, informer } from "./runtime/informer.ts";
export type { ChangeEvent, ChangeHandler, IndexFunction } from "./runtime/object-cache.ts";
export { stalledCondition } from "./runtime/only-stall-change.ts";
export { OwnWrites } from "./runtime/own-writes.ts";
export { errorMessage, type Problem, type ProblemKind, problemLogger, type ReportProblem } from "./runtime/problem.ts";
export { lostEventMs, type Performed, type ReconcileSteps, reconcile, reconcileCached } from "./runtime/reconcile.ts";
export { type Mirror, Reflector } from "./runtime/reflector.ts";
export type { WorkOutcome, WorkQueueOptions } from "./runtime/work-queue.ts";
export { deleteExactly, iso, patchAtVersion, writeStatus } from "./runtime/writes.ts";
export { maxYamlDepth, yamlDepth } from "./yaml-depth.ts";
