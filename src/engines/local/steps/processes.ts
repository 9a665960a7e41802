/** Port: the processes of steps. A step is known by its folder, so that another process can find what we started. */
export interface Processes {
  /**
   * Starts the wrapper of a step. Resolves when the wrapper has ended; with a sentence if it did not end well. After
   * `abandon` the step goes on, but does not keep this process from ending.
   */
  start(launch: Launch, abandon?: AbortSignal): Promise<string | undefined>;
  /** Whether any process of the step, or what collects its output, is still there. */
  isAlive(folder: string): Promise<boolean>;
  /** Sends a signal to every process of the step. */
  signal(folder: string, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface Launch {
  /** Exists, and belongs to this step alone. */
  readonly folder: string;
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** How much of the beginning, and of the end, of its output is kept. */
  readonly outputBytes: number;
}
