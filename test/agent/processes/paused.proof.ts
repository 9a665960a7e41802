import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project } from "../../doubles/gitlab/model.ts";
import { until } from "../../executor/processes/until.ts";
import { AgentStage, type Backend } from "./agent-stage.ts";
import { type CrashStory, crashStories, storyProblems } from "./crash-story.ts";

const [, command] = crashStories as [CrashStory, CrashStory];

/** The points at which the agent is paused: the commit exists, and the push has made this progress. */
const places = [
  ["before it looks at the branch", "before", /info\/refs\?service=git-upload-pack$/],
  ["when git asks what it may push to", "before", /info\/refs\?service=git-receive-pack$/],
  ["when the push is on its way", "before", /git-receive-pack$/],
  ["when the push has arrived", "after", /git-receive-pack$/],
  ["when a push without a fence is on its way", "before", /git-receive-pack$/],
] as const;

describe.each<Backend>(["redis", "kubernetes"])("an agent that is paused between commit and push, %s,", (backend) => {
  let stage: AgentStage;

  beforeAll(async () => {
    stage = await AgentStage.open({ backend, locksTtl: "2s" });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it.each(places)(
    "%s, finds the work of another replica, and adds nothing",
    { timeout: 120_000 },
    async (what, when, path) => {
      const apart = what.replaceAll(" ", "-");
      stage.gitlab.settings.acceptsCustomRefs = !what.includes("without a fence");
      const project = await stage.addProject(`group/${apart}`);
      const witness = join(stage.directory, `${apart}.json`);
      const steps = [{ do: "sleep", ms: 1, witness }, ...command.steps] as const;
      const env = { ...(await command.arrange(stage, project)), AGENT_COMMAND: await stage.command(steps) };
      const paused = stage.agent(`${apart}-paused`, env, apart);
      const hold = holdRequest(stage, project, {
        when,
        path,
        isTime: () => stage.witnessed(`${apart}.json`).length >= 2,
      });
      paused.start();
      await until("it is there", () => hold.isHeld, { withinMs: 60_000 });
      paused.pause();

      const other = stage.agent(`${apart}-other`, env, apart);
      other.start();
      const tasks = await stage.allEnded(1, { namespace: apart, logsOf: apart });
      hold.release();
      paused.resume();
      // A process that gets SIGTERM finishes its work first.
      await paused.stop();

      await other.stop();
      expect(await storyProblems(stage, command, { project, tasks })).toEqual([]);
      expect(tasks[0]?.status?.attempts).toBe(2);
      expect(stage.gitlab.whatHappened().pushes.filter(isBranchOf(project))).toHaveLength(1);
    },
  );
});

/** Holds back the first matching request, or its response. */
function holdRequest(
  { gitlab }: AgentStage,
  project: Project,
  { when, path, isTime }: { readonly when: "before" | "after"; readonly path: RegExp; readonly isTime: () => boolean },
) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = { isHeld: false, release };
  // Where fences are refused, the second push is the one without.
  const after = gitlab.settings.acceptsCustomRefs ? 0 : 1;
  const match = { path: new RegExp(`/${project.path}\\.git/${path.source}`), times: Number.POSITIVE_INFINITY, after };
  gitlab.faults[when](match, async () => {
    if (held.isHeld || !isTime()) return;
    held.isHeld = true;
    await released;
  });
  return held;
}

function isBranchOf({ path }: Project) {
  return ({ project, user, ref }: { project: string; user: string; ref: string }) =>
    project === path && user === "copilot" && ref.startsWith("refs/heads/");
}
