import type { ResourceType } from "./object.ts";

/** v1 Namespace. */
export const namespaces: ResourceType = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};
