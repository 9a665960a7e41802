import { type ActionInputs, type Decision, defineAction, done, refuse, write } from "../action.ts";
import { annotate, observeTarget, type TargetSnapshot, updateTarget } from "../target-object.ts";
import { cordonedBy, cordonWrite, type Node } from "./node.ts";

export const cordonNode = defineAction<TargetSnapshot<Node>>({
  name: "cordon-node",
  version: "1.0.0",
  description: "Marks a node as unschedulable, so that no new pods are placed on it.",
  verification: "the node is unschedulable",
  targetKinds: ["node"],
  parameters: {},
  rights: [{ group: "", resource: "nodes", verbs: ["get", "update"], where: "cluster" }],
  alerts: ["KubeNodeReadinessFlapping"],
  cooldown: "1h",
  observe: observeTarget,
  decide({ target: node }, { target, executionUid }) {
    if (!node) return refuse(`${target.text} does not exist`);
    return node.spec?.unschedulable
      ? done(`${target.text} is cordoned`)
      : write(cordonWrite(node, target, executionUid));
  },
});

export const uncordonNode = defineAction<TargetSnapshot<Node>>({
  name: "uncordon-node",
  version: "1.0.0",
  description:
    "Makes a node schedulable again that an action has cordoned. With force, also one that an operator cordoned.",
  verification: "the node is schedulable",
  targetKinds: ["node"],
  parameters: {
    force: { type: "boolean", default: false, description: "Also if no action of Interlock cordoned the node." },
  },
  rights: [{ group: "", resource: "nodes", verbs: ["get", "update"], where: "cluster" }],
  alerts: [],
  cooldown: "5m",
  observe: observeTarget,
  decide: decideUncordon,
});

function decideUncordon({ target: node }: TargetSnapshot<Node>, { target, parameters }: ActionInputs): Decision {
  if (!node) return refuse(`${target.text} does not exist`);
  if (!node.spec?.unschedulable) return done(`${target.text} is schedulable`);
  const isOurs = node.metadata.annotations?.[cordonedBy] !== undefined;
  if (!isOurs && parameters["force"] !== true) {
    return refuse(`${target.text} was not cordoned by an action: set force to uncordon it`);
  }
  const next: Node = {
    ...node,
    metadata: annotate(node.metadata, { [cordonedBy]: undefined }),
    spec: { ...node.spec, unschedulable: false },
  };
  return write(updateTarget(target, { observed: node, next, text: `uncordon ${target.text}` }));
}
