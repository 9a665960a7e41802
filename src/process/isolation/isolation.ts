/** How a command is separated from us on the machine that both run on. */
export interface Isolation {
  /** It has its own process list and mounts, created by root or by an ordinary user in a user namespace. */
  readonly namespaces: "root" | "user" | undefined;
  /** The user it runs as. Undefined: ours. */
  readonly user: UserId | undefined;
  /** Whether it can reach the network. */
  readonly network: boolean;
}

export interface UserId {
  readonly uid: number;
  readonly gid: number;
}

export interface IsolationRequest {
  /** The user that the command runs as if we are root. Default: `nobody`. */
  readonly user: UserId | undefined;
  readonly network: boolean;
}
