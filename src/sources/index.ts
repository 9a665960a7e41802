export { alertmanager, alertmanagerReader } from "./alertmanager/alertmanager.ts";
export { type ProvenanceReading, readProvenance } from "./alertmanager/provenance-file.ts";
export type { Reporter } from "./alertmanager/reporters.ts";
export { generic } from "./generic/generic.ts";
export { type GitLabWebhookOptions, gitlabWebhooks } from "./gitlab/gitlab-webhooks.ts";
export { type FollowOptions, followKubernetes } from "./kubernetes/follow.ts";
export { kubernetesEvent } from "./kubernetes/kubernetes-event.ts";
