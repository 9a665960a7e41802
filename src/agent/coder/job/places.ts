/** The folders in the pod of a coder. */
export const places = {
  /** Repository and index, for `fetch` and `collect`; not mounted for the coder. */
  work: "/run/interlock/work",
  /** The work tree. */
  tree: "/run/interlock/work/place/files",
  /** The input of `fetch` and `collect`. */
  order: "/run/interlock/order",
  /** The request to the coder. */
  request: "/run/interlock/request",
  /** The output of the coder: `stdout`, `stderr`, `code`. */
  output: "/run/interlock/output",
  /** GitLab's token, for `fetch` alone. */
  token: "/run/interlock/token",
  /** The Secret with the coder's variables, for `collect`: it redacts their values. */
  coderSecret: "/run/interlock/coder-secret",
  /** The service account of the pod, for `collect` alone. */
  account: "/var/run/secrets/kubernetes.io/serviceaccount",
} as const;
