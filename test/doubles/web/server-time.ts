/** The clock of a server: that of the machine, shifted by the test. All times of the server are from this clock. */
export class ServerTime {
  #aheadMs = 0;
  /** Of the times it writes, east of Greenwich. */
  offsetMinutes = 0;

  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  /** `2026-11-15T16:00:00.000+02:00`, or with a `Z` where the offset is none. */
  iso(atMs: number): string {
    const local = new Date(atMs + this.offsetMinutes * 60_000).toISOString().slice(0, -1);
    return local + (this.offsetMinutes === 0 ? "Z" : this.offset(":"));
  }

  offset(between: string): string {
    const minutes = Math.abs(this.offsetMinutes);
    const two = (value: number) => String(value).padStart(2, "0");
    return `${this.offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}${between}${two(minutes % 60)}`;
  }
}
