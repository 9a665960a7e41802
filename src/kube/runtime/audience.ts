import type { ChangeEvent, ChangeHandler } from "./object-cache.ts";

/** The subscribers of an informer. A handler that throws affects neither the other handlers nor the informer. */
export class Audience<T> {
  /** Replaced, never changed, so that a handler that subscribes during a change does not receive it twice. */
  #listeners: readonly Listener<T>[] = [];
  readonly #failed: (error: unknown) => void;

  /** `failed` is called when a handler throws, and not again before the handler has succeeded in between. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Calls `handler` for all objects that are `present`, then for each change, until the returned function is called. */
  join(handler: ChangeHandler<T>, present: readonly T[]): () => void {
    const listener: Listener<T> = { handler, failing: false, left: false };
    this.#listeners = [...this.#listeners, listener];
    for (const object of present) this.#notify(listener, "ADDED", object, undefined);
    return () => {
      listener.left = true;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  notify(event: ChangeEvent, object: T, previous: T | undefined): void {
    for (const listener of this.#listeners) this.#notify(listener, event, object, previous);
  }

  #notify(listener: Listener<T>, event: ChangeEvent, object: T, previous: T | undefined) {
    if (listener.left) return;
    try {
      const result: unknown = listener.handler(event, object, previous);
      // TypeScript accepts an async function for a `void` one; its rejection would end the process.
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
