import type { RemediationWorkflow } from "../kinds/remediation-workflow.ts";
import type { ParameterValue } from "../kinds/schemas/fields.ts";

/** Replaces a secret value in permanent records. */
const redacted = "[redacted]";

/**
 * Parameters for permanent records: secret values are replaced. A parameter is secret by its catalog entry or by
 * its name. Without a catalog entry every value could be a secret, so all are replaced.
 */
export function redactParameters(
  parameters: Readonly<Record<string, ParameterValue>>,
  entry: Pick<RemediationWorkflow, "spec"> | undefined,
): Readonly<Record<string, ParameterValue>> {
  const isHidden = (name: string) => !findParameter(name, entry) || isSecret(name, entry);
  const values = Object.entries(parameters).map(([name, value]) => [name, isHidden(name) ? redacted : value]);
  return Object.fromEntries(values);
}

/**
 * `text` without the values of parameters that are secret by declaration or by name. A default stays: the catalog shows it to
 * all readers, and it is often a common word such as `none`.
 */
export function redactValues(
  text: string,
  parameters: Readonly<Record<string, ParameterValue>>,
  entry: Pick<RemediationWorkflow, "spec"> | undefined,
): string {
  const secrets = Object.entries(parameters)
    .filter(([name]) => isSecret(name, entry))
    .flatMap(([name, value]) => {
      const defaults = listTexts(findParameter(name, entry)?.default ?? []);
      return listTexts(value).filter((text) => !defaults.includes(text));
    })
    .filter((value) => value.length >= minSecretLength)
    // The longest first: a secret may contain another one.
    .sort((a, b) => b.length - a.length);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), text);
}

/** The names of parameters that are secret by declaration and have another value than the default. */
export function listSecretParameters(
  parameters: Readonly<Record<string, ParameterValue>>,
  entry: Pick<RemediationWorkflow, "spec"> | undefined,
): readonly string[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    const declared = findParameter(name, entry);
    return declared?.secret && String(value) !== String(declared.default) ? name : [];
  });
}

function listTexts(value: ParameterValue): readonly string[] {
  return typeof value === "object" ? value : [String(value)];
}

/** Replacing shorter values would make a message unreadable and hide nothing. */
const minSecretLength = 4;

function isSecret(name: string, entry: Pick<RemediationWorkflow, "spec"> | undefined): boolean {
  return secretName.test(name) || findParameter(name, entry)?.secret === true;
}

function findParameter(name: string, entry: Pick<RemediationWorkflow, "spec"> | undefined) {
  const declared = entry?.spec.parameters?.properties ?? {};
  return Object.hasOwn(declared, name) ? declared[name] : undefined;
}

const secretName = /passw(or)?d|passphrase|secret|token|credential|api[-_.]?key|private[-_.]?key/i;
