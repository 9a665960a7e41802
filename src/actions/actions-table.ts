import type { Action, Right } from "./action.ts";
import { actions } from "./actions.ts";

/** The reference of all actions in Markdown, for docs/actions.md. */
export function actionsTable(): string {
  return actions.map(section).join("\n");
}

function section(action: Action): string {
  const { name, description, verification, targetKinds, parameters, required = [], rights, alerts } = action;
  const rows = Object.entries(parameters).map(([parameter, { type, default: value, description: purpose = "" }]) => {
    const standard = required.includes(parameter) ? "required" : value === undefined ? "" : `\`${value}\``;
    return `| \`${parameter}\` | ${type} | ${standard} | ${purpose} |\n`;
  });
  const table =
    rows.length > 0 ? `\n| parameter | type | default | meaning |\n|---|---|---|---|\n${rows.join("")}` : "";
  return `### ${name}

${description} It succeeds when ${verification}.

* Targets: ${targetKinds?.join(", ") ?? "any kind"}
* Alerts: ${alerts.length > 0 ? alerts.map((alert) => `\`${alert}\``).join(", ") : "none; for operators"}
* Rights: ${rights.map(rightText).join("; ")}
${table}`;
}

function rightText({ group, resource, verbs, where, name }: Right): string {
  const places = { target: "", runs: " in the namespace of runs", everywhere: " in all namespaces", cluster: "" };
  const what = group ? `${resource}.${group}` : resource;
  return `${verbs.join(", ")} \`${what}\`${name ? ` named \`${name}\`` : ""}${places[where]}`;
}
