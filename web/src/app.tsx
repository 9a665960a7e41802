import { LogIn } from "./components/log-in.tsx";
import { Shell } from "./components/shell.tsx";
import { pages } from "./pages.ts";
import { loadSession, sessionState } from "./session.ts";

export function App() {
  const state = sessionState.value;
  switch (state.kind) {
    case "loading":
      return <div class="loading" />;
    case "logged-in":
      return <Shell pages={pages} session={state.session} />;
    case "logged-out":
      return <LogIn ways={state.ways} />;
    case "failed":
      return (
        <main class="gate">
          <h1>The console cannot be opened</h1>
          <p class="muted">{state.message}</p>
          <button type="button" class="button" data-primary onClick={() => void loadSession()}>
            Try again
          </button>
        </main>
      );
  }
}
