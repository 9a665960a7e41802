import type { Isolation, IsolationRequest } from "../../../process/index.ts";

/** The gaps in the isolation, each a sentence for the operator. None: the coder is as separate as one machine allows. */
export function isolationGaps(
  { namespaces, user, network }: Isolation,
  requested: IsolationRequest,
): readonly string[] {
  const gaps: string[] = [];
  if (!namespaces && !user) {
    gaps.push(
      "The coder runs as our own user and sees our processes: it can read our tokens from /proc and from files. Allow user namespaces, or use agent.executor: job.",
    );
  }
  if (!namespaces) {
    gaps.push(
      "A process of the coder that leaves its session, closes its files and changes its environment is not found and keeps running. Allow user namespaces, or use agent.executor: job.",
    );
  }
  if (namespaces && !user) {
    gaps.push(
      "The coder runs as our own user: it does not see our processes and data directory, but reads every other file that we can read.",
    );
  }
  if (network && !requested.network) {
    gaps.push(
      "The coder reaches the network, although agent.network is none: this machine allows no network namespace. Allow user namespaces, use agent.executor: job with a NetworkPolicy, or accept it with agent.network: host.",
    );
  }
  return gaps;
}
