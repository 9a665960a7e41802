import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../../src/time/index.ts";
import { clock } from "../executor/workbench.ts";
import { median } from "../locks/quantile.ts";
import { gitAlone } from "./git-alone.ts";
import { GitLabProcess } from "./gitlab.ts";
import { interlock } from "./interlock.ts";
import type { Plan } from "./plans.ts";

const secret = "a-secret-for-benchmarks";

/**
 * Sends one event after the other to `interlock up`, and measures from the webhook leaving GitLab to the first action of
 * the coder. After each event the same git commands are run alone, on the same commit, with a cache of the same content;
 * their time is subtracted.
 */
export async function measureEvents(folder: string, { events }: Plan) {
  mkdirSync(folder);
  const witness = new Witness(join(folder, "witness"));
  const gitlab = new GitLabProcess();
  const about = await gitlab.ask("about");
  const up = await interlock(
    ["up", "--data", join(folder, "data"), "--listen", "127.0.0.1:0"],
    {
      GATEWAY_LISTEN: "127.0.0.1:0",
      CONSOLE_LISTEN: "127.0.0.1:0",
      GITLAB_URL: about.url,
      GITLAB_TOKEN: about.token,
      GITLAB_WEBHOOK_SECRET: secret,
      AGENT_GITLAB_USERNAME: "copilot",
      AGENT_COMMAND: JSON.stringify(witness.command),
    },
    /Next, in/,
  );
  const [, gateway = ""] = /gateway +(http:\S+)/.exec(up.output) ?? [];
  await gitlab.ask("sendWebhooksTo", `${gateway}/api/v1/webhooks/gitlab`, secret);
  const git = await gitAlone(join(folder, "git-alone"), about);
  const samples: { review: number; command: number; gitForReview: number; gitForCommand: number }[] = [];

  /** From `sentMs` to the coder's start. Returns when all that follows is over, too. */
  async function followed(sentMs: number, iid: number, answers: number): Promise<number> {
    const startedMs = await witness.next();
    while ((await gitlab.ask("answers", iid)) < answers) await sleep(clock, 20);
    // It closes the task after its last note.
    await sleep(clock, 100);
    return startedMs - sentMs;
  }
  for (let i = 0; i <= events; i++) {
    const opened = await gitlab.ask("openMergeRequest", `topic-${i}`);
    const review = await followed(opened.sentMs, opened.iid, 1);
    const gitForReview = await git.forReview(about, opened);
    const sentMs = await gitlab.ask("comment", opened.iid, "/copilot make it better");
    const command = await followed(sentMs, opened.iid, 2);
    const gitForCommand = await git.forCommand(about, opened);
    // The first one warms up.
    if (i > 0) samples.push({ review, command, gitForReview, gitForCommand });
  }
  await git.close();
  await up.stop();
  await gitlab.close();

  const reviewToAgentMs = median(samples.map(({ review, gitForReview }) => review - gitForReview));
  const commandToAgentMs = median(samples.map(({ command, gitForCommand }) => command - gitForCommand));
  return {
    figures: { eventToAgentMs: Math.max(reviewToAgentMs, commandToAgentMs), reviewToAgentMs, commandToAgentMs },
    calibration: {
      reviewToAgentWithGitMs: median(samples.map(({ review }) => review)),
      commandToAgentWithGitMs: median(samples.map(({ command }) => command)),
      gitForReviewMs: median(samples.map(({ gitForReview }) => gitForReview)),
      gitForCommandMs: median(samples.map(({ gitForCommand }) => gitForCommand)),
    },
  };
}

/** A coder that writes down when it started, and finds nothing. A shell, because that starts in a millisecond or two. */
class Witness {
  readonly command: readonly string[];
  readonly #file: string;
  #seen = 0;

  constructor(file: string) {
    this.#file = file;
    writeFileSync(file, "");
    // The coder is another user if we are root.
    chmodSync(file, 0o666);
    const script = `date +%s%3N >> "$1"; cat > /dev/null; echo '{"summary": "Looked at it.", "findings": []}'`;
    this.command = ["/bin/sh", "-c", script, "sh", file];
  }

  /** When the next one started. */
  async next(): Promise<number> {
    for (;;) {
      const times = readFileSync(this.#file, "utf8").split("\n").filter(Boolean);
      const next = times[this.#seen];
      if (next !== undefined) {
        this.#seen++;
        return Number(next);
      }
      await sleep(clock, 10);
    }
  }
}
