import { describe, expect, it } from "vitest";
import { isCodeVariable } from "./code-variables.ts";

describe("the value of a variable can become code", () => {
  it.each([
    ...["PATH", "HOME", "LD_PRELOAD", "BASH_ENV", "PYTHONSTARTUP", "NODE_OPTIONS", "GIT_SSH_COMMAND", "RUBYOPT"],
    // Programs that a tool starts.
    ...["EDITOR", "VISUAL", "SUDO_EDITOR", "HGEDITOR", "PAGER", "GH_PAGER", "SYSTEMD_PAGER", "SSH_ASKPASS", "CVS_RSH"],
    // Options that a tool reads as if they were arguments.
    ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "MAVEN_OPTS", "TAR_OPTIONS", "XZ_OPT", "GOFLAGS", "TF_CLI_ARGS"],
    // Files in which a tool looks for programs to start.
    ...["KUBECONFIG", "KUBERC", "AWS_CONFIG_FILE", "HELM_PLUGINS", "LESSKEYIN", "KRB5_CONFIG", "SSH_SK_HELPER"],
    "DOTNET_STARTUP_HOOKS",
  ])("%s", (name) => {
    expect(isCodeVariable(name)).toBe(true);
  });
});

it.each(["TARGET_PATH", "NODE", "NAMESPACE", "KEEP_DAYS", "SRC", "OPTION", "HOSTNAME", "SERVICE", "path"])(
  "the value of %s is data",
  (name) => {
    expect(isCodeVariable(name)).toBe(false);
  },
);
