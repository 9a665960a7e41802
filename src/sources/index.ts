export { alertGroupsReader } from "./alertmanager/alert-groups.ts";
export { alertmanager, alertmanagerReader, grafanaReader } from "./alertmanager/alertmanager.ts";
export { readProvenance } from "./alertmanager/provenance-file.ts";
export { derivedKinds } from "./alertmanager/subject.ts";
export { generic } from "./generic/generic.ts";
export { gitlabWebhooks } from "./gitlab/gitlab-webhooks.ts";
export { kubernetesEvent } from "./kubernetes/event-signal.ts";
export { followKubernetes } from "./kubernetes/follow.ts";
export { openMappedReaders } from "./mapping/mapped-readers.ts";
