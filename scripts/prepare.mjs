/** npm runs this before it packs the package, and after an install from its folder or repository: it builds everything. */
import { ensureBuilt, ensureInstalled, requireNode } from "./setup.mjs";

requireNode();
// A folder that another package installs is only linked: it may have no dependencies yet.
await ensureInstalled();
await ensureBuilt();
