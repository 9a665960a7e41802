import { useState } from "preact/hooks";
import type { LogInWay } from "../../../src/console/wire.ts";
import { ApiError, logIn } from "../api.ts";
import { location } from "../router.ts";
import { loadSession } from "../session.ts";
import { Command } from "./empty-state.tsx";

/** Why a log-in failed that ended at this page, by the parameter of its path. */
const failures: ReadonlyMap<string | null, string> = new Map([
  ["link", "This link is not valid: a link works once, for 10 minutes."],
  ["provider", "The identity provider refused the log-in, or it took longer than 10 minutes."],
]);

/** The ways to log in that the server offers. */
export function LogIn({ ways }: { readonly ways: readonly LogInWay[] }) {
  const failure = failures.get(location.value.query.get("log-in-failed"));
  return (
    <main class="gate">
      <h1>Log in to Interlock</h1>
      {failure !== undefined && (
        <p class="notice" data-tone="bad" role="alert">
          {failure}
        </p>
      )}
      {ways.includes("oidc") && (
        <a class="button" data-primary href="/login/oidc">
          Log in with your identity provider
        </a>
      )}
      {ways.includes("link") && (
        <>
          <p>On the machine where Interlock runs, print a link that logs you in. It works once, for 10 minutes.</p>
          <Command text="interlock users link" />
        </>
      )}
      {ways.includes("token") && <TokenForm />}
    </main>
  );
}

function TokenForm() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const submit = async () => {
    try {
      await logIn(token.trim());
      await loadSession();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <details class="token-form">
      <summary>Log in with a token</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label class="field">
          <span>Token of the API server</span>
          <input
            type="password"
            autoComplete="off"
            required
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        {problem !== undefined && (
          <p class="notice" data-tone="bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button">
          Log in
        </button>
      </form>
    </details>
  );
}
