/** Loaded with the first use: the database needs libraries of its own. */
export { readRecorded } from "../app/index.ts";
