/** Which requests a fault befalls: the next `times` that fit, once `after` of them have passed unharmed. */
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

/** A request, as far as faults look at it. */
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

/** What becomes of one request. */
export interface Fate {
  delayMs: number;
  readonly before: Action[];
  readonly after: Action[];
  failure?: Failure;
  isLost: boolean;
  cutAfterBytes?: number;
}

/** What goes wrong on the way to a server and back, as a test orders it. */
export class Faults {
  /** How far the `Date` header is off the server's own clock. */
  dateSkewMs = 0;
  #faults: Fault[] = [];

  /** Answered with this status and not looked at: nothing is applied. */
  failNext(failure: Failure): void {
    this.#add(failure, { do: "fail", failure });
  }

  /** Applied; then the connection is cut instead of an answer. */
  loseReply(match: Match = {}): void {
    this.#add(match, { do: "lose" });
  }

  /** Applied; then the connection is cut within the answer's body. */
  cutReply(match: Match & { readonly afterBytes: number }): void {
    this.#add(match, { do: "cut", afterBytes: match.afterBytes });
  }

  /** Made to wait before they are looked at; all that fit unless `times` says otherwise. */
  delay(match: Match & { readonly ms: number }): void {
    this.#add({ times: Number.POSITIVE_INFINITY, ...match }, { do: "delay", ms: match.ms });
  }

  /** Something happens right before the request is looked at: a branch goes away, a person pushes, a test waits. */
  before(match: Match, action: Action): void {
    this.#add(match, { do: "before", action });
  }

  /** Something happens once the request was applied, right before it is answered. */
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

/** False if the request has met its end already, so that the fault is kept for the next one. */
function apply(effect: Effect, fate: Fate): boolean {
  if (effect.do === "delay") fate.delayMs += effect.ms;
  else if (effect.do === "before" || effect.do === "after") fate[effect.do].push(effect.action);
  else if (fate.failure || fate.isLost || fate.cutAfterBytes !== undefined) return false;
  else if (effect.do === "fail") fate.failure = effect.failure;
  else if (effect.do === "cut") fate.cutAfterBytes = effect.afterBytes;
  else fate.isLost = true;
  return true;
}
