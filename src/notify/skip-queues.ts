import { byAge, type ChangeHandler } from "../kube/index.ts";
import type { NotificationRequest } from "../resources/index.ts";

/**
 * The notices of each digest, oldest first. Every notice of a digest needs the oldest, so they are kept in order: sorting
 * thousands of them for each one would stall the process at the end of a digest window.
 */
export class SkipQueues {
  readonly #digestKey: (notice: NotificationRequest) => string | undefined;
  readonly #keys = new Map<string, string>();
  readonly #queues = new Map<string, Queue>();

  constructor(notices: Subscribable, digestKey: (notice: NotificationRequest) => string | undefined) {
    this.#digestKey = digestKey;
    notices.subscribe((event, notice) => this.#change(notice, event === "DELETED" ? undefined : digestKey(notice)));
  }

  /** Returns the oldest notices of the digest that `notice` belongs to, at most `max`. */
  listOldest(notice: NotificationRequest, max: number): readonly NotificationRequest[] {
    return this.#queues.get(this.#digestKey(notice) ?? "")?.listOldest(max) ?? [];
  }

  #change(notice: NotificationRequest, key: string | undefined) {
    const { uid = "" } = notice.metadata;
    const before = this.#keys.get(uid);
    if (before !== undefined && before !== key) this.#remove(uid, before);
    if (key === undefined) return;
    this.#keys.set(uid, key);
    const queue = this.#queues.get(key) ?? new Queue();
    this.#queues.set(key, queue);
    queue.put(uid, notice);
  }

  #remove(uid: string, key: string) {
    this.#keys.delete(uid);
    const queue = this.#queues.get(key);
    queue?.remove(uid);
    if (queue?.isEmpty) this.#queues.delete(key);
  }
}

interface Subscribable {
  subscribe(handler: ChangeHandler<NotificationRequest>): () => void;
}

/** Notices usually arrive in the order of their age, so that a new one is put behind the others. */
class Queue {
  #notices = new Map<string, NotificationRequest>();
  #newest: NotificationRequest | undefined;
  #isSorted = true;

  get isEmpty(): boolean {
    return this.#notices.size === 0;
  }

  put(uid: string, notice: NotificationRequest) {
    const isNew = !this.#notices.has(uid);
    this.#notices.set(uid, notice);
    if (!isNew) return;
    if (this.#newest && byAge(notice, this.#newest) < 0) this.#isSorted = false;
    else this.#newest = notice;
  }

  remove(uid: string) {
    this.#notices.delete(uid);
  }

  listOldest(max: number): readonly NotificationRequest[] {
    if (!this.#isSorted) {
      this.#notices = new Map([...this.#notices].sort(([, one], [, other]) => byAge(one, other)));
      this.#isSorted = true;
    }
    const oldest: NotificationRequest[] = [];
    for (const notice of this.#notices.values()) {
      if (oldest.length === max) break;
      oldest.push(notice);
    }
    return oldest;
  }
}
