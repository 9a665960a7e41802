import { describe, expect, it } from "vitest";
import type { Up } from "../../../app/index.ts";
import { loadConfig } from "../../../config/load.ts";
import { aliasLine, screenLines } from "./up-screen.ts";

describe("the screen of up", () => {
  const workflows = { ids: ["clean", "drain-node", "scale"], actionIds: ["drain-node", "scale"], close() {} };

  it("lists the workflows that can run, and the setting that the others need", () => {
    expect(rows(screen({ workflows }), "workflows")).toEqual([
      "clean",
      "2 more act on a cluster: set LOCAL_KUBECONFIG (docs/actions.md)",
    ]);
  });

  it("lists all workflows if there is a cluster for their actions", () => {
    const lines = screen({ workflows }, { LOCAL_KUBECONFIG: "kubeconfig" });

    expect(rows(lines, "workflows")).toEqual(["clean, drain-node, scale"]);
  });

  it("names the folder for the first workflow if there is none", () => {
    expect(rows(screen({ workflows: { ids: [], actionIds: [], close() {} } }), "workflows")).toEqual([
      "none yet: put folders into workflows, see docs/workflows.md",
    ]);
  });

  it.each([
    [
      "everything in memory",
      { STATE_BACKEND: "memory" },
      [/^state\.backend is memory .* loses the holders of locks, /],
    ],
    ["locks in memory", { LOCKS_BACKEND: "memory" }, [/^locks\.backend is memory .* loses the holders of locks; /]],
    ["nothing in memory", {}, []],
  ])("with %s, lists what a restart loses", (_name, env, losses) => {
    expect(rows(screen({}, env), "not kept")).toEqual(losses.map((text) => expect.stringMatching(text)));
  });

  it.each([
    ["no GitLab", {}, []],
    [
      "no coder",
      { GITLAB_URL: "https://gl.example" },
      ["https://gl.example   off: set AGENT_COMMAND to your coder, see docs/coder.md"],
    ],
    [
      "neither webhooks nor polls",
      { GITLAB_URL: "https://gl.example", AGENT_COMMAND: "coder" },
      ["https://gl.example   receives nothing yet: set GITLAB_WEBHOOK_SECRET or GITLAB_POLL, see docs/agent.md"],
    ],
  ])("with %s, names the missing setting of the agent", (_name, env, texts) => {
    expect(rows(screen({}, env), "agent")).toEqual(texts);
  });

  it("fits a terminal of 80 columns, apart from the link and the commands to copy", () => {
    const lines = screen({ workflows, console: undefined }).filter((line) => !line.startsWith("  interlock "));

    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it("has no row of a console that is turned off", () => {
    expect(rows(screen({ console: undefined }), "console")).toEqual([]);
  });
});

describe("the alias for a second terminal", () => {
  const realPath = "/opt/interlock/dist/interlock.mjs";
  const direct = `alias interlock='node "${realPath}"'`;

  it.each([
    ["npm start", { script: "/src/scripts/start.mjs", env: {} }, "alias interlock='npm run -s interlock --'"],
    ["an installed command", { script: "/usr/bin/interlock", env: { PATH: "/bin:/usr/bin" } }, undefined],
    ["a command that is not on the PATH", { script: "/opt/bin/interlock", env: { PATH: "/bin" } }, direct],
    ["npx", { script: "/tmp/.bin/interlock", env: { PATH: "/tmp/.bin", npm_command: "exec" } }, direct],
    ["node", { script: realPath, env: { PATH: "/opt/interlock/dist" } }, direct],
  ])("started by %s, it runs the same program", (_name, invocation, line) => {
    expect(aliasLine({ ...invocation, realPath })).toBe(line);
  });
});

function screen(special: Partial<Up>, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const up = {
    api: { url: "https://127.0.0.1:7080", kubeconfigFile: ".data/kubeconfig" },
    gateway: { url: "http://127.0.0.1:8080", tokenFile: ".data/gateway-tokens" },
    console: { link: "http://127.0.0.1:8090/login/link?token=t" },
    rules: ["node-disk-pressure"],
    workflows: { ids: ["clean"], actionIds: [], close() {} },
    ...special,
  } as Up;
  const invocation = { script: "/usr/bin/interlock", realPath: "/usr/bin/interlock", env: { PATH: "/usr/bin" } };
  return screenLines(up, { directory: ".data", loaded, invocation, example: "alert.json" });
}

/** The texts beside a label. */
function rows(lines: readonly string[], label: string): readonly string[] {
  const first = lines.findIndex((line) => line.startsWith(`  ${label} `));
  if (first < 0) return [];
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => !line.startsWith(" ".repeat(15)));
  return [lines[first] ?? "", ...rest.slice(0, end)].map((line) => line.slice(15));
}
