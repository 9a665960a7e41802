/** Selects the requests of a fault: the next `times` that match, after the first `after` matches. */
export interface Match {
  readonly method?: string;
  /** The end of a path template as the request log has it, or a pattern for the path with its query. */
  readonly path?: string | RegExp;
  readonly times?: number;
  readonly after?: number;
}

export interface Failure extends Match {
  readonly status: number;
  readonly retryAfterSeconds?: number;
  readonly body?: unknown;
}

/** The properties of a request by which faults are selected. */
export interface Subject {
  readonly method: string;
  readonly template: string;
  readonly path: string;
}

type Effect =
  | { readonly do: "fail"; readonly failure: Failure }
  | { readonly do: "lose" }
  | { readonly do: "cut"; readonly afterBytes: number }
  | { readonly do: "delay"; readonly ms: number }
  | { readonly do: "before" | "after"; readonly action: Action };

/** May wait. If it throws, the connection is cut: before the request, with nothing applied; after it, without an answer. */
type Action = (request: Subject) => unknown;

interface Fault {
  readonly match: Match;
  readonly effect: Effect;
  passesLeft: number;
  timesLeft: number;
}

/** The faults of one request. */
export interface Fate {
  delayMs: number;
  readonly before: Action[];
  readonly after: Action[];
  failure?: Failure;
  isLost: boolean;
  cutAfterBytes?: number;
}

/** Faults between a client and a server, as requested by a test. */
export class Faults {
  /** How far the `Date` header is off the server's own clock. */
  dateSkewMs = 0;
  #faults: Fault[] = [];

  /** Responds with this status. The request is not applied. */
  failNext(failure: Failure): void {
    this.#add(failure, { do: "fail", failure });
  }

  /** Applies the request, and cuts the connection instead of a response. */
  loseReply(match: Match = {}): void {
    this.#add(match, { do: "lose" });
  }

  /** Applies the request, and cuts the connection within the body of the response. */
  cutReply(match: Match & { readonly afterBytes: number }): void {
    this.#add(match, { do: "cut", afterBytes: match.afterBytes });
  }

  /** Delays all matching requests, or the next `times`, before they are applied. */
  delay(match: Match & { readonly ms: number }): void {
    this.#add({ times: Number.POSITIVE_INFINITY, ...match }, { do: "delay", ms: match.ms });
  }

  /** Runs an action right before the request is applied, such as a push by another user. */
  before(match: Match, action: Action): void {
    this.#add(match, { do: "before", action });
  }

  /** Runs an action after the request was applied, right before the response. */
  after(match: Match, action: Action): void {
    this.#add(match, { do: "after", action });
  }

  clear(): void {
    this.#faults = [];
    this.dateSkewMs = 0;
  }

  /** Decides about one request, and counts it. */
  fateOf(subject: Subject): Fate {
    const fate: Fate = { delayMs: 0, before: [], after: [], isLost: false };
    if (this.#faults.length === 0) return fate;
    for (const fault of this.#faults) {
      if (!fits(fault.match, subject)) continue;
      if (fault.passesLeft > 0) fault.passesLeft--;
      else if (apply(fault.effect, fate)) fault.timesLeft--;
    }
    this.#faults = this.#faults.filter(({ timesLeft }) => timesLeft > 0);
    return fate;
  }

  #add(match: Match, effect: Effect): void {
    this.#faults.push({ match, effect, passesLeft: match.after ?? 0, timesLeft: match.times ?? 1 });
  }
}

function fits({ method, path }: Match, subject: Subject): boolean {
  if (method !== undefined && method !== subject.method) return false;
  if (path === undefined) return true;
  return typeof path === "string" ? subject.template.endsWith(path) : path.test(subject.path);
}

/** Returns false if the request already has another fault, so that this one is kept for the next request. */
function apply(effect: Effect, fate: Fate): boolean {
  if (effect.do === "delay") fate.delayMs += effect.ms;
  else if (effect.do === "before" || effect.do === "after") fate[effect.do].push(effect.action);
  else if (fate.failure || fate.isLost || fate.cutAfterBytes !== undefined) return false;
  else if (effect.do === "fail") fate.failure = effect.failure;
  else if (effect.do === "cut") fate.cutAfterBytes = effect.afterBytes;
  else fate.isLost = true;
  return true;
}
