import { defineAction, done, refuse, write } from "../action.ts";
import { readTarget } from "../target-object.ts";
import { cordonWrite, type Node } from "./node.ts";

export const cordonNode = defineAction<{ readonly target: Node | undefined }>({
  name: "cordon-node",
  version: "1.0.0",
  description: "Marks a node as unschedulable, so that no new pods are placed on it.",
  verification: "the node is unschedulable",
  targetKinds: ["node"],
  parameters: {},
  rights: [{ group: "", resource: "nodes", verbs: ["get", "update"], where: "cluster" }],
  alerts: ["KubeNodeReadinessFlapping"],
  cooldown: "1h",
  observe: async ({ target }, reader) => ({ target: await readTarget<Node>(target, reader) }),
  decide({ target: node }, { target, executionUid }) {
    if (!node) return refuse(`${target.text} does not exist`);
    return node.spec?.unschedulable
      ? done(`${target.text} is cordoned`)
      : write(cordonWrite(node, target, executionUid));
  },
});
