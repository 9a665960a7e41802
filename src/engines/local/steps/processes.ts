/** Port: the processes of steps. A step is identified by its folder, by which a later runner finds its processes. */
export interface Processes {
  /**
   * Starts the wrapper of a step. Resolves when the wrapper has ended: with the problem if it failed. After `abandon` the step
   * continues, but does not keep this process alive.
   */
  start(launch: Launch, abandon?: AbortSignal): Promise<string | undefined>;
  /** Whether any process of the step, or the collector of its output, is alive. */
  isAlive(folder: string): Promise<boolean>;
  /** Sends a signal to every process of the step. */
  signal(folder: string, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface Launch {
  /** The existing folder of this step. */
  readonly folder: string;
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** The size of the kept first part, and of the kept last part, of the output. */
  readonly outputBytes: number;
}
