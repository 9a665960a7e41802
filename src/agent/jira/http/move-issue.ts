import { isRemoteError } from "../../remote-error.ts";
import { type Fields, fieldsOf } from "../../rest/fields.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { MoveOutcome } from "../jira.ts";
import { pathOf } from "./read-issue.ts";

interface Move {
  readonly key: string;
  /** Where it should stand. */
  readonly status: string;
}

/** Moves an issue by whatever transition leads there. */
export async function moveIssue(rest: Rest, move: Move, signal: AbortSignal | undefined): Promise<MoveOutcome> {
  const path = pathOf(move.key);
  const from = await statusOf(rest, path, signal);
  if (same(from, move.status)) return { kind: "moved" };

  const { body } = await rest({ method: "GET", path: `${path}/transitions`, signal });
  const offered = fieldsOf(body, "Jira's transitions").list("transitions");
  const open = offered.filter((transition) => transition.raw("isAvailable") !== false);
  const transition = transitionTo(open, move.status);
  if (!transition) return { kind: "impossible", from, reachable: [...new Set(open.map(targetOf))] };

  try {
    const order = { transition: { id: transition.text("id") } };
    await rest({ method: "POST", path: `${path}/transitions`, body: order, signal });
  } catch (error) {
    // Somebody was faster: what counts is where it stands now.
    const isDeclined = isRemoteError(error) && (error.status === 400 || error.status === 409);
    if (!isDeclined || !same(await statusOf(rest, path, signal), move.status)) throw error;
  }
  return { kind: "moved" };
}

/** By the status it leads to; workflows call their transitions what they like. */
function transitionTo(transitions: readonly Fields[], status: string): Fields | undefined {
  return (
    transitions.find((each) => same(targetOf(each), status)) ??
    transitions.find((each) => each.anyObject("to")?.anyText("id") === status) ??
    transitions.find((each) => same(each.anyText("name"), status))
  );
}

function targetOf(transition: Fields): string {
  return transition.anyObject("to")?.anyText("name") ?? "";
}

async function statusOf(rest: Rest, path: string, signal: AbortSignal | undefined): Promise<string> {
  const { body } = await rest({ method: "GET", path, query: { fields: "status" }, signal });
  return fieldsOf(body, "Jira's issue").object("fields").object("status").text("name");
}

function same(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
