import { signal } from "@preact/signals";

/** How far the server's clock is ahead of this machine's: countdowns follow the server, whatever the time is here. */
let offsetMs = 0;

/** The server's time in milliseconds, once a second. Every countdown and relative time on a page reads this one clock. */
export const clock = signal(Date.now());

/** The server's time at this moment. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

/** Corrects the clock by the time of a response. */
export function setServerTime(serverTime: string): void {
  const offset = Date.parse(serverTime) - Date.now();
  // Less than a second is the latency of the response; following it would make countdowns jump.
  if (Number.isFinite(offset) && Math.abs(offset - offsetMs) > 1_000) offsetMs = offset;
}

/** Runs the clock while the page is visible: a hidden tab uses no CPU for it. */
export function startClock(): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = () => {
    clock.value = serverNow();
  };
  const follow = () => {
    clearInterval(timer);
    if (document.hidden) return;
    tick();
    timer = setInterval(tick, 1_000);
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}
