import type { Subject } from "../../doubles/web/faults.ts";
import { until } from "../../executor/processes/until.ts";
import type { StageProcess } from "../../remediation/stage-process.ts";
import { type AgentStage, hasEnded } from "./agent-stage.ts";
import { type CrashStory, storyProblems } from "./crash-story.ts";

export interface CrashPlan {
  readonly story: CrashStory;
  /** Writes to the API server; or to GitLab, Jira and git. */
  readonly side: "api" | "remote";
  readonly whens: readonly ("before" | "after")[];
  /** Which of the writes it dies at, counted from 1. */
  readonly from?: number;
  readonly step?: number;
}

export interface CrashReport {
  readonly points: number;
  /** The last write at which an agent died. */
  readonly writes: number;
  readonly problems: readonly string[];
}

/** Kills an agent at one write after the other, until no write is left; each time another one finishes. */
export async function playAgentCrashPoints(stage: AgentStage, plan: CrashPlan): Promise<CrashReport> {
  const { from = 1, step = 1 } = plan;
  // The number of writes varies by one between runs, so only two runs without a kill end the series.
  const survivors = step === 1 ? 2 : 1;
  const problems: string[] = [];
  let [points, writes, survived] = [0, 0, 0];
  for (let write = from; survived < survivors; write += step) {
    let happened = false;
    for (const when of plan.whens) {
      const end = await playCrashPoint(stage, { ...plan, write, when });
      points++;
      problems.push(...end.problems.map((text) => `${nameOf({ ...plan, write, when })}: ${text}`));
      happened ||= end.happened;
    }
    if (happened) writes = write;
    survived = happened ? 0 : survived + 1;
  }
  return { points, writes, problems };
}

interface CrashPoint extends Pick<CrashPlan, "story" | "side"> {
  readonly write: number;
  readonly when: "before" | "after";
}

function nameOf({ story, side, write, when }: CrashPoint): string {
  return `${story.name}-${side}-${when}-${write}`;
}

async function playCrashPoint(stage: AgentStage, point: CrashPoint) {
  const { story, side, write, when } = point;
  const name = nameOf(point);
  const project = await stage.addProject(`group/${name}`);
  const found = await story.arrange(stage, project);
  const env = { ...found, AGENT_COMMAND: await stage.command(story.steps) };
  const fate = side === "api" ? { INTERLOCK_FAIL_AT: when === "after" ? `${write}+` : `${write}` } : {};
  const victim = stage.agent(`${name}-victim`, { ...env, ...fate }, name);
  const disarm = side === "remote" ? killAtWrite(stage, victim, { ...point, project }) : () => {};
  victim.start();
  const isOver = async () => victim.hasEnded || ((await stage.tasks(name)).some(hasEnded) ? true : undefined);
  await until(`${name}: it is done, or dead`, isOver, { withinMs: 60_000 }).catch(withLogs(stage, name));

  const happened = victim.hasEnded;
  disarm();
  if (happened && !victim.wasKilled) throw new Error(`${name}: it ended by itself\n${stage.logs(3_000, name)}`);
  const successor = happened ? stage.agent(`${name}-successor`, env, name) : undefined;
  successor?.start();
  const tasks = await stage.allEnded(1, { namespace: name, logsOf: name });
  await victim.kill();
  await successor?.kill();
  return { happened, problems: await storyProblems(stage, story, { project, tasks }) };
}

/** Kills it at its n-th write to GitLab, Jira or git: before, and then nothing is applied; or after, and it is not answered. */
function killAtWrite(
  { gitlab, jira }: AgentStage,
  victim: StageProcess,
  { write, when, project }: CrashPoint & { readonly project: { readonly id: number; readonly path: string } },
): () => void {
  let left = write;
  const kill = async (request: Subject) => {
    if (!isWrite(request) || --left !== 0) return;
    await victim.kill();
    throw new Error("no agent waits for a response");
  };
  const always = { times: Number.POSITIVE_INFINITY };
  gitlab.faults[when]({ path: new RegExp(`/projects/${project.id}/|/${project.path}\\.git/`), ...always }, kill);
  jira.faults[when]({ path: new RegExp(`/issue/P${project.id}-`), ...always }, kill);
  return () => {
    left = 0;
  };
}

function isWrite({ method, path }: Subject): boolean {
  return method !== "GET" && !path.endsWith("/git-upload-pack");
}

function withLogs(stage: AgentStage, name: string) {
  return (cause: Error) => {
    throw new Error(`${cause.message}\n${stage.logs(3_000, name)}`, { cause });
  };
}
