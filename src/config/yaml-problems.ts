import { nearest } from "../schema/index.ts";
import { sections, settings, settingsBelow } from "./schema.ts";

/** The problem of a name that is not a setting of `section`, or not a section where `section` is empty. */
export function unknownKey(name: string, section: string): string {
  if (!section) return unknownSection(name);

  const siblings = settingsBelow(section);
  const depth = section.split(".").length;
  const names = [...new Set(siblings.map(({ path }) => path.split(".")[depth] ?? ""))];
  const meant = nearest(name, names);
  // Half of a password with a comma in it looks like a key to YAML.
  const mayBeSecret = !meant && siblings.some(({ kind }) => kind.secret);
  const what = mayBeSecret || !isName(name) ? `a name below ${section}` : `${section}.${name}`;
  return `${what} is not a setting. ${meant ? `Did you mean ${section}.${meant}? ` : ""}Write ${joinNames(meant ? [meant] : names)}.`;
}

function unknownSection(name: string): string {
  const paths = settings.map(({ path }) => path);
  const [section, leaf] = (nearest(name, sections) ?? nearest(name, paths))?.split(".") ?? [];

  const what = `${isName(name) ? name : "a name"} is not a section of settings.`;
  if (!section) return `${what} Write ${joinNames(sections)}.`;
  if (!leaf) return `${what} Did you mean ${section}? Write ${joinNames([section])}.`;
  return `${what} Did you mean ${section}.${leaf}? Write "${section}:" and, indented below it, "${leaf}:".`;
}

/** The problem of a section, or a whole file, that is not names with values. */
export function notASection(section: string): string {
  const example = settings.find(({ path }) => path.startsWith(`${section}.`)) ?? settings[0];
  const [above, leaf] = example?.path.split(".") ?? [];
  const what = section
    ? `${section} is not a section of settings`
    : "the file does not consist of sections of settings";
  return `${what}. Write "${above}:" and, indented below it, "${leaf}:" with its value.`;
}

function isName(text: string): boolean {
  return /^[A-Za-z][\w.-]{0,39}$/.test(text);
}

function joinNames(names: readonly string[]): string {
  return names.map((name) => `"${name}:"`).join(" or ");
}
