import type { ChangeEvent, ChangeHandler } from "./object-cache.ts";

/** Those who want to hear of changes. One who fails neither stops the others nor whoever tells them. */
export class Audience<T> {
  /** Replaced, never changed, so that who joins while a change is told does not hear of it twice. */
  #listeners: readonly Listener<T>[] = [];
  readonly #failed: (error: unknown) => void;

  /** `failed` is told of a handler that throws; not again until the handler has worked in between. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Tells `handler` of everything that is `present`, then of each change, until the returned function is called. */
  join(handler: ChangeHandler<T>, present: readonly T[]): () => void {
    const listener: Listener<T> = { handler, failing: false, left: false };
    this.#listeners = [...this.#listeners, listener];
    for (const object of present) this.#tell(listener, "ADDED", object, undefined);
    return () => {
      listener.left = true;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  tell(event: ChangeEvent, object: T, previous: T | undefined): void {
    for (const listener of this.#listeners) this.#tell(listener, event, object, previous);
  }

  #tell(listener: Listener<T>, event: ChangeEvent, object: T, previous: T | undefined) {
    if (listener.left) return;
    try {
      const result: unknown = listener.handler(event, object, previous);
      // An async function is welcome where `void` is asked for; its rejection would end the process.
      if (result instanceof Promise) result.catch((error) => this.#fail(listener, error));
      else listener.failing = false;
    } catch (error) {
      this.#fail(listener, error);
    }
  }

  #fail(listener: Listener<T>, error: unknown) {
    if (listener.failing) return;
    listener.failing = true;
    this.#failed(error);
  }
}

interface Listener<T> {
  readonly handler: ChangeHandler<T>;
  failing: boolean;
  left: boolean;
}
