import { signal } from "@preact/signals";
import type { LogInWay, OperationName, Session } from "../../src/console/wire.ts";
import { ApiError, getJson } from "./api.ts";
import { setServerTime } from "./time.ts";

export type SessionState =
  | { readonly kind: "loading" }
  | { readonly kind: "signed-out"; readonly ways: readonly LogInWay[] }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "signed-in"; readonly session: Session };

export const sessionState = signal<SessionState>({ kind: "loading" });

export async function loadSession(): Promise<void> {
  try {
    const session = await getJson<Session>("/session");
    setServerTime(session.serverTime);
    sessionState.value = { kind: "signed-in", session };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401)
      sessionState.value = { kind: "signed-out", ways: error.problem.logIn ?? ["link", "token"] };
    // Who is signed in does not change while the server restarts.
    else if (sessionState.value.kind !== "signed-in")
      sessionState.value = { kind: "unreachable", message: error.message };
  }
}

/** Whether the caller has the right to this operation. The server decides again. */
export function mayPerform(operation: OperationName): boolean {
  const state = sessionState.value;
  return state.kind === "signed-in" && state.session.operations.includes(operation);
}
