export type * from "./coder/coder.ts";
export { checkPatch } from "./git/check-patch.ts";
export { type GitWorkshopOptions, gitWorkshop } from "./git/git-workshop.ts";
export type * from "./git/workshop.ts";
export type * from "./gitlab/gitlab.ts";
export type * from "./jira/jira.ts";
export { isRemoteError, RemoteError, type RemoteErrorKind } from "./remote-error.ts";
