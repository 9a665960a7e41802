import type { Desk } from "../../src/cli/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import { executionNamespace } from "../../src/resources/index.ts";

/** Somebody called kim at the command line, and what is printed there. */
export class TestDesk implements Desk {
  readonly client: KubeClient;
  readonly lines: string[] = [];
  readonly directory: string;
  readonly settings = defaultPolicy;
  readonly incidentsIn = "kubernaut-system";
  readonly recordsIn: string;
  readonly terminal;
  #ids = 0;

  constructor(client: KubeClient, { recordsIn = executionNamespace, directory = ".data" } = {}) {
    this.client = client;
    this.recordsIn = recordsIn;
    this.directory = directory;
    this.terminal = {
      print: (line: string) => void this.lines.push(line),
      id: () => `id${++this.#ids}`,
      user: "kim",
    };
  }

  /** Everything that was printed since the last time it was asked for. */
  read(): string {
    return this.lines.splice(0).join("\n");
  }
}
