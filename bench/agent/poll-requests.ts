import { gitlabHttp } from "../../src/agent/index.ts";
import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { openCoordination, openPolling, prepare } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { memoryLedger } from "../../src/ledger/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { sleep, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { clock } from "../executor/workbench.ts";
import { GitLabProcess } from "./gitlab.ts";
import type { Plan } from "./plans.ts";

const minute = 60_000;

/**
 * Counts, at GitLab, the requests of the poller for a project without changes. It has read all merge requests before the
 * count begins.
 */
export async function measurePolling(_folder: string, { polling }: Plan) {
  const gitlab = new GitLabProcess();
  const { url, token } = await gitlab.ask("about");
  const projects = await gitlab.ask("addOldProjects", polling.projects, polling.mergeRequests);
  const poller = await openPoller({ url, token, projects });

  await poller.polls(projects.length);
  const tasks = await poller.tasks();
  // By now all that can still become visible late has done so.
  await gitlab.ask("advance", 10 * minute);
  await poller.polls(2 * projects.length);
  await gitlab.ask("requests");
  const counted = await poller.polls(polling.cycles * projects.length);
  const requests = Object.values(await gitlab.ask("requests")).reduce((sum, count) => sum + count, 0);

  await poller.close();
  await gitlab.close();
  if (tasks !== projects.length * polling.mergeRequests) throw new Error(`the poller saw ${tasks} merge requests`);
  return { figures: { pollRequestsPerProject: requests / counted }, calibration: { mergeRequestsSeen: tasks } };
}

async function openPoller({ url, token, projects }: { url: string; token: string; projects: readonly string[] }) {
  const [random, log, metrics, ledger] = [systemRandom(), silentLogger, promMetrics(), memoryLedger()];
  const client = embeddedClient(await openApi({ store: volatileStore({ keptChanges: 1_000 }), clock, random }));
  await prepare(client, ["kubernaut-system", "interlock-watermarks"], { log, clock });
  const env = {
    GITLAB_URL: url,
    GITLAB_TOKEN: token,
    GITLAB_POLL: "true",
    GITLAB_POLL_FROM: "1h",
    GITLAB_POLL_INTERVAL: "1s",
    GITLAB_PROJECTS: projects.join(","),
  };
  const loaded = loadConfig({ yaml: undefined, env });
  if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
  const coordination = await openCoordination({ loaded, stage: "agent", clock, random, log, metrics, client });
  const remote = gitlabHttp({ url, token: async () => token, timeLimitMs: minute, clock, random });
  const polling = openPolling({
    ...{ config: loaded.config, client, ledger, coordination, clock, random, log, metrics },
    gitlab: remote,
    jira: undefined,
  });
  const polled = async () => Number(/^agent_polls_total\{.*polled.*\} (\d+)/m.exec(await metrics.text())?.[1] ?? 0);
  return {
    /** Waits for so many polls more; returns how many there were. */
    async polls(count: number): Promise<number> {
      const before = await polled();
      while ((await polled()) - before < count) await sleep(clock, 20);
      return (await polled()) - before;
    },
    tasks: async () => ledger.events().length,
    async close() {
      await polling.close();
      await coordination.close();
    },
  };
}
