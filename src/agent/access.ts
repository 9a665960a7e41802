/** Which merge requests from forks are served: those that a member asks for, none, or those of members. */
export type Forks = "onRequest" | "never" | "always";

/** The facts that decide whether a review or a command is carried out. */
export interface AccessRequest {
  /** The requesting user, for messages. */
  readonly username: string;
  /** The user's access level in the project, as GitLab reports it now; 0 for non-members. */
  readonly level: number;
  readonly minAccessLevel: number;
  readonly isFork: boolean;
  /** The user requested it in a comment; it was not triggered by a push. */
  readonly isRequested: boolean;
  readonly forks: Forks;
}

export interface AccessRefusal {
  readonly reason: "NotAMember" | "AccessTooLow" | "ForkNotRequested" | "ForksNotServed";
  /** A clause for messages. */
  readonly message: string;
}

/** Returns why a review or a command is not carried out; undefined if it is. */
export function accessRefusal(request: AccessRequest): AccessRefusal | undefined {
  const { username, level, minAccessLevel, isFork, isRequested, forks } = request;
  if (isFork && forks === "never") {
    return {
      reason: "ForksNotServed",
      message: "the merge request comes from a fork, and gitlab.forks is never",
    };
  }
  if (isFork && forks === "onRequest" && !isRequested) {
    const fix = "a member has to read the change and comment /copilot review";
    return {
      reason: "ForkNotRequested",
      message: `the merge request comes from a fork, and gitlab.forks is onRequest: ${fix}`,
    };
  }
  if (level >= minAccessLevel) return undefined;
  const needed = roleName(minAccessLevel);
  const fix = isRequested ? "" : "; a member may comment /copilot review";
  if (level === 0) {
    const message = `the author is not a member: ${username || "the user"} needs the role ${needed} in the project${fix}`;
    return { reason: "NotAMember", message };
  }
  const message = `${username || "the user"} has the role ${roleName(level)} and needs ${needed} (gitlab.minAccessLevel)${fix}`;
  return { reason: "AccessTooLow", message };
}

const roles: ReadonlyMap<number, string> = new Map([
  [5, "Minimal access"],
  [10, "Guest"],
  [15, "Planner"],
  [20, "Reporter"],
  [30, "Developer"],
  [40, "Maintainer"],
  [50, "Owner"],
]);

function roleName(level: number): string {
  return roles.get(level) ?? `access level ${level}`;
}
