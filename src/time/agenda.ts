import type { Clock, Timer } from "./clock.ts";

/** Something that is due at a time. Made once, then put on an agenda and taken off it any number of times. */
export class Appointment {
  /** @internal */ bucket: Bucket | undefined;
  /** @internal */ previous: Appointment | undefined;
  /** @internal */ next: Appointment | undefined;
  /** @internal */ readonly owner: { due(): void };

  /** `owner.due()` is called when the time has come. */
  constructor(owner: { due(): void }) {
    this.owner = owner;
  }
}

/** Buckets that an empty agenda keeps and skips later: removing a few each time would cost more. */
const maxEmptyBuckets = 64;

/**
 * Any number of appointments on one timer. Putting one on and taking it off cost O(1), because locks do both for every
 * acquisition, and few appointments become due. Never wakes early, and late by less than `resolutionMs` plus the delay of
 * the clock's own timer.
 */
export class Agenda {
  readonly #clock: Clock;
  readonly #resolutionMs: number;
  readonly #background: boolean;
  readonly #buckets = new Map<number, Bucket>();
  /** Binary heap of the slots in `#buckets`, so that the earliest is found without scanning. */
  readonly #slots: number[] = [];
  #size = 0;
  #timer: Timer | undefined;
  #timerSlot = Number.POSITIVE_INFINITY;

  /** `background`: its appointments do not keep the process alive. */
  constructor(clock: Clock, resolutionMs: number, { background = false } = {}) {
    this.#clock = clock;
    this.#resolutionMs = resolutionMs;
    this.#background = background;
  }

  get size(): number {
    return this.#size;
  }

  /** Puts `appointment` at `dueAt` on the clock, moving it if it already had a time. */
  put(appointment: Appointment, dueAt: number): void {
    const slot = Math.ceil(dueAt / this.#resolutionMs);
    if (appointment.bucket?.slot === slot) return;
    this.#unlink(appointment);

    let bucket = this.#buckets.get(slot);
    if (!bucket) {
      bucket = { slot, first: undefined };
      this.#buckets.set(slot, bucket);
      pushSlot(this.#slots, slot);
    }
    link(bucket, appointment);
    this.#size++;
    if (slot < this.#timerSlot) this.#arm(slot);
    else if (this.#size === 1) this.#timer?.setBackground(this.#background);
  }

  /** Takes `appointment` off; harmless when it is not on. */
  remove(appointment: Appointment): void {
    if (!appointment.bucket) return;
    this.#unlink(appointment);
    if (this.#size === 0) this.#rest();
  }

  /** An empty agenda must not keep the process alive. Its timer stays: it is likely to be early enough for the next. */
  #rest() {
    this.#timer?.setBackground(true);
    if (this.#slots.length < maxEmptyBuckets) return;
    this.#buckets.clear();
    this.#slots.length = 0;
  }

  #unlink(appointment: Appointment) {
    if (!appointment.bucket) return;
    unlink(appointment);
    this.#size--;
  }

  #arm(slot: number) {
    this.#timer?.cancel();
    this.#timerSlot = slot;
    const delayMs = slot * this.#resolutionMs - this.#clock.now();
    this.#timer = this.#clock.after(delayMs, () => this.#wakeDue(), { background: this.#background });
  }

  #wakeDue() {
    this.#timer = undefined;
    this.#timerSlot = Number.POSITIVE_INFINITY;
    const nowSlot = Math.floor(this.#clock.now() / this.#resolutionMs);

    for (let slot = this.#slots[0]; slot !== undefined; slot = this.#slots[0]) {
      const bucket = this.#buckets.get(slot);
      // Buckets emptied by `remove` are passed over here, whenever their time is.
      if (bucket?.first && slot > nowSlot) return slot < this.#timerSlot ? this.#arm(slot) : undefined;

      popSlot(this.#slots);
      this.#buckets.delete(slot);
      while (bucket?.first) {
        const appointment = bucket.first;
        this.#unlink(appointment);
        appointment.owner.due();
      }
    }
  }
}

interface Bucket {
  readonly slot: number;
  first: Appointment | undefined;
}

function link(bucket: Bucket, appointment: Appointment) {
  appointment.bucket = bucket;
  appointment.next = bucket.first;
  if (bucket.first) bucket.first.previous = appointment;
  bucket.first = appointment;
}

function unlink(appointment: Appointment) {
  const { bucket, previous, next } = appointment;
  if (previous) previous.next = next;
  else if (bucket) bucket.first = next;
  if (next) next.previous = previous;
  appointment.bucket = appointment.previous = appointment.next = undefined;
}

function pushSlot(heap: number[], slot: number) {
  let i = heap.push(slot) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if ((heap[parent] as number) <= slot) break;
    heap[i] = heap[parent] as number;
    i = parent;
  }
  heap[i] = slot;
}

function popSlot(heap: number[]) {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;

  let i = 0;
  for (let child = 1; child < heap.length; child = 2 * i + 1) {
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= last) break;
    heap[i] = heap[child] as number;
    i = child;
  }
  heap[i] = last;
}
