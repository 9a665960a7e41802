import { collectInPod, fetchInPod } from "../../../agent/index.ts";
import { openObjects, secretFile } from "../../../app/index.ts";
import { CommandError } from "../../command.ts";
import { type CommandContext, configFromEnvironment } from "../../context.ts";

/** The timeout of one run of git. */
const timeLimitMs = 240_000;

/** `interlock coder fetch`, in the pod of a coder. */
export async function fetchFiles(context: CommandContext): Promise<void> {
  const { clock, env } = context;
  const { url = "", tokenFile = "" } = (await configFromEnvironment(context)).config.gitlab;
  const token = secretFile("gitlab.tokenFile", tokenFile, { clock });
  const { signal } = new AbortController();
  await fetchInPod({ origin: new URL(url).origin, token }, { env, clock, timeLimitMs, signal });
}

/** `interlock coder collect`, in the pod of a coder. */
export async function collectResult(context: CommandContext): Promise<void> {
  const { clock, random, env } = context;
  const { config } = await configFromEnvironment(context);
  const embedded = () => Promise.reject(new CommandError("coder collect is for the pods of Jobs"));
  const { client } = await openObjects({ config, embedded, clock, random, env });
  const { CODER_JOB: name = "", CODER_JOB_UID: uid = "", CODER_NAMESPACE: namespace = "" } = env;
  const { signal } = new AbortController();
  await collectInPod({ name, uid, namespace }, client, { env, clock, timeLimitMs, signal });
}
