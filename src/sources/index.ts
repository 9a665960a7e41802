export { alertmanager } from "./alertmanager/alertmanager.ts";
export { generic } from "./generic/generic.ts";
export { kubernetesEvent } from "./kubernetes/kubernetes-event.ts";
