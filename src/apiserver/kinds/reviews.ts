import { defineResource } from "./define-resource.ts";

const kinds = {
  "authorization.k8s.io": [
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
    "LocalSubjectAccessReview",
  ],
  "authentication.k8s.io": ["TokenReview", "SelfSubjectReview"],
};

/** Resources that respond to reviews and have no objects: they are in discovery, and not in the registry. */
export const reviewResources = Object.entries(kinds).flatMap(([group, names]) =>
  names.map((kind) => {
    const namespaced = kind.startsWith("Local");
    return defineResource({ group, kind, plural: `${kind.toLowerCase()}s`, namespaced, verbs: ["create"] });
  }),
);
