import type { ChangeEvent, ChangeHandler } from "./object-cache.ts";

/** The subscribers of an informer. A handler that throws affects neither the other handlers nor the informer. */
export class Subscribers<T> {
  /** Replaced, never changed, so that a handler that subscribes during a change does not receive it twice. */
  #all: readonly Subscriber<T>[] = [];
  readonly #failed: (error: unknown) => void;

  /** `failed` is called when a handler throws, and not again before the handler has succeeded in between. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Calls `handler` for all objects that are `present`, then for each change, until the returned function is called. */
  add(handler: ChangeHandler<T>, present: readonly T[]): () => void {
    const subscriber: Subscriber<T> = { handler, isFailing: false, isRemoved: false };
    this.#all = [...this.#all, subscriber];
    for (const object of present) this.#notify(subscriber, "ADDED", object, undefined);
    return () => {
      subscriber.isRemoved = true;
      this.#all = this.#all.filter((other) => other !== subscriber);
    };
  }

  notify(event: ChangeEvent, object: T, previous: T | undefined): void {
    for (const subscriber of this.#all) this.#notify(subscriber, event, object, previous);
  }

  #notify(subscriber: Subscriber<T>, event: ChangeEvent, object: T, previous: T | undefined) {
    if (subscriber.isRemoved) return;
    try {
      const result: unknown = subscriber.handler(event, object, previous);
      // TypeScript accepts an async function for a `void` one; its rejection would end the process.
      if (result instanceof Promise) result.catch((error) => this.#fail(subscriber, error));
      else subscriber.isFailing = false;
    } catch (error) {
      this.#fail(subscriber, error);
    }
  }

  #fail(subscriber: Subscriber<T>, error: unknown) {
    if (subscriber.isFailing) return;
    subscriber.isFailing = true;
    this.#failed(error);
  }
}

interface Subscriber<T> {
  readonly handler: ChangeHandler<T>;
  isFailing: boolean;
  isRemoved: boolean;
}
