/** Why an attempt has to stop. */
export type Interruption =
  | { readonly kind: "stopping" }
  | { readonly kind: "cancelled"; readonly by: string }
  | { readonly kind: "superseded"; readonly by: string };

class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly why: Interruption;

  constructor(why: Interruption) {
    super(`interrupted: ${why.kind}`);
    this.why = why;
  }
}

/** Aborts an attempt with the reason. The first reason counts. */
export function interrupt(controller: AbortController, why: Interruption): void {
  controller.abort(new Interrupted(why));
}

export function interruptionOf({ reason }: AbortSignal): Interruption {
  return reason instanceof Interrupted ? reason.why : { kind: "stopping" };
}
