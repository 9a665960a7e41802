import type { ServerContext } from "../../src/cli/command.ts";
import { printTo, type Terminal } from "../../src/cli/output/terminal.ts";
import { interlock } from "../../src/cli/program.ts";
import type { KubeClient, PodLogs } from "../../src/kube/index.ts";
import { isWanted, type LedgerEvent } from "../../src/ledger/index.ts";
import { defaultPolicy, type Facts, type PolicySettings, type Rule } from "../../src/policy/index.ts";
import { executionNamespace, type Kinds, listKinds } from "../../src/resources/index.ts";
import { type Clock, systemClock, systemRandom } from "../../src/time/index.ts";

const noFacts = { kind: "unreadable", problem: "does not exist" } as const;

interface TestCliOptions {
  readonly recordsIn?: string;
  readonly catalogIn?: string;
  readonly directory?: string;
  readonly namespace?: string;
  readonly rules?: readonly Rule[];
  readonly clock?: Clock;
  /** Whether the output is a terminal. */
  readonly isTerminal?: boolean;
  /** Answers the questions of a command, if there is a terminal to ask at. */
  readonly ask?: NonNullable<Terminal["ask"]>;
  /** The ledger, if it can be read. */
  readonly events?: () => readonly LedgerEvent[];
  /** The output of pods, if the server has kubelets. */
  readonly podLogs?: PodLogs;
}

/** The command line of a user named kim, and the printed output. */
export class TestCli implements ServerContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lines: string[] = [];
  readonly podLogs?: PodLogs;
  /** The lines on standard error. */
  readonly errors: string[] = [];
  readonly directory: string;
  readonly namespace: string | undefined;
  readonly settings: PolicySettings = {
    ...defaultPolicy,
    engines: { available: ["tekton", "local"], default: "tekton" },
  };
  readonly incidentsIn = "kubernaut-system";
  readonly heartbeatsIn = "kubernaut-system";
  readonly digestWindowMs = 300_000;
  readonly catalogIn: string;
  readonly catalogDefaults = { engine: "tekton", serviceAccountName: undefined, allowOutsideCatalog: false } as const;
  readonly approvalExpiresAfterMs = 3_600_000;
  readonly recordsIn: string;
  readonly terminal;
  readonly #rules: readonly Rule[];
  readonly #events: (() => readonly LedgerEvent[]) | undefined;

  constructor(
    client: KubeClient,
    {
      recordsIn = executionNamespace,
      catalogIn = "kubernaut-system",
      directory = ".data",
      namespace,
      rules = [],
      clock = systemClock(),
      events,
      podLogs,
      isTerminal = true,
      ask,
    }: TestCliOptions = {},
  ) {
    this.#events = events;
    if (podLogs) this.podLogs = podLogs;
    this.clock = clock;
    this.#rules = rules;
    this.client = client;
    this.recordsIn = recordsIn;
    this.catalogIn = catalogIn;
    this.directory = directory;
    this.namespace = namespace;
    const screen = (lines: string[]) => ({
      write: (text: string) => void lines.push(...text.replace(/\n$/, "").split("\n")),
      isTerminal,
      hasColours: false,
    });
    this.terminal = {
      ...printTo(screen(this.lines), screen(this.errors)),
      user: "kim",
      ...(ask && { ask }),
    };
  }

  readonly random = systemRandom();
  /** What is found about the objects behind an incident. */
  facts: Facts = { object: noFacts, owner: noFacts };
  #interruption = new AbortController();

  interrupted(): ReturnType<ServerContext["interrupted"]> {
    return this.#interruption.signal;
  }

  /** Presses Ctrl-C. */
  interrupt(): void {
    const pressed = this.#interruption;
    this.#interruption = new AbortController();
    pressed.abort();
  }

  readonly verification = { graceMs: 120_000, windowMs: 900_000 };

  readEvents: ServerContext["readEvents"] = async (subject, { matches = () => true, max }) => {
    return this.#events?.()
      .filter((event) => isWanted(event, subject) && matches(event))
      .slice(-max);
  };

  async kinds(): Promise<Kinds> {
    return listKinds(this.client, []);
  }

  async readFacts(): ReturnType<ServerContext["readFacts"]> {
    return this.facts;
  }

  async rules(): Promise<readonly Rule[]> {
    return this.#rules;
  }

  /** Runs `interlock` with these arguments. Returns the exit status. */
  async run(...args: readonly string[]): Promise<number> {
    const withCommandContext = () =>
      Promise.reject(new Error("only commands that call the API server can be run here"));
    return interlock(args, { withCommandContext, withServerContext: (_options, work) => work(this) });
  }

  /** Everything that was printed since the last time it was asked for. */
  read(): string {
    return this.lines.splice(0).join("\n");
  }
}
