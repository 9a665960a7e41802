export interface LoggedRequest {
  readonly method: string;
  /** `/api/v4/projects/:id`, or `unknown`. */
  readonly template: string;
  /** With its query. */
  readonly path: string;
  readonly atMs: number;
  /** Undefined until it was answered, and for good if the reply was lost. */
  status?: number;
}

const keptRequests = 50_000;

/** The requests to a server: the number of all since the last `clear`, and the latest ones. */
export class RequestLog {
  #requests: LoggedRequest[] = [];
  #counts = new Map<string, number>();

  add(request: LoggedRequest): void {
    const name = `${request.method} ${request.template}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#requests.push(request);
    if (this.#requests.length > 2 * keptRequests) this.#requests = this.#requests.slice(-keptRequests);
  }

  get latest(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** By method and path template, `GET /api/v4/user`. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Of the requests whose method and path template end like this: `POST /notes` are all answers and notes. */
  count(method: string, templateEnd = ""): number {
    let total = 0;
    for (const [name, count] of this.#counts) {
      if (name.startsWith(`${method} `) && name.endsWith(templateEnd)) total += count;
    }
    return total;
  }

  clear(): void {
    this.#requests = [];
    this.#counts.clear();
  }
}
