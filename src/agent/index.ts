export type * from "./coder/coder.ts";
export type * from "./git/workshop.ts";
export type * from "./gitlab/gitlab.ts";
export type * from "./jira/jira.ts";
export { isRemoteError, RemoteError, type RemoteErrorKind } from "./remote-error.ts";
