// Imported by itself where names are printed, so that a short command need not load the schemas of our kinds.
export { isNamed, shortNames } from "./short-name.ts";
