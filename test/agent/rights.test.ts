import { expect, it } from "vitest";
import { AgentWorld } from "./agent-world.ts";

// Agents and gateways of every test here have the rights of the shipped roles; webhooks are tested everywhere else.
it("a poll succeeds with the rights of the shipped roles, by one of two agents", async () => {
  await using world = await AgentWorld.open({
    gateways: 0,
    agents: 2,
    env: { GITLAB_POLL: "true", GITLAB_PROJECTS: "group/app", GITLAB_POLL_INTERVAL: "1s", GITLAB_POLL_FROM: "1h" },
    script: () => [{ do: "answer", value: { summary: "Fine.", findings: [] } }],
  });
  await world.openMergeRequest();

  await world.allEnded();

  expect(world.notes()).toHaveLength(1);
  expect(world.log.events.filter(({ event }) => /not polled|problem/.test(event))).toEqual([]);
});
