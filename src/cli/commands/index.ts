import { mappedPath, signalPaths } from "../../app/index.ts";
import type { Command } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { atDesk } from "../open-desk.ts";
import { ack } from "./ack.ts";
import { approve, reject } from "./approve.ts";
import { cancel } from "./cancel.ts";
import { get } from "./get.ts";
import { audit, ledger } from "./ledger/open-archive.ts";
import { logs } from "./logs.ts";
import { pause } from "./pause.ts";
import { policy } from "./policy.ts";
import { api } from "./processes/api.ts";
import { coder } from "./processes/coder.ts";
import { manifests } from "./processes/manifests.ts";
import { agent, executor, gateway, notify, orchestrator } from "./processes/stages.ts";
import { up } from "./processes/up.ts";
import { receiving } from "./receive.ts";
import { resume } from "./resume.ts";
import { run } from "./run.ts";
import { why } from "./why/why.ts";

/** Everything that can be typed behind `interlock`, in the order of the help. */
export const commands: Readonly<Record<string, readonly Command<CommandContext>[]>> = {
  Processes: [up, api, gateway, orchestrator, executor, notify, agent, manifests, coder],
  Inspect: [...[get, why, logs].map(atDesk), ledger, audit, policy],
  Operate: [receiving(signalPaths, mappedPath), run, ack, approve, reject, pause, resume, cancel].map(atDesk),
};
