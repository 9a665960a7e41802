/** How the agent is kept apart from us on the machine that both run on. */
export interface Isolation {
  /** It has its own process list and mounts: made as root, or by an ordinary user in a user namespace. */
  readonly namespaces: "root" | "user" | undefined;
  /** It runs as this user. Undefined: as ours. */
  readonly user: UserId | undefined;
  /** Whether it reaches the network. */
  readonly network: boolean;
}

export interface UserId {
  readonly uid: number;
  readonly gid: number;
}

export interface IsolationWish {
  /** Who the agent should be, if we are root. */
  readonly user: UserId | undefined;
  readonly network: boolean;
}

/** What is not protected, each a sentence for who starts us. Nothing: it is as far apart as one machine allows. */
export function gapsOf({ namespaces, user, network }: Isolation, wish: IsolationWish): readonly string[] {
  const gaps: string[] = [];
  if (!namespaces && !user) {
    gaps.push(
      "The coding agent runs as our own user and sees our processes: it can read our tokens from /proc and from files. Allow user namespaces, or use agent.executor: job.",
    );
  }
  if (!namespaces) {
    gaps.push(
      "A process of the coding agent that leaves its session, closes its files and changes its environment is not found and goes on. Allow user namespaces, or use agent.executor: job.",
    );
  }
  if (namespaces && !user) {
    gaps.push(
      "The coding agent runs as our own user: it does not see our processes and data directory, but reads every other file that we can read.",
    );
  }
  if (network && !wish.network) {
    gaps.push(
      "The coding agent reaches the network, although agent.network is none: this machine allows no network namespace. Allow user namespaces, use agent.executor: job with a NetworkPolicy, or accept it with agent.network: host.",
    );
  }
  return gaps;
}
