export { byAge } from "./by-age.ts";
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
  type UpdateOutcome,
  type WatchEvent,
  type WatchQuery,
  type WriteCall,
} from "./client.ts";
export { actAs } from "./connection/act-as.ts";
export type { Connection, CredentialSource, Credentials } from "./connection/connection.ts";
export { inCluster } from "./connection/in-cluster.ts";
export { fromKubeconfig } from "./connection/kubeconfig.ts";
export { listContexts } from "./connection/kubeconfig-files.ts";
export { type KubeEvent, kubeEvents } from "./event.ts";
export { exactTimeHeader } from "./exact-time.ts";
export { type HttpClient, type HttpClientLimits, type HttpClientOptions, httpClient } from "./http/http-client.ts";
export { isJsonDeeper } from "./json-depth.ts";
export { type KubeLease, leases, microTime } from "./lease.ts";
export { type LinearPattern, linearPattern } from "./linear-pattern.ts";
export { Multimap } from "./multimap.ts";
export { nameHash } from "./name-hash.ts";
export { namespaces } from "./namespace.ts";
export {
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type ResourceType,
  refOf,
} from "./object.ts";
export type { PodLogQuery, PodLogs } from "./pod-log.ts";
export {
  type ChangeEvent,
  type ChangeHandler,
  Controller,
  type ControllerEvents,
  type ControllerGroup,
  type ControllerOptions,
  controllerGroup,
  type Decision,
  decision,
  deleteExactly,
  type IndexFunction,
  type Informer,
  type InformerOptions,
  informer,
  iso,
  type KeySource,
  keysFrom,
  labelKey,
  lostEventMs,
  type Mirror,
  nothing,
  OwnWrites,
  objectKey,
  onlySynced,
  type Performed,
  type Problem,
  type ProblemKind,
  type ReconcileSteps,
  Reflector,
  type ReportProblem,
  type RunningControllers,
  reconcile,
  reconcileCached,
  refOfKey,
  requeueAfter,
  requeueAt,
  type Skipped,
  type StallWatch,
  type StopOptions,
  soonest,
  stalledCondition,
  type WorkOutcome,
  type WorkQueueOptions,
  writeStatus,
} from "./runtime/index.ts";
export { maxYamlDepth, yamlDepth } from "./yaml-depth.ts";
