export { Agenda, Appointment } from "./agenda.ts";
export { type Backoff, backoffMs } from "./backoff.ts";
export { type Clock, Pacer, sleep, type Timer, timeLimit } from "./clock.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { type Random, systemRandom } from "./random.ts";
export { systemClock } from "./system-clock.ts";
