import type { Rule } from "./rule.ts";

/** Finds rules that could wait for ever: for a rule that does not exist, or in a cycle. Sentences without their full stop. */
export function deferralProblems(rules: readonly Rule[]): readonly string[] {
  const causes = new Map(rules.map((rule) => [rule.name, listCauses(rule)]));
  return rules.flatMap(({ name }) => {
    const unknown = (causes.get(name) ?? []).filter((cause) => !causes.has(cause));
    const cycle = findCycle(name, causes);
    return [
      ...unknown.map((cause) => `rule ${name}: deferWhile names the rule ${cause}, which does not exist`),
      ...(cycle ? [`rule ${name} is deferred in a cycle: ${cycle.join(" waits for ")}`] : []),
    ];
  });
}

function listCauses({ deferWhile }: Rule): readonly string[] {
  return deferWhile === undefined ? [] : [deferWhile.rule].flat();
}

/** Finds the path from a rule back to itself. */
function findCycle(start: string, causes: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const paths: (readonly string[])[] = [[start]];
  const visited = new Set<string>();
  for (let path = paths.shift(); path; path = paths.shift()) {
    for (const cause of causes.get(path.at(-1) ?? "") ?? []) {
      if (cause === start) return [...path, start];
      if (visited.has(cause)) continue;
      visited.add(cause);
      paths.push([...path, cause]);
    }
  }
  return undefined;
}
