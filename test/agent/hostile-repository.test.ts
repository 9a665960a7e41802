import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { AgentWorld, lines } from "./agent-world.ts";

let world: AgentWorld;

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
});

describe("a push", () => {
  it("goes to GitLab alone, whatever the repository and the coder configure", async () => {
    await using thief = await startThief();
    const elsewhere = `${thief.url}/`;
    const ran = (folder: string) => join(folder, "ran");
    const script = (folder: string): CoderStep[] => [
      { do: "git-config", name: `url.${elsewhere}.insteadOf`, value: "http://127.0.0.1" },
      { do: "git-config", name: `url.${elsewhere}.pushInsteadOf`, value: "http://127.0.0.1" },
      { do: "git-config", name: "http.proxy", value: thief.url },
      { do: "git-config", name: "http.extraHeader", value: "X-Evil: 1" },
      { do: "git-config", name: "credential.helper", value: `!touch ${ran(folder)}` },
      { do: "git-config", name: "core.sshCommand", value: `touch ${ran(folder)}` },
      { do: "git-config", name: "core.fsmonitor", value: `touch ${ran(folder)}` },
      { do: "git-config", name: "filter.lfs.process", value: `touch ${ran(folder)}` },
      { do: "hook", name: "pre-push", text: `#!/bin/sh\ntouch ${ran(folder)}\n` },
      { do: "write", path: "added.txt", text: "done\n" },
    ];
    world = await AgentWorld.open({ script });
    const pointer = lines("version https://git-lfs.github.com/spec/v1", `oid sha256:${"0".repeat(64)}`, "size 12");
    const files = {
      ".gitattributes": "* filter=lfs diff=lfs merge=lfs\n",
      ".lfsconfig": `[lfs]\n\turl = ${elsewhere}\n`,
      ".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = ${elsewhere}\n\tupdate = !touch ran\n`,
      "large.bin": pointer,
    };
    const mr = await world.openMergeRequest({ title: "Draft: x", files });

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    const [task] = await world.allEnded();
    expect(task?.status).toMatchObject({ phase: "Completed" });
    expect(world.pushes()).toHaveLength(1);
    expect(await world.git("show", "topic:large.bin")).toBe(pointer);
    expect(thief.requests).toEqual([]);
    expect(existsSync(join(world.directory, "ran"))).toBe(false);
    await expect(world.git("cat-file", "-e", "topic:ran")).rejects.toThrow();
  });
});

/** A server that must get no request. */
async function startThief() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
