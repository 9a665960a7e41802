import { render } from "preact";
import { App } from "./app.tsx";
import { startKeys } from "./keys.ts";
import { startLive } from "./live/live.ts";
import { startRouter } from "./router.ts";
import { loadSession } from "./session.ts";
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
