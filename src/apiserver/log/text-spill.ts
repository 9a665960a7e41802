/**
 * Port: keeps long texts that are rarely read out of memory. It is no storage: its texts are in the log as well, and are
 * gone with the process. Reads are synchronous, because an object is read in the middle of a decision.
 */
export interface TextSpill {
  /** Undefined if the text is too short to be worth it, or there is no room: then it stays in memory. */
  put(text: string): SpilledText | undefined;
  close(): void;
}

export interface SpilledText {
  /** Throws KubeError `unavailable` if the text cannot be read back as it was. */
  read(): string;
  /** The text is read no more. */
  free(): void;
}
