import { computed, signal } from "@preact/signals";
import type { LogInWay, OperationName, RowKind, Session } from "../../src/console/wire.ts";
import { ApiError, getJson } from "./api.ts";
import { setServerTime } from "./time.ts";

export type SessionState =
  | { readonly kind: "loading" }
  | { readonly kind: "logged-out"; readonly ways: readonly LogInWay[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "logged-in"; readonly session: Session };

export const sessionState = signal<SessionState>({ kind: "loading" });

export async function loadSession(): Promise<void> {
  try {
    const session = await getJson<Session>("/session");
    setServerTime(session.serverTime);
    sessionState.value = { kind: "logged-in", session };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isLoggedIn = sessionState.value.kind === "logged-in";
    if (error.status === 401)
      sessionState.value = { kind: "logged-out", ways: error.problem.logIn ?? ["link", "token"] };
    // A session outlives a restart of the server.
    else if (!isLoggedIn) sessionState.value = { kind: "failed", message: error.message };
  }
}

/** Whether the caller has the right to this operation. The server decides again. */
export function mayPerform(operation: OperationName): boolean {
  const state = sessionState.value;
  return state.kind === "logged-in" && state.session.operations.includes(operation);
}

/** The kinds of rows that the caller may read; none without a session. */
export const readableKinds = computed<readonly RowKind[]>(() =>
  sessionState.value.kind === "logged-in" ? sessionState.value.session.kinds : [],
);
