/**
 * npm runs this before it packs the package, and after an install from its folder or repository: it builds everything. Not so
 * where INTERLOCK_PREPARE is no: tests and npm start build what they need by themselves.
 */
import { ensureBuilt, ensureInstalled, requireNode } from "./setup.mjs";

if (process.env["INTERLOCK_PREPARE"] !== "no") {
  requireNode();
  // A folder that another package installs is only linked: it may have no dependencies yet.
  await ensureInstalled();
  await ensureBuilt({ withTypes: true });
}
