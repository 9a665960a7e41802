import { appendFileSync, readFileSync } from "node:fs";

/** What steps report about themselves, in the order in which they did. */
export interface Testimony {
  readonly reported: "start" | "end";
  readonly executionUid: string;
  readonly target: string;
  readonly fence: string;
  readonly pid: number;
}

/** The commands of a step: each records its begin and, unless it is killed, its end. */
export const deeds = {
  succeed: "sleep 0.02; end; exit 0",
  fail: "sleep 0.02; end; exit 3",
  hang: "exec sleep 60",
} as const;

export type Deed = keyof typeof deeds;

/** A file to which steps append lines. One short line is one write, so their order is the order of events. */
export class StepWitness {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    appendFileSync(file, "");
  }

  /** A script for /bin/sh that expects EXECUTION_UID, TARGET_RESOURCE and FENCE in its environment. */
  script(deed: Deed): string {
    const report = (word: string) => `echo "${word} $EXECUTION_UID $TARGET_RESOURCE $FENCE $$" >> '${this.#file}'`;
    return `end() { ${report("end")}; }; ${report("start")}; ${deeds[deed]}`;
  }

  read(): readonly Testimony[] {
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [reported = "", executionUid = "", target = "", fence = "", pid = ""] = line.split(" ");
      return { reported: reported as Testimony["reported"], executionUid, target, fence, pid: Number(pid) };
    });
  }

  of(executionUid: string): readonly Testimony[] {
    return this.read().filter((testimony) => testimony.executionUid === executionUid);
  }
}

/** Every moment at which a step began on a target while another was at work there, or with an older fence. */
export function overlaps(testimonies: readonly Testimony[]): readonly string[] {
  const atWork = new Map<string, string>();
  const fences = new Map<string, bigint>();
  const found: string[] = [];
  for (const { reported, executionUid, target, fence } of testimonies) {
    const holder = atWork.get(target);
    if (reported === "end") {
      if (holder === executionUid) atWork.delete(target);
      continue;
    }
    if (holder !== undefined) found.push(`${executionUid} began on ${target} while ${holder} was at work`);
    if (BigInt(fence) <= (fences.get(target) ?? 0n)) found.push(`${executionUid} began on ${target} with an old fence`);
    atWork.set(target, executionUid);
    fences.set(target, BigInt(fence));
  }
  return found;
}
