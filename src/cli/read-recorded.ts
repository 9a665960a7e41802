// A module of its own, so that the libraries of the database are loaded at the first use.
export { readRecorded } from "../app/index.ts";
