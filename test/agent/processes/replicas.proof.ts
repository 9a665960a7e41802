import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../executor/processes/until.ts";
import { AgentStage, agentWorkflow, type Backend, secrets } from "./agent-stage.ts";

describe.each<Backend>(["kubernetes", "redis"])("three agent processes, with state in %s,", (backend) => {
  let stage: AgentStage;

  afterEach(async () => {
    await stage?.[Symbol.asyncDispose]();
  });

  it("review once for a hundred webhooks at three gateways and a poller", { timeout: 120_000 }, async () => {
    stage = await AgentStage.open({ backend });
    const project = await stage.addProject("group/app");
    const finding = { path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" };
    const command = await stage.command([{ do: "answer", value: { summary: "Fine.", findings: [finding] } }]);
    await startAgents(stage, { AGENT_COMMAND: command, ...polling(project.path) });
    stage.gitlab.webhooks.sendTo(await stage.gateways(3), secrets.webhook, { spread: "in turn" });
    stage.gitlab.webhooks.copies = 100;
    const polls = () => stage.gitlab.requests.count("GET", "/projects/:id/merge_requests");
    await until("an agent polls", () => polls() > 0);

    await stage.gitlab.pushAs(stage.kim, project, "topic", { "app.ts": "one\n2\nthree\n" });
    const draft = { sourceBranch: "topic", title: "topic", author: stage.kim };
    await stage.gitlab.openMergeRequest(project, draft);
    const before = polls();
    await stage.gitlab.webhooks.settled();
    await until("it is polled with the merge request in the list", () => polls() >= before + 2);

    const tasks = await stage.allEnded(1);
    const delivered = stage.gitlab.webhooks.deliveries.filter(({ hook }) => hook === "Merge Request Hook");
    expect(delivered).toHaveLength(100);
    for (const { status } of delivered) expect([200, 201]).toContain(status);
    expect(tasks.map(({ status }) => status?.phase)).toEqual(["Completed"]);
    const first = ({ body }: { body: string }) => body.split("\n")[0];
    expect(stage.notes(project).map(first).sort()).toEqual(["## Code Review Summary", "**[ERROR]** not a word"]);
  });

  it("apply two comments on one merge request, in order", { timeout: 120_000 }, async () => {
    stage = await AgentStage.open({ backend });
    const project = await stage.addProject("group/app");
    const steps = [
      { do: "sleep", ms: 200 },
      { do: "append", path: "list.txt", text: "x\n" },
    ] as const;
    await startAgents(stage, { AGENT_COMMAND: await stage.command({ cases: [{ kind: "edit", steps }] }) });
    stage.gitlab.webhooks.sendTo(await stage.gateways(3), secrets.webhook);
    await stage.gitlab.pushAs(stage.kim, project, "topic", { "app.ts": "one\n2\nthree\n" });
    const draft = { sourceBranch: "topic", title: "Draft: topic", author: stage.kim };
    const mr = await stage.gitlab.openMergeRequest(project, draft);

    await stage.gitlab.commentOn(mr, stage.kim, "/copilot first");
    await stage.gitlab.commentOn(mr, stage.kim, "/copilot second");

    const tasks = await stage.allEnded(2);
    expect(tasks.map(({ status }) => status?.phase)).toEqual(["Completed", "Completed"]);
    const subjects = await stage.git(project, "log", "--format=%s", "topic");
    expect(subjects.split("\n").slice(0, 2)).toEqual(["fix: second", "fix: first"]);
    expect(await stage.git(project, "show", "topic:list.txt")).toBe("x\nx\n");
    expect(stage.notes(project).map(({ body }) => body.slice(0, 9))).toEqual(["✅ Changes", "✅ Changes"]);
  });

  it("solve two issues in one repository in parallel", { timeout: 120_000 }, async () => {
    stage = await AgentStage.open({ backend });
    const project = await stage.addProject("group/app");
    const [witness, gate] = [join(stage.directory, "witness"), join(stage.directory, "gate")];
    const steps = [
      { do: "wait-for-file", path: gate, witness },
      { do: "write", path: "solved.txt", text: "solved\n" },
    ] as const;
    const shop = stage.jira.addProject("SHOP", agentWorkflow);
    for (const summary of ["The first", "The second"]) stage.jira.addIssue(shop, { summary });

    const command = await stage.command(steps);
    await startAgents(stage, { AGENT_COMMAND: command, ...stage.solving("SHOP", project) });
    // Neither ends before both have begun.
    await until("both are at work", () => stage.witnessed("witness").length === 2, { withinMs: 60_000 });
    stage.openGate("gate");

    await stage.allEnded(2);
    const events = stage.witnessed("witness").map(({ event, issue }) => `${event} ${issue}`);
    expect(events.slice(0, 2).sort()).toEqual(["begin SHOP-1", "begin SHOP-2"]);
    const { mergeRequests } = stage.gitlab.whatHappened();
    expect(mergeRequests.map(({ sourceBranch }) => sourceBranch).sort()).toEqual(["agent/shop-1", "agent/shop-2"]);
    expect(stage.jira.whatHappened().issues.map(({ status }) => status)).toEqual(["In Review", "In Review"]);
  });

  it("review nothing again after all were killed and restarted, with 50 open merge requests", {
    timeout: 240_000,
  }, async () => {
    stage = await AgentStage.open({ backend });
    const project = await stage.addProject("group/app");
    const runs = join(stage.directory, "runs");
    const script = `cat > /dev/null; echo '{}' >> ${runs}; echo '{"summary": "Fine.", "findings": []}'`;
    const env = { AGENT_COMMAND: JSON.stringify(["sh", "-c", script]), ...polling(project.path) };
    for (let i = 0; i < 50; i++) {
      await stage.gitlab.pushAs(stage.kim, project, `topic-${i}`, { "app.ts": `one\n${i}\nthree\n` });
      await stage.gitlab.openMergeRequest(project, {
        sourceBranch: `topic-${i}`,
        title: `topic ${i}`,
        author: stage.kim,
      });
    }
    const before = await startAgents(stage, env);
    await stage.allEnded(50, { withinMs: 180_000 });
    expect(stage.notes(project)).toHaveLength(50);

    await stage.killAll();
    await stage.api.kill();
    await stage.redis?.kill();
    // As after the end of all retention periods, only the notes on the merge requests are left.
    if (backend === "kubernetes") await stage.api.forget();
    await stage.redis?.start();
    await stage.api.start();
    for (const agent of before) agent.start();
    const polls = () => stage.gitlab.requests.count("GET", "/projects/:id/merge_requests");
    const sofar = polls();
    await until("it is polled again", () => polls() >= sofar + 2, { withinMs: 60_000 });

    await stage.allEnded(50, { withinMs: 120_000 });
    expect(stage.witnessed("runs")).toHaveLength(50);
    expect(stage.notes(project)).toHaveLength(50);
    expect(stage.notes(project).filter(({ earlierBodies }) => earlierBodies.length > 0)).toEqual([]);
  });
});

function polling(path: string) {
  return { GITLAB_POLL: "true", GITLAB_POLL_INTERVAL: "1s", GITLAB_POLL_FROM: "1h", GITLAB_PROJECTS: path };
}

async function startAgents(stage: AgentStage, env: Readonly<Record<string, string>>) {
  const agents = [1, 2, 3].map((n) => stage.agent(`agent-${n}`, env));
  for (const agent of agents) agent.start();
  const readyOnes = () => stage.logs(Number.POSITIVE_INFINITY).split('"agent ready"').length - 1;
  await until("the agents are ready", () => readyOnes() === 3).catch((cause) => {
    throw new Error(stage.logs(), { cause });
  });
  return agents;
}
