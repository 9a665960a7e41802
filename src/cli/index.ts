export { type ApiArguments, apiUsage, readApiArguments } from "./api.ts";
