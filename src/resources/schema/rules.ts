import type { ValidationRule } from "../../kube/index.ts";

/** A stored value never changes. */
export function immutable(message: string): ValidationRule {
  return { rule: "self == oldSelf", message };
}

/** Of `fields`, those in `removable` may be removed, and nothing else changes. */
export function onlyRemoves(removable: readonly string[], fields: readonly string[], message: string): ValidationRule {
  const kept = fields.filter((field) => !removable.includes(field)).map(isUnchanged);
  const removed = removable.map((field) => {
    const is = celField(field);
    const was = is.replace(/^self/, "oldSelf");
    return `(!has(${is}) || (has(${was}) && ${is} == ${was}))`;
  });
  return { rule: [...kept, ...removed].join(" && "), message };
}

/** An optional field that is neither changed, added nor removed. */
export function isUnchanged(field: string): string {
  const is = celField(field);
  const was = is.replace(/^self/, "oldSelf");
  return `has(${is}) == has(${was}) && (!has(${is}) || ${is} == ${was})`;
}

/** Which phases may follow which. A phase with no successors is final. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** The phase changes only along `transitions`, so the server refuses an outdated writer. */
export function onlyTransitions(transitions: Transitions): ValidationRule {
  const steps = Object.entries(transitions)
    .filter(([, next]) => next.length > 0)
    .map(([from, next]) => `(oldSelf.phase == ${celText(from)} && ${celIsOneOf("self.phase", next)})`);
  return {
    rule: ["self.phase == oldSelf.phase", ...steps].join(" || "),
    message: "the phase cannot change like that",
    messageExpression: "'the phase cannot change from ' + oldSelf.phase + ' to ' + self.phase",
  };
}

/** A status that has reached one of `phases` stays in it. */
export function finalPhases(phases: readonly string[]): ValidationRule {
  return {
    rule: `!(${celIsOneOf("oldSelf.phase", phases)}) || self.phase == oldSelf.phase`,
    message: "the phase is final",
    messageExpression: "'the phase ' + oldSelf.phase + ' is final'",
  };
}

/** `self.name`, for a name that is not reserved in CEL. */
export function celField(name: string): string {
  if (!/^[a-zA-Z]\w*$/.test(name) || reserved.includes(name))
    throw new TypeError(`CEL cannot name the field "${name}"`);
  return `self.${name}`;
}

const reserved =
  "true false null in as break const continue else for function if import let loop package namespace return void var while".split(
    " ",
  );

export function celIsOneOf(operand: string, values: readonly string[]): string {
  if (values.length === 1) return `${operand} == ${celText(values[0] as string)}`;
  return `${operand} in [${values.map(celText).join(", ")}]`;
}

function celText(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
