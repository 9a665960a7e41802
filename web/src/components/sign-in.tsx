import { useState } from "preact/hooks";
import type { LogInWay } from "../../../src/console/wire.ts";
import { ApiError, logIn } from "../api.ts";
import { loadSession } from "../session.ts";
import { Command } from "./empty-state.tsx";

/** How to sign in, in the ways that the server offers. */
export function SignIn({ ways }: { readonly ways: readonly LogInWay[] }) {
  return (
    <main class="gate">
      <h1>Sign in to Interlock</h1>
      {ways.includes("oidc") && (
        <a class="button" data-primary href="/login/oidc">
          Sign in with your identity provider
        </a>
      )}
      {ways.includes("link") && (
        <>
          <p>On the machine where Interlock runs, print a link that signs you in. It works once, for ten minutes.</p>
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
      <summary>Sign in with a token</summary>
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
          Sign in
        </button>
      </form>
    </details>
  );
}
