export { EntryMaker } from "./entry.ts";
export { RequestError } from "./projection.ts";
export { readFilter } from "./row-filter.ts";
