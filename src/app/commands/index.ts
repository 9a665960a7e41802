import {
  ack,
  approve,
  type Command,
  cancel,
  get,
  logs,
  pause,
  receiving,
  reject,
  resume,
  run,
  why,
} from "../../cli/index.ts";
import { mappedPath, signalPaths } from "../signal-routes.ts";
import { agent } from "./agent.ts";
import { api } from "./api.ts";
import { atDesk } from "./at-desk.ts";
import { coder } from "./coder.ts";
import { executor } from "./executor.ts";
import { gateway } from "./gateway.ts";
import { audit, ledger } from "./ledger.ts";
import { manifests } from "./manifests.ts";
import { notify } from "./notify.ts";
import { orchestrator } from "./orchestrator.ts";
import { policy } from "./policy.ts";
import type { CommandContext } from "./surroundings.ts";
import { up } from "./up.ts";

export type { CommandContext } from "./surroundings.ts";

/** Everything that can be typed behind `interlock`, in the order of the help. */
export const commands: Readonly<Record<string, readonly Command<CommandContext>[]>> = {
  Processes: [up, api, gateway, orchestrator, executor, notify, agent, manifests, coder],
  "Look at what happens": [...[get, why, logs].map(atDesk), ledger, audit, policy],
  "Do something about it": [receiving(signalPaths, mappedPath), run, ack, approve, reject, pause, resume, cancel].map(
    atDesk,
  ),
};
