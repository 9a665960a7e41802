import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/kube/index.ts";
import { agentManifests, consoleManifests, manifests, stages, usualManifests } from "../../src/manifests/index.ts";

type Rights = Readonly<Record<string, string>>;

/**
 * Who may do what, written down a second time: `KIND in NAMESPACE` or `KIND everywhere`, with all verbs. A right that is added
 * to or removed from `permissions` must be added or removed here, too, as a second review.
 */
const expected: Readonly<Record<string, Rights>> = {
  "interlock-gateway": {
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get list watch",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list watch create update delete",
    "remediationrequests.kubernaut.ai in kubernaut-system": "get list watch create",
    "remediationrequests/status.kubernaut.ai in kubernaut-system": "patch",
    "codingtasks.kubernaut.ai in kubernaut-system": "get create",
    "events in kubernaut-system": "create",
    "notificationrequests.kubernaut.ai in kubernaut-system": "create",
    "configmaps in interlock-watermarks": "get create update",
    "configmaps in kubernaut-system": "get",
    "pods everywhere": "get",
    "services everywhere": "get",
    "persistentvolumeclaims everywhere": "get",
    "persistentvolumes everywhere": "get",
    "resourcequotas everywhere": "get",
    "replicationcontrollers everywhere": "get",
    "nodes everywhere": "get list watch",
    "events everywhere": "list watch",
    "replicasets.apps everywhere": "get",
    "deployments.apps everywhere": "get",
    "statefulsets.apps everywhere": "get",
    "daemonsets.apps everywhere": "get",
    "jobs.batch everywhere": "get",
    "cronjobs.batch everywhere": "get",
    "horizontalpodautoscalers.autoscaling everywhere": "get",
    "poddisruptionbudgets.policy everywhere": "get",
    "ingresses.networking.k8s.io everywhere": "get",
    "apiservices.apiregistration.k8s.io everywhere": "get",
  },
  "interlock-orchestrator": {
    "pods everywhere": "get",
    "services everywhere": "get",
    "persistentvolumeclaims everywhere": "get",
    "persistentvolumes everywhere": "get",
    "resourcequotas everywhere": "get",
    "replicationcontrollers everywhere": "get",
    "nodes everywhere": "get",
    "replicasets.apps everywhere": "get",
    "deployments.apps everywhere": "get",
    "statefulsets.apps everywhere": "get",
    "daemonsets.apps everywhere": "get",
    "jobs.batch everywhere": "get",
    "cronjobs.batch everywhere": "get",
    "horizontalpodautoscalers.autoscaling everywhere": "get",
    "poddisruptionbudgets.policy everywhere": "get",
    "ingresses.networking.k8s.io everywhere": "get",
    "apiservices.apiregistration.k8s.io everywhere": "get",
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get list watch",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list watch create update delete",
    "remediationrequests.kubernaut.ai everywhere": "get list watch patch delete",
    "remediationrequests/status.kubernaut.ai everywhere": "update",
    "workflowexecutions.kubernaut.ai everywhere": "get list watch create patch delete",
    "remediationapprovalrequests.kubernaut.ai everywhere": "get list watch create",
    "remediationapprovalrequests/status.kubernaut.ai everywhere": "update",
    "events everywhere": "create",
    "notificationrequests.kubernaut.ai everywhere": "create",
    "automationpauses.kubernaut.ai everywhere": "get list watch patch",
    "remediationworkflows.kubernaut.ai everywhere": "get list watch",
    "remediationtargets.kubernaut.ai in kubernaut-workflows": "get list watch patch",
    "validatingadmissionpolicies.admissionregistration.k8s.io everywhere": "get",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io everywhere": "get",
  },
  "interlock-executor": {
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get list watch",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list create update delete",
    "workflowexecutions.kubernaut.ai everywhere": "get list watch patch delete",
    "workflowexecutions/status.kubernaut.ai everywhere": "update",
    "notificationrequests.kubernaut.ai everywhere": "create",
    "automationpauses.kubernaut.ai everywhere": "get list watch",
    "remediationworkflows.kubernaut.ai everywhere": "get list watch",
    "events everywhere": "create",
    "remediationapprovalrequests.kubernaut.ai in kubernaut-system": "get",
    "remediationtargets.kubernaut.ai in kubernaut-workflows": "get list watch create delete",
    "remediationtargets/status.kubernaut.ai in kubernaut-workflows": "update",
    "pipelineruns.tekton.dev in kubernaut-workflows": "get list watch create patch delete",
    "taskruns.tekton.dev in kubernaut-workflows": "get list watch",
    "jobs.batch in kubernaut-workflows": "get list watch create patch delete",
    "pods in kubernaut-workflows": "get list watch",
    "serviceaccounts in kubernaut-workflows": "get",
    "validatingadmissionpolicies.admissionregistration.k8s.io everywhere": "get",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io everywhere": "get",
  },
  "interlock-notify": {
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list watch create update delete",
    "notificationrequests.kubernaut.ai everywhere": "get list watch create delete",
    "notificationrequests/status.kubernaut.ai everywhere": "update",
    "remediationrequests.kubernaut.ai everywhere": "get list watch",
    "events everywhere": "create",
  },
  "interlock-agent": {
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list watch create update delete",
    "configmaps in interlock-watermarks": "get create update",
    "configmaps in kubernaut-system": "get",
    "codingtasks.kubernaut.ai in kubernaut-system": "get list watch create patch delete",
    "codingtasks/status.kubernaut.ai in kubernaut-system": "update",
    "events in kubernaut-system": "create",
    "notificationrequests.kubernaut.ai in kubernaut-system": "create",
    "automationpauses.kubernaut.ai everywhere": "get list watch",
    "jobs.batch in kubernaut-agents": "get watch create patch delete",
    "configmaps in kubernaut-agents": "get create delete",
    "pods in kubernaut-agents": "list",
    "serviceaccounts in kubernaut-agents": "get",
  },
  "interlock-console": {
    "customresourcedefinitions.apiextensions.k8s.io everywhere": "get list watch",
    "namespaces everywhere": "get",
    "leases.coordination.k8s.io in kubernaut-system": "get list create update delete",
    "remediationrequests.kubernaut.ai everywhere": "get list watch",
    "workflowexecutions.kubernaut.ai everywhere": "get list watch",
    "remediationapprovalrequests.kubernaut.ai everywhere": "get list watch",
    "automationpauses.kubernaut.ai everywhere": "get list watch",
    "remediationtargets.kubernaut.ai everywhere": "get list watch",
    "codingtasks.kubernaut.ai everywhere": "get list watch",
    "notificationrequests.kubernaut.ai everywhere": "get list watch",
    "tokenreviews.authentication.k8s.io everywhere": "create",
    "users everywhere": "impersonate",
    "groups everywhere": "impersonate",
    "serviceaccounts everywhere": "impersonate",
  },
  "interlock-coder": { "configmaps in kubernaut-agents": "create" },
};

const all = [...[...manifests().values()].flat(), ...agentManifests(), ...consoleManifests()];

describe("each stage's verbs per kind", () => {
  it.each([...stages.map((stage) => `interlock-${stage}`), "interlock-coder"])(
    "of %s are those of the table, and no more",
    (account) => {
      expect(rightsOf(account)).toEqual(expected[account]);
    },
  );

  it("are given to no other account", () => {
    const accounts = all.flatMap((object) => subjectsOf(object).map(({ name }) => name));

    expect([...new Set(accounts)].sort()).toEqual(Object.keys(expected).sort());
  });

  it("let no stage write ConfigMaps where stages have their settings and rules", () => {
    const { locks, incidents } = usualManifests.places;
    const writing = Object.keys(expected).flatMap((account) =>
      Object.entries(rightsOf(account))
        .filter(
          ([what]) =>
            what === "configmaps everywhere" || [locks, incidents].some((ns) => what === `configmaps in ${ns}`),
        )
        .filter(([, verbs]) => verbs !== "get")
        .map(([what, verbs]) => `${account}: ${what}: ${verbs}`),
    );

    expect(writing).toEqual([]);
  });
});

interface Role extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** What the bindings, and the roles that they name, give to a service account. */
function rightsOf(account: string): Rights {
  const rights: Record<string, string> = {};
  for (const binding of all.filter((object) => subjectsOf(object).some(({ name }) => name === account))) {
    const { roleRef } = binding as unknown as { roleRef: { kind: string; name: string } };
    const { namespace } = binding.metadata;
    const role = all.find(
      ({ kind, metadata }) =>
        kind === roleRef.kind &&
        metadata.name === roleRef.name &&
        (kind === "ClusterRole" || metadata.namespace === namespace),
    ) as Role | undefined;
    for (const { apiGroups, resources, verbs } of role?.rules ?? []) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          const kind = group === "" ? resource : `${resource}.${group}`;
          const what = namespace === undefined ? `${kind} everywhere` : `${kind} in ${namespace}`;
          expect(rights, `${account}: ${what} is given twice`).not.toHaveProperty([what]);
          rights[what] = verbs.join(" ");
        }
      }
    }
  }
  return rights;
}

function subjectsOf(object: KubeObject): readonly { readonly name: string }[] {
  if (object.kind !== "RoleBinding" && object.kind !== "ClusterRoleBinding") return [];
  return (object as unknown as { subjects: readonly { name: string }[] }).subjects;
}
