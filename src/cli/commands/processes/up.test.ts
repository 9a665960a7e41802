import { describe, expect, it } from "vitest";
import { aliasLine } from "./up.ts";

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
