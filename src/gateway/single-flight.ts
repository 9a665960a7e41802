/** Callers of one key share one run: the first does the work, the others get what came of it. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  async run(key: string, work: () => Promise<T>): Promise<{ readonly result: T; readonly isMine: boolean }> {
    const joined = this.#flights.get(key);
    if (joined !== undefined) return { result: await joined, isMine: false };

    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return { result: await flight, isMine: true };
  }
}
