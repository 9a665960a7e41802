import type { KubeClient } from "../../src/kube/index.ts";
import { type AutomationPauseSpec, annotationKeys, automationPauses, codingTasks } from "../../src/resources/index.ts";
import { claimKeys, draftTask, type TaskDraft } from "../../src/tasks/index.ts";
import { type AgentRemote, host, projectId, site, statuses, strangerId } from "./agent-remote.ts";
import type { SimServer } from "./sim-server.ts";
import type { World } from "./world.ts";

export const namespace = "default";
const project = { host, id: projectId, path: "group/app" };

/** The actions of users on GitLab and Jira, and their webhooks, sometimes twice. */
export class AgentStory {
  readonly #world: World;
  readonly #server: SimServer;
  readonly #remote: AgentRemote;
  readonly #client: KubeClient;
  readonly #pace: number;
  #isOver = false;
  #issues = 0;

  constructor(world: World, server: SimServer, remote: AgentRemote) {
    this.#world = world;
    this.#server = server;
    this.#remote = remote;
    this.#client = server.cluster.client("webhooks");
    this.#pace = world.chance.between(800, 5_000);
    remote.push("main", "first");
    for (const branch of ["topic-1", "topic-2"]) {
      remote.push(branch, "first");
      remote.openMergeRequest(branch, branch);
    }
    this.#plan();
  }

  /** No further requests are made. */
  end(): void {
    this.#isOver = true;
  }

  #plan() {
    this.#world.in(this.#pace * this.#world.chance.between(0.1, 2), () => {
      if (this.#isOver) return;
      void this.#next();
      this.#plan();
    });
  }

  #next(): Promise<void> {
    const { chance } = this.#world;
    const iid = chance.whole(1, 2);
    const kind = chance.whole(0, 10);
    if (kind <= 2) return this.#push(iid);
    if (kind <= 6) return this.#command(iid, chance.happens(0.15) ? strangerId : 1);
    if (kind <= 8) return this.#issue();
    if (kind === 9) return this.#cancel();
    return this.#pause(iid);
  }

  async #push(iid: number) {
    const { sourceBranch } = this.#mergeRequest(iid);
    this.#remote.push(sourceBranch, "by a person");
    await this.tellOfHead(iid);
  }

  /** The webhook that follows every push. */
  async tellOfHead(iid: number): Promise<void> {
    const { headSha = "" } = this.#mergeRequest(iid);
    const claimKey = claimKeys.review({ host, projectId, iid }, headSha);
    await this.#createTask({ type: "Review", claimKey, ...this.#common(), mergeRequest: this.#place(iid) });
  }

  async #command(iid: number, authorId = 1) {
    const verb = this.#world.chance.happens(0.8) ? "do" : "review";
    const instruction = verb === "do" ? "fix it" : verb;
    const note = this.#remote.comment(iid, authorId, `/copilot ${instruction}`);
    const claimKey = claimKeys.note({ host, projectId, iid }, note.id);
    await this.#createTask({
      ...{ type: "Command", claimKey, ...this.#common(), mergeRequest: this.#place(iid) },
      note: { id: note.id, authorId, body: note.body, verb, instruction },
    });
  }

  async #issue() {
    const key = `APP-${++this.#issues}`;
    const since = new Date(1_700_000_000_000 + Math.round(this.#world.now)).toISOString();
    this.#remote.issues.set(key, { status: statuses.trigger, since, comments: [], moves: [] });
    await this.#createTask({
      ...{ type: "Issue", claimKey: claimKeys.issue(site, key, since), ...this.#common() },
      issue: { site, key, since, summary: "Do it" },
      ...{ branch: `agent/${key.toLowerCase()}`, targetBranch: "main" },
    });
  }

  async #cancel() {
    const { items } = await this.#client.list(codingTasks, { namespace });
    const open = items.filter(({ status }) => !status || !("completionTime" in status));
    if (open.length === 0) return;
    this.#world.struck("task cancelled");
    const { name = "" } = this.#world.chance.pick(open).metadata;
    const merge = { metadata: { annotations: { [annotationKeys.cancelRequested]: "kim" } } };
    await this.#client.patch(codingTasks, { namespace, name }, { merge });
  }

  /** Of everything, of the project or of a branch; most end by themselves, the others when the story does. */
  async #pause(iid: number) {
    const { chance } = this.#world;
    this.#world.struck("automation paused");
    const repository = `git:${host}/${projectId}`;
    const { sourceBranch } = this.#mergeRequest(iid);
    const targetResource = chance.happens(0.5) ? repository : `${repository}@${sourceBranch}`;
    const scope = chance.happens(0.4) ? ({ scope: "All" } as const) : ({ scope: "Target", targetResource } as const);
    const untilMs = this.#server.clock.wallMs() + chance.between(500, 15_000);
    const until = chance.happens(0.8) ? { until: new Date(untilMs).toISOString() } : {};
    await this.pause({ ...scope, ...until, reason: "upgrade", requestedBy: "kim" });
  }

  async pause(spec: AutomationPauseSpec): Promise<void> {
    const { apiVersion, kind } = automationPauses;
    const metadata = { name: `pause-${this.#world.chance.id()}`, namespace };
    await this.#client.create(automationPauses, { apiVersion, kind, metadata, spec });
  }

  /** Ends every pause that lasts. */
  async resume(): Promise<void> {
    const { items } = await this.#client.list(automationPauses);
    const endedAt = new Date(this.#server.clock.wallMs()).toISOString();
    for (const pause of items.filter(({ status }) => !status)) {
      const status = { endedAt, endedBy: "kim", endReason: "upgraded" };
      await this.#client.update(automationPauses, { ...pause, status }, { subresource: "status" });
    }
  }

  /** A user makes a request on each merge request. */
  async askForMore(): Promise<void> {
    for (const iid of [1, 2]) {
      await this.#push(iid);
      await this.#command(iid);
    }
  }

  async #createTask(draft: TaskDraft) {
    const reading = draftTask(draft, namespace);
    if (reading.kind === "problem") throw new TypeError(reading.problem);
    const times = this.#world.chance.happens(0.3) ? 2 : 1;
    for (let i = 0; i < times; i++) await this.#client.create(codingTasks, reading.task);
  }

  #common() {
    const receivedTime = new Date(this.#server.clock.wallMs()).toISOString();
    return { project, source: "webhook", requestedBy: "kim", receivedTime } as const;
  }

  #mergeRequest(iid: number) {
    const found = this.#remote.mergeRequests.get(iid);
    if (!found) throw new TypeError("there is no such merge request");
    return found;
  }

  #place(iid: number) {
    const { headSha = "", sourceBranch, targetBranch } = this.#mergeRequest(iid);
    return { iid, headSha, sourceBranch, targetBranch };
  }
}
