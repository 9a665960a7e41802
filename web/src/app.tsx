import { Shell } from "./components/shell.tsx";
import { SignIn } from "./components/sign-in.tsx";
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
      return <SignIn ways={state.ways} />;
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
