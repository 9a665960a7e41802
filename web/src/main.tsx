import { render } from "preact";
import { LogIn } from "./components/log-in.tsx";
import { Shell } from "./components/shell.tsx";
import { startKeys } from "./keys.ts";
import { startLive } from "./live/live.ts";
import { pages } from "./pages.ts";
import { startRouter } from "./router.ts";
import { loadSession, sessionState } from "./session.ts";
import { startTheme } from "./theme.ts";
import { startClock } from "./time.ts";

const place = document.getElementById("app");
if (!place) throw new Error("index.html has no #app");
startTheme();
startRouter();
startKeys();
startClock();
startLive();
void loadSession();
render(<App />, place);

function App() {
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
