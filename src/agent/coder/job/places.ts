/** Where things are in the pod of a coding agent. */
export const places = {
  /** What fetches and collects keep: repository and index. The agent does not have it. */
  work: "/run/interlock/work",
  /** The files. */
  tree: "/run/interlock/work/place/files",
  /** What fetch and collect are told. */
  order: "/run/interlock/order",
  /** What the agent is asked. */
  request: "/run/interlock/request",
  /** What the agent said: `stdout`, `stderr`, `code`. */
  said: "/run/interlock/said",
  /** GitLab's token, for fetch alone. */
  token: "/run/interlock/token",
  /** Where clients look for the account of their pod: collect alone. */
  account: "/var/run/secrets/kubernetes.io/serviceaccount",
} as const;
