import { Command } from "./components/empty-state.tsx";
import { Shell } from "./components/shell.tsx";
import { pages } from "./pages.ts";
import { loadSession, sessionState } from "./session.ts";

export function App() {
  const state = sessionState.value;
  switch (state.kind) {
    case "loading":
      return <div class="loading" />;
    case "signed-in":
      return <Shell pages={pages} session={state.session} />;
    case "signed-out":
      return <SignIn />;
    case "unreachable":
      return (
        <main class="gate">
          <h1>The server does not respond</h1>
          <p class="muted">{state.message}</p>
          <button type="button" class="button" data-primary onClick={() => void loadSession()}>
            Try again
          </button>
        </main>
      );
  }
}

function SignIn() {
  return (
    <main class="gate">
      <h1>Sign in to Interlock</h1>
      <p>On the machine where Interlock runs, print a link that signs you in. It works once, for ten minutes.</p>
      <Command text="interlock users link" />
    </main>
  );
}
