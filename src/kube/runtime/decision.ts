/** The result of a controller's `decide`: the actions to perform now, in order, and when to decide again without an event. */
export interface Decision<Action> {
  readonly actions: readonly Action[];
  readonly requeueAfterMs?: number;
}

export const nothing: Decision<never> = { actions: [] };

export function decision<Action>(...actions: readonly Action[]): Decision<Action> {
  return { actions };
}

export function requeueAfter(requeueAfterMs: number): Decision<never> {
  return { actions: [], requeueAfterMs };
}

export function requeueAt(atMs: number, nowMs: number): Decision<never> {
  return requeueAfter(Math.max(1, atMs - nowMs));
}

/** The smallest of the delays that are given; undefined if none is. */
export function soonest(...delays: readonly (number | undefined)[]): number | undefined {
  const given = delays.filter((delay) => delay !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
