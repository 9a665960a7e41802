import { type NamedSetting, sectionOf, sections, settings } from "./schema.ts";

/** docs/configuration.md, whole. `npm run docs` writes it; a test fails when the file differs. */
export function configurationPage(): string {
  const tables = sections.map((section) =>
    table(
      section,
      settings.filter(({ path }) => sectionOf(path) === section),
    ),
  );
  return [intro, ...tables, ending].join("\n");
}

const intro = `<!-- Written by \`npm run docs\` from src/config/schema.ts. Change the schema, not this page. -->

# Configuration

Interlock runs without any configuration. Settings come from a YAML file and from environment variables; every setting is
listed below. At start-up each value that is not a default is logged with its origin (\`setting\`; with \`log.level: debug\`
the defaults, too), and \`npm start\` prints them on its screen. A value that cannot be right stops the start, all problems
at once, each with its line or variable and what to write instead.

- **Precedence:** defaults, overridden by the file, overridden by the environment, overridden by an option of the command. A value
  that is overridden is still checked. \`interlock config view\` prints each setting with its value and its origin.
- **The file** is that of \`--config\`, else of \`INTERLOCK_CONFIG\`, else \`interlock.yaml\` in the working directory, else
  \`~/.config/interlock/config.yaml\`. Only the first of them is read ([cli.md](cli.md#settings-and-their-precedence)).
- **In the environment** each setting with a single value is \`INTERLOCK_\` and its name in capitals: \`INTERLOCK_LOCKS_TTL\` is
  \`locks.ttl\`. A variable that the table lists does the same; if both are set, the one with \`INTERLOCK_\` and the name wins.
  Settings of the policy and structures come from files alone.
- **In the file** \`locks.ttl\` is the line \`ttl:\` indented below \`locks:\`. Names that are not listed here are refused.
- **Paths** in the file are relative to the file; in the environment and as defaults they are relative to the working directory.
- **Empty** counts as not written, in the file and in the environment.
- **Durations** are written like \`500ms\`, \`30s\`, \`5m\`, \`1h\` or \`1m30s\`. A number without a unit is refused.
- **Secrets** are never printed. Keep them out of the file: use the environment variable.
- **Changes** take effect at the next start. A change of backend migrates nothing: the new one begins empty.

## The policy file

Orchestrator and executor have to agree about cooldown, backoff, limits and \`observe\`, and they and the gateway about the kinds
that are declared. Write these settings into one file and name it to all three with the environment variable
\`INTERLOCK_POLICY\`; in a cluster it is the ConfigMap \`interlock-policy\`. Without such a
file, a stage whose objects are on a shared server warns of each of these settings in its own file (\`setting in doubt\`). With such
a file, the settings below are refused in any other: ${settings
  .filter(({ isPolicy }) => isPolicy)
  .map(({ path }) => `\`${path}\``)
  .join(", ")}.
`;

const ending = `## Example

With \`REDIS_URL\` in the environment:

\`\`\`yaml
state:
  backend: redis
locks:
  ttl: 45s
claims:
  doneTtl: 2h
log:
  level: debug
  format: text
\`\`\`
`;

function table(section: string, rows: readonly NamedSetting[]): string {
  return [
    `## ${section}`,
    "",
    "| setting | environment | default | meaning |",
    "|---|---|---|---|",
    ...rows.map((setting) => `| ${cells(setting).join(" | ")} |`),
    "",
  ].join("\n");
}

function cells({ path, env, default: written, sameAs, about, kind }: NamedSetting): string[] {
  const fallback = sameAs ? `as \`${sameAs}\`` : written ? `\`${written}\`` : "not set";
  return [`\`${path}\``, env ? `\`${env}\`` : "", fallback, kind.limits ? `${about} ${kind.limits}` : about];
}
