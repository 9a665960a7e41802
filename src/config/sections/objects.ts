import { backend, file, namespace, oneOf, text } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const objects = {
  server: setting(oneOf("embedded", "kubeconfig", "in-cluster"), {
    default: "embedded",
    env: "OBJECTS_SERVER",
    about:
      "The API server that keeps all objects: our own in this process, the one of `objects.kubeconfig`, or that of the cluster this pod runs in.",
  }),
  kubeconfig: optional(file(), {
    env: "INTERLOCK_KUBECONFIG",
    about:
      "The kubeconfig file of the API server, for commands and for stages that run alone; `up` brings its own server. `--kubeconfig` wins; without either it is the `kubeconfig` in the data directory, then the files of `KUBECONFIG`, merged as kubectl merges them.",
  }),
  context: optional(text("the name of a context"), {
    env: "INTERLOCK_KUBE_CONTEXT",
    about:
      "The context of `objects.kubeconfig`, or of the file of `KUBECONFIG`, if not its current one. `--context` wins.",
  }),
  namespace: optional(namespace(), {
    env: "INTERLOCK_NAMESPACE",
    about:
      "The namespace that commands such as `interlock get` list and search; all namespaces unless set. `--namespace` and `--all-namespaces` win.",
  }),
};

export const state = {
  backend: setting(backend(), {
    default: "kubernetes",
    env: "STATE_BACKEND",
    about: "The backend of claims and watermarks, and of locks unless `locks.backend` is set.",
  }),
};
