export { findExecution, findIncident, findTasks, type ObjectName, parseGitTarget, readObjectName } from "./find.ts";
