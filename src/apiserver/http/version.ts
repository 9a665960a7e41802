/** What /version says: the API that we follow, not a release of Kubernetes. */
export const version = {
  major: "1",
  minor: "32",
  gitVersion: "v1.32.0-interlock",
  gitCommit: "embedded",
  gitTreeState: "clean",
  buildDate: "2024-12-11T17:59:15Z",
  goVersion: `node-${process.version}`,
  compiler: "v8",
  platform: `${process.platform}/${process.arch}`,
};
