import { textOrEmpty, z } from "../../../schema/index.ts";
import { isRemoteError } from "../../remote-error.ts";
import { parseResponse, type Rest } from "../../rest/rest-client.ts";
import { isSameStatus, type MoveOutcome } from "../jira.ts";
import { issuePath } from "./read-issue.ts";

interface Move {
  readonly key: string;
  /** The target status. */
  readonly status: string;
}

/** Moves an issue by any transition that leads to the status. */
export async function moveIssue(rest: Rest, move: Move, signal: AbortSignal | undefined): Promise<MoveOutcome> {
  const path = issuePath(move.key);
  const from = await readStatus(rest, path, signal);
  if (isSameStatus(from, move.status)) return { kind: "moved" };

  const { body } = await rest({ method: "GET", path: `${path}/transitions`, signal });
  const { transitions } = parseResponse(transitionsSchema, body, "Jira's transitions");
  const open = transitions.filter(({ isAvailable }) => isAvailable);
  const transition = transitionTo(open, move.status);
  if (!transition) return { kind: "impossible", from, reachable: [...new Set(open.map(({ to }) => to.name))] };

  try {
    const order = { transition: { id: transition.id } };
    await rest({ method: "POST", path: `${path}/transitions`, body: order, signal });
  } catch (error) {
    // Another client may have moved it first; then it already has the status.
    const isDeclined = isRemoteError(error) && (error.status === 400 || error.status === 409);
    if (!isDeclined || !isSameStatus(await readStatus(rest, path, signal), move.status)) throw error;
  }
  return { kind: "moved" };
}

/** By the status it leads to; the names of transitions differ between workflows. */
function transitionTo(transitions: readonly Transition[], status: string): Transition | undefined {
  return (
    transitions.find(({ to }) => isSameStatus(to.name, status)) ??
    transitions.find(({ to }) => to.id === status) ??
    transitions.find(({ name }) => isSameStatus(name, status))
  );
}

const transitionSchema = z.object({
  id: z.string(),
  name: textOrEmpty,
  isAvailable: z.boolean().catch(true),
  to: z
    .object({ id: textOrEmpty, name: textOrEmpty })
    .nullish()
    .transform((to) => to ?? { id: "", name: "" }),
});
type Transition = z.output<typeof transitionSchema>;

const transitionsSchema = z.object({ transitions: z.array(transitionSchema) });
const statusSchema = z.object({ fields: z.object({ status: z.object({ name: z.string() }) }) });

async function readStatus(rest: Rest, path: string, signal: AbortSignal | undefined): Promise<string> {
  const { body } = await rest({ method: "GET", path, query: { fields: "status" }, signal });
  return parseResponse(statusSchema, body, "Jira's issue").fields.status.name;
}
