/**
 * npm runs this before it packs the package, and after an install from its folder or repository: it builds everything. It does
 * nothing if INTERLOCK_PREPARE is "no": tests and npm start build their own parts.
 */
import { ensureBuilt, ensureInstalled, requireNode } from "./setup.mjs";

if (process.env["INTERLOCK_PREPARE"] !== "no") {
  requireNode();
  // A folder that another package installs is only linked: it may have no dependencies yet.
  await ensureInstalled();
  await ensureBuilt({ withTypes: true });
}
