export interface ReplicationSettings {
  /** `min-replicas-to-write`, or undefined where we may not ask. */
  readonly replicas: string | undefined;
  /** `min-replicas-max-lag`, in seconds. */
  readonly lag: string | undefined;
}

/** What locks on a Redis with replicas are worth, in sentences for people. */
export function replicationLimits({ replicas, lag }: ReplicationSettings): readonly string[] {
  const always =
    "Redis copies to its replicas after it has answered: a failover may forget a lock that was just granted. For as long as a lease may last after a failover nothing is granted, and fences keep late writes out.";
  if (replicas === undefined || lag === undefined) {
    return [always, "We may not read min-replicas-to-write (CONFIG GET): make sure that it is 1 or more."];
  }
  if (Number(replicas) < 1) {
    const risk = "a primary that is cut off from the others goes on granting locks, beside the new one";
    return [always, `min-replicas-to-write is ${replicas}: ${risk}. Set it to 1 or more.`];
  }
  return [always, `min-replicas-to-write is ${replicas}: a primary that is cut off stops granting after ${lag} s.`];
}
