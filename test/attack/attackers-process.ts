import { attackAll } from "./attackers.ts";

// attackers-process.ts GATEWAY TOKEN API API-TOKEN CONSOLE SEED ONLY: attacks until SIGTERM, then prints what was answered, in one line.
const [gateway = "", token = "", api = "", apiToken = "", console = "", seed = "1", only = ""] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const tally = await attackAll({ gateway, token, api, apiToken, console }, Number(seed), only, stop.signal);
process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit(0));
