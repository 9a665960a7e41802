import { MisuseError, type ServerContext } from "../command.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/options.ts";
import { objectText } from "./operate-on.ts";
import { startAndFollow } from "./start-and-follow.ts";

interface RunOptions {
  readonly target: string;
  readonly param?: readonly string[];
  readonly approval?: string;
  readonly namespace?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly wait: boolean;
}

/** `interlock run` */
export async function run(context: ServerContext, workflow: string, options: RunOptions): Promise<number> {
  const { target, param = [], approval, namespace, reason = "no reason given", dryRun, wait } = options;
  const parameters = readParameters(param);
  const request = { workflow, target, reason, parameters, approval, namespace, dryRun };
  return startAndFollow("run", request, { wait }, context);
}

function readParameters(params: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    params.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new MisuseError(`--param needs NAME=VALUE, got ${text}`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

interface RetryOptions extends NamespaceOptions {
  readonly reason: string;
  readonly approval?: string;
  readonly dryRun?: boolean;
  readonly wait: boolean;
}

/** `interlock retry` */
export async function retry(context: ServerContext, name: string, options: RetryOptions): Promise<number> {
  const { reason, approval, dryRun, wait } = options;
  const object = objectText(bareName(name), searchedNamespace(options, context));
  return startAndFollow("retry", { object, reason, approval, dryRun }, { wait }, context);
}
