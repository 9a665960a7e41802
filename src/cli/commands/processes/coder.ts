import { collectInPod, fetchInPod } from "../../../agent/index.ts";
import { openObjects, secretFile } from "../../../app/index.ts";
import { type Command, CommandError } from "../../command.ts";
import { type CommandContext, configFrom } from "../../context.ts";
import { MisuseError } from "../../parsing/misuse.ts";

/** The longest that one run of git may take. */
const timeLimitMs = 240_000;

/** `interlock coder fetch|collect`: what our own containers in the pod of a coder do. */
export const coder: Command<CommandContext> = {
  name: "coder",
  about: "Fetch the files and collect the result of a coder, within its Job",
  usage:
    "interlock coder fetch|collect\n\nRun by the Jobs that the agent creates (agent.executor: job). Not for use by hand.",
  example: "interlock coder fetch",
  async perform([what], around) {
    const { clock, random, env } = around;
    const { config } = await configFrom(undefined, around);
    const { signal } = new AbortController();
    if (what === "fetch") {
      const { url = "", tokenFile = "" } = config.gitlab;
      const token = secretFile("gitlab.tokenFile", tokenFile, { clock });
      const { origin } = new URL(url);
      await fetchInPod({ origin, token }, { env, clock, timeLimitMs, signal });
      return 0;
    }
    if (what !== "collect") throw new MisuseError("unknown subcommand; use fetch or collect");
    const embedded = () => Promise.reject(new CommandError("coder collect is for the pods of Jobs"));
    const { client } = await openObjects({ config, embedded, clock, random, env });
    const { CODER_JOB: name = "", CODER_JOB_UID: uid = "", CODER_NAMESPACE: namespace = "" } = env;
    await collectInPod({ name, uid, namespace }, client, { env, clock, timeLimitMs, signal });
    return 0;
  },
};
