export { linkPath } from "./http/log-in.ts";
export { type ConsoleServer, type ConsoleServerOptions, serveConsole } from "./http/server.ts";
export { readStaticFiles } from "./http/static-files.ts";
export type { Identity } from "./identity/identity.ts";
export { localIdentity } from "./identity/local-identity.ts";
export { isUserName, type LocalUsers, localUsers } from "./identity/local-users.ts";
export { type LoginLinks, loginLinks } from "./identity/login-links.ts";
export { keptSessionKey } from "./identity/session-key.ts";
export type { Role } from "./wire.ts";
