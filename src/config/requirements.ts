import { settings } from "./schema.ts";

/** A setting that means nothing without others. Of each list of paths, one is enough. */
interface Requirement {
  readonly of: string;
  readonly needs: readonly (readonly string[])[];
}

const jira = [["jira.url"], ["jira.email"], ["jira.apiToken", "jira.apiTokenFile"], ["jira.projects"]] as const;

/** Files of secrets need nothing: the shipped configurations name them even while they are empty. */
const requirements: readonly Requirement[] = [
  { of: "gateway.tlsCertFile", needs: [["gateway.tlsKeyFile"]] },
  { of: "gateway.tlsKeyFile", needs: [["gateway.tlsCertFile"]] },
  { of: "console.tlsCertFile", needs: [["console.tlsKeyFile"]] },
  { of: "console.tlsKeyFile", needs: [["console.tlsCertFile"]] },
  { of: "console.oidc.issuer", needs: [["console.oidc.clientId"], ["console.url"]] },
  { of: "console.oidc.clientId", needs: [["console.oidc.issuer"]] },
  { of: "gitlab.webhookSecret", needs: [["gitlab.url"]] },
  { of: "gitlab.poll", needs: [["gitlab.url"], ["gitlab.token", "gitlab.tokenFile"], ["gitlab.projects"]] },
  { of: "notify.slackToken", needs: [["notify.slackChannel"]] },
  { of: "notify.slackTokenFile", needs: [["notify.slackChannel"]] },
  { of: "notify.slackChannel", needs: [["notify.slackToken", "notify.slackTokenFile"]] },
  { of: "notify.smtpServer", needs: [["notify.emailFrom"], ["notify.emailTo"]] },
  { of: "notify.emailTo", needs: [["notify.smtpServer"]] },
  { of: "notify.smtpUser", needs: [["notify.smtpPassword", "notify.smtpPasswordFile"]] },
  { of: "notify.smtpPassword", needs: [["notify.smtpUser"]] },
  { of: "ledger.checkpointDir", needs: [["ledger.checkpointKey", "ledger.checkpointKeyFile"]] },
  ...jira.map((paths) => ({ of: paths[0], needs: [...jira.filter((other) => other !== paths), ["gitlab.url"]] })),
];

interface Chosen {
  readonly value: unknown;
  readonly origin: string;
}

/** Settings without effect because another one is missing, a sentence each. An `unreadable` setting does not count as missing. */
export function missingRequirements(
  chosen: ReadonlyMap<string, Chosen>,
  unreadable: ReadonlySet<string>,
): readonly string[] {
  const isKnown = (path: string) => Boolean(chosen.get(path)?.value) || unreadable.has(path);
  const reported = new Set<string>();
  return requirements.flatMap(({ of, needs }) => {
    if (!chosen.get(of)?.value) return [];
    const missing = needs.filter((paths) => !paths.some(isKnown)).map(([first = ""]) => first);
    const fresh = missing.filter((path) => !reported.has(path));
    for (const path of fresh) reported.add(path);
    return fresh.map((path) => `${chosen.get(of)?.origin}: ${of} is set, but ${path} is not. ${fix(path)}`);
  });
}

const secretsBesideFiles = settings
  .filter(({ path, kind }) => kind.secret && settings.some((other) => other.path === `${path}File`))
  .map(({ path }) => path);

/** Files of secrets that are not read because the secret itself is set, a sentence each. */
export function unreadFiles(chosen: ReadonlyMap<string, Chosen>): readonly string[] {
  return secretsBesideFiles.flatMap((path) => {
    const [secret, file] = [chosen.get(path), chosen.get(`${path}File`)];
    if (!secret?.value || !file?.value) return [];
    return [`${file.origin}: ${path}File is not used, because ${path} (${secret.origin}) wins. Remove one of them.`];
  });
}

function fix(path: string): string {
  const { variables = [], kind } = settings.find((setting) => setting.path === path) ?? {};
  return `Set ${variables[0]} to ${kind?.expects}.`;
}
