import { type NamedSetting, sectionOf, sections, settings } from "../src/config/schema.ts";
import { fillMarkers } from "./fill-markers.ts";

/** docs/configuration.md with the settings as the schema declares them. */
export function configurationPage(page: string): string {
  const policy = settings.filter(({ isPolicy }) => isPolicy).map(({ path }) => `- \`${path}\`\n`);
  const tables = sections.map((section) =>
    table(
      section,
      settings.filter(({ path }) => sectionOf(path) === section),
    ),
  );
  return fillMarkers(
    page,
    new Map([
      ["settings of the policy", policy.join("")],
      ["settings", tables.join("\n")],
    ]),
  );
}

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
