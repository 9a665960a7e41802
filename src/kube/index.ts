export { byAge } from "./by-age.ts";
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
export type { AdmissionPolicy } from "./embedded/api/admission.ts";
export { embeddedClient } from "./embedded/embedded-client.ts";
export { adminName } from "./embedded/http/authenticate.ts";
export { frozenJson } from "./embedded/json/frozen-json.ts";
export { kubeconfigFor } from "./embedded/kubeconfig.ts";
export { openFileSpill } from "./embedded/log/file-spill.ts";
export { openLogStore } from "./embedded/log/open-log-store.ts";
export { selfSigned } from "./embedded/self-signed.ts";
export { serveApi } from "./embedded/serve.ts";
export { printerColumn } from "./embedded/tables/printer-column.ts";
export { type KubeEvent, kubeEvents } from "./event.ts";
export type { Connection, CredentialSource, Credentials } from "./http/connection.ts";
export { type HttpClientLimits, type HttpClientOptions, httpClient } from "./http/http-client.ts";
export { inCluster } from "./http/in-cluster.ts";
export { fromKubeconfig } from "./http/kubeconfig.ts";
export { isJsonDeeper } from "./json-depth.ts";
export { type KubeLease, leases, microTime } from "./lease.ts";
export { type LinearPattern, linearPattern } from "./linear-pattern.ts";
export { nameHash } from "./name-hash.ts";
export { namespaces } from "./namespace.ts";
export {
  exactly,
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type ResourceType,
  refOf,
} from "./object.ts";
export {
  type ChangeEvent,
  type ChangeHandler,
  Controller,
  type ControllerEvents,
  type ControllerOptions,
  type IndexFunction,
  type Informer,
  type InformerOptions,
  informer,
  type KeySource,
  keysFrom,
  OwnWrites,
  objectKey,
  type Problem,
  type ProblemKind,
  type ReportProblem,
  refOfKey,
  type StallWatch,
  type StopOptions,
  stalledCondition,
  type WorkOutcome,
  WorkQueue,
  type WorkQueueOptions,
} from "./runtime/index.ts";
export { maxYamlDepth, yamlDepth } from "./yaml-depth.ts";
