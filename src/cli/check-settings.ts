// A module of its own, so that a command without settings does not load the code that checks them.
export { loadConfig } from "../config/index.ts";
