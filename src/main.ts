import { startEmbeddedApi } from "./app/index.ts";
import { apiUsage, readApiArguments } from "./cli/index.ts";
import { pinoLogger } from "./telemetry/index.ts";
import { systemClock, systemRandom } from "./time/index.ts";

const usage = `interlock COMMAND [OPTIONS]

Commands
  up     everything in one process: today the embedded API server
  api    the embedded API server alone

Options of both
${apiUsage}
`;

const [command = "help", ...args] = process.argv.slice(2);
try {
  if (command === "up" || command === "api") await serve(args);
  else if (command === "help" || command === "--help") console.log(usage);
  else throw new TypeError(`there is no command "${command}"\n\n${usage}`);
} catch (error) {
  console.error(`interlock: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function serve(options: readonly string[]) {
  const clock = systemClock();
  const log = pinoLogger({ level: "warn", format: "text", clock });
  const given = readApiArguments(options, process.env);
  const { url, kubeconfigFile, close } = await startEmbeddedApi({ ...given, clock, random: systemRandom(), log });
  console.log(`Interlock is running.

  API server   ${url}   objects are kept in ${given.directory}
  kubectl      kubectl --kubeconfig ${kubeconfigFile} get crds
  stop         Ctrl-C; everything is still there at the next start
`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void close());
}
