import { type LinearPattern, linearPattern } from "../../kube/index.ts";
import { builtInKinds, parseYamlFile, type TextFile } from "../../resources/index.ts";
import { mustBe, type Wire, z } from "../../schema/index.ts";
import { plainSteps, type Reporter, type ReporterMatch, type SubjectStep } from "./reporters.ts";

export type ProvenanceReading =
  | { readonly kind: "valid"; readonly reporters: readonly Reporter[] }
  /** `file:line: path problem`, all of them. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads the rows that an installation adds to the table of label provenance: `provenance:` of a YAML file. */
export function readProvenance(file: TextFile): ProvenanceReading {
  const yaml = parseYamlFile(file, provenanceFile);
  return yaml.kind === "invalid" ? yaml : { kind: "valid", reporters: yaml.value.provenance.map(toReporter) };
}

const patternRule = "must be text, a /regular expression/ or a list of them";
const patternText = z.string({ error: patternRule }).min(1, { error: patternRule });

/** A text, a list of texts, or `/a regular expression/`, for the whole value. */
const pattern = z
  .union([patternText, z.array(patternText)], { error: patternRule })
  .refine((texts) => compilePattern(texts) !== undefined, { error: "is not a valid regular expression" });

const texts = z.array(z.string(), mustBe("a list of texts"));

const matchRule = "must be one or more of exporter, alertname, labels, without";
const match = z
  .strictObject(
    {
      exporter: pattern.optional(),
      alertname: pattern.optional(),
      labels: z.record(z.string(), pattern, mustBe("names with patterns")).optional(),
      without: texts.optional(),
    },
    { error: ({ code }) => (code === "invalid_type" ? matchRule : undefined) },
  )
  .refine((conditions) => Object.keys(conditions).length > 0, { error: matchRule });

const stepRule = `there is ${plainSteps.join(", ")} and LABEL=KIND, as in app=Deployment`;
const step = z.string().refine(isStep, { error: ({ input }) => `is "${input}"; ${stepRule}` });

const row = z.strictObject(
  {
    name: z.string().min(1),
    match,
    scrape: texts.optional(),
    subject: z.array(step, mustBe("a list of texts")),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must be a row with name, match, scrape, subject" : undefined) },
);

const provenanceFile = z.object({ provenance: z.array(row, mustBe("a list of rows")) }, mustBe("a list provenance:"));

function toReporter({ name, match, scrape = [], subject }: Wire<typeof row>): Reporter {
  return {
    name,
    match: [toReporterMatch(match)],
    scrape,
    // The schema accepts only steps.
    subject: subject as readonly SubjectStep[],
    otherwise: `the row "${name}" of the label provenance table finds none`,
  };
}

function toReporterMatch({ exporter, alertname, labels, without }: Wire<typeof match>): ReporterMatch {
  const compiled = Object.entries(labels ?? {}).map(([label, texts]) => [label, compileValid(texts)] as const);
  return {
    ...(exporter === undefined ? {} : { exporter: compileValid(exporter) }),
    ...(alertname === undefined ? {} : { alertname: compileValid(alertname) }),
    ...(labels === undefined ? {} : { labels: Object.fromEntries(compiled) }),
    ...(without === undefined ? {} : { without }),
  };
}

type PatternTexts = string | readonly string[];

function compileValid(texts: PatternTexts): LinearPattern {
  const compiled = compilePattern(texts);
  if (!compiled) throw new TypeError("the schema accepts only valid patterns");
  return compiled;
}

/** Returns undefined if an expression is not valid. */
function compilePattern(texts: PatternTexts): LinearPattern | undefined {
  const list: readonly string[] = typeof texts === "string" ? [texts] : texts;
  const sources = list.map((text) => {
    const [, expression] = /^\/(.+)\/$/.exec(text) ?? [];
    return expression ?? text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  try {
    return linearPattern(`^(?:${sources.join("|")})$`);
  } catch {
    return undefined;
  }
}

function isStep(text: string): boolean {
  if ((plainSteps as readonly string[]).includes(text)) return true;
  const [, kind] = /^[A-Za-z_][A-Za-z0-9_]*=(.+)$/.exec(text) ?? [];
  const isWithGroup = kind !== undefined && /^[A-Z][A-Za-z0-9]*\.[a-z0-9.-]+\/v[a-z0-9]+$/.test(kind);
  return kind !== undefined && (isWithGroup || builtInKinds.find(kind) !== undefined);
}
