import type { KubeObject } from "../../kube/index.ts";
import {
  automationPauses,
  codingTasks,
  type Kind,
  notificationRequests,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  workflowExecutions,
} from "../../resources/index.ts";
import { nearest } from "../../schema/index.ts";
import { MisuseError } from "../command.ts";
import { kindNames } from "../declare/declare.ts";

export type KindName = (typeof kindNames)[number];

/** One of our kinds, with its name on the command line. */
export interface NamedKind {
  readonly kindName: KindName;
  readonly kind: Kind;
}

const kinds: Readonly<Record<KindName, Kind>> = {
  incidents: remediationRequests,
  executions: workflowExecutions,
  targets: remediationTargets,
  workflows: remediationWorkflows,
  pauses: automationPauses,
  approvals: remediationApprovalRequests,
  notices: notificationRequests,
  tasks: codingTasks,
};

/** The kind that `text` names: our name for it, in the singular too, or a name that kubectl accepts. */
function findKind(text: string): NamedKind | undefined {
  const lower = text.toLowerCase();
  return kindNames
    .map((kindName) => ({ kindName, kind: kinds[kindName] }))
    .find((one) => spellings(one).includes(lower));
}

/** The same, for an argument that must be a kind. */
export function readKind(text: string): NamedKind {
  const found = findKind(text);
  if (found) return found;
  const meant = nearest(text, kindNames);
  const hint = meant ? `did you mean ${meant}?` : `write one of ${kindNames.join(", ")}`;
  throw new MisuseError(`unknown kind "${text}" (${hint})`);
}

function spellings({ kindName, kind }: NamedKind): readonly string[] {
  const [group = "", version = ""] = kind.apiVersion.split("/");
  const names = [kind.plural, kind.singular].flatMap((name) => [
    name,
    `${name}.${group}`,
    `${name}.${version}.${group}`,
  ]);
  return [kindName, kindName.slice(0, -1), kind.shortName, ...names];
}

/** The name of an object as `kubectl get` prints and accepts it: `remediationrequest.kubernaut.ai/NAME`. */
export function kubectlName({ singular, apiVersion }: Kind, { metadata }: KubeObject): string {
  return `${singular}.${apiVersion.split("/")[0]}/${metadata.name}`;
}

/** Splits `incident/rr-abc`, or `remediationrequest.kubernaut.ai/rr-abc`. Undefined if none of our kinds precedes the slash. */
export function splitKind(text: string): (NamedKind & { readonly name: string }) | undefined {
  const slash = text.indexOf("/");
  const found = slash < 0 ? undefined : findKind(text.slice(0, slash));
  return found && { ...found, name: text.slice(slash + 1) };
}

/** The name in an argument that may be written as kubectl writes names, with the kind before it. */
export function bareName(text: string): string {
  return splitKind(text)?.name ?? text;
}
