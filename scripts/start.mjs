/** `npm start` and `npm run interlock`: installs and builds what is missing or stale, then runs the program. */
import { ensureBuilt, ensureInstalled, program, requireNode } from "./setup.mjs";

requireNode();
await ensureInstalled();
await ensureBuilt({ withTypes: false });
// In this process, not in a child: a signal that npm forwards reaches the server itself.
await import(program);
