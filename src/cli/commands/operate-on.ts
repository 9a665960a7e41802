import type { OperationName } from "../../operate/index.ts";
import type { ServerContext } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/options.ts";
import { performOperation } from "../perform-operation.ts";

interface ObjectOptions extends NamespaceOptions {
  readonly reason: string;
  readonly block?: boolean;
  readonly dryRun?: boolean;
}

/** `interlock ack`, `approve`, `reject` and `cancel` */
export function operateOn(operation: OperationName) {
  return async (context: ServerContext, names: readonly string[], options: ObjectOptions): Promise<number> => {
    const { reason, block, dryRun } = options;
    const namespace = searchedNamespace(options, context);
    return forEachName(names, context, async (name) => {
      const object = objectText(bareName(name), namespace);
      await performOperation(operation, { object, reason, block, dryRun }, context);
    });
  };
}

/** An object as operations name it. */
export function objectText(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
