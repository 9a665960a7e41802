/** What a PromQL expression of ours names. */
export interface Named {
  readonly metrics: readonly { readonly name: string; readonly matchers: readonly Matcher[] }[];
  /** In `by (…)`. */
  readonly grouped: readonly string[];
}

export interface Matcher {
  readonly label: string;
  /** Of a pattern: each alternative. */
  readonly values: readonly string[];
}

/** All our metrics have an underscore in their names, and of the functions only one. */
export function namedIn(expression: string): Named {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/, */));
  const rest = expression.replaceAll(/\bby \([^)]*\)/g, "");
  const metrics = [...rest.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)\b(?:\{([^}]*)\})?/g)]
    .filter(([, name]) => name !== "histogram_quantile")
    .map(([, name = "", inside = ""]) => ({ name, matchers: matchersIn(inside) }));
  return { metrics, grouped };
}

function matchersIn(inside: string): Matcher[] {
  return [...inside.matchAll(/([a-z_]+)(?:=|!=|=~|!~)"([^"]*)"/g)].map(([, label = "", value = ""]) => ({
    label,
    values: value.split("|"),
  }));
}

/** Values of labels by name of the label by name of the metric, out of the text that Prometheus reads. */
export function exposedIn(text: string): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const exposed = new Map<string, Map<string, Set<string>>>();
  for (const line of text.split("\n")) {
    const [, name, inside = ""] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (!name) continue;
    const labels = exposed.get(name) ?? new Map<string, Set<string>>();
    exposed.set(name, labels);
    for (const [, label = "", value = ""] of inside.matchAll(/([a-zA-Z_]+)="([^"]*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
  return exposed;
}
