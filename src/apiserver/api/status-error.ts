import type { FieldProblem } from "./problem.ts";

/** The body of every response that is not an object: `kind: Status`. */
export interface ApiStatus {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
  readonly retryAfterSeconds?: number;
}

/** A request is refused. The only error of the API, with the Status that the client receives. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: ApiStatus & { readonly code: number };

  /** The default of `reason` follows from `code`. */
  constructor(
    code: keyof typeof reasons,
    message: string,
    more: { reason?: string; details?: StatusDetails; continue?: string } = {},
  ) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: more.continue === undefined ? {} : { continue: more.continue },
      status: "Failure",
      message,
      reason: more.reason ?? reasons[code],
      ...(more.details === undefined ? {} : { details: more.details }),
      code,
    };
  }
}

const reasons = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
} as const;

/** The names of a resource in errors: the plural for requests, the kind for content. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

export function notFound(subject: Subject, name: string): StatusError {
  return new StatusError(404, `${pluralTitle(subject)} ${quote(name)} not found`, {
    details: pluralDetails(subject, name),
  });
}

export function alreadyExists(subject: Subject, name: string, prefix = ""): StatusError {
  return new StatusError(409, `${prefix}${pluralTitle(subject)} ${quote(name)} already exists`, {
    reason: "AlreadyExists",
    details: pluralDetails(subject, name),
  });
}

export function modifiedConflict(subject: Subject, name: string): StatusError {
  const advice = "please apply your changes to the latest version and try again";
  return conflict(pluralTitle(subject), pluralDetails(subject, name), `the object has been modified; ${advice}`);
}

export function uidConflict(subject: Subject, name: string, { wanted, found }: { wanted: string; found: string }) {
  const fields = `UID in precondition: ${wanted}, UID in object meta: ${found}`;
  return conflict(pluralTitle(subject), pluralDetails(subject, name), `Precondition failed: ${fields}`);
}

/** A precondition of a delete: worded with the kind, not the plural. */
export function preconditionConflict(subject: Subject, name: string, why: string): StatusError {
  return conflict(kindTitle(subject), details(name, subject.group, subject.kind), why);
}

/** The content is invalid. Equal problems appear once in the message. */
export function invalid(subject: Pick<Subject, "group" | "kind">, name: string, problems: readonly FieldProblem[]) {
  const texts = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  const summary = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new StatusError(422, `${kindTitle(subject)} ${quote(name)} is invalid: ${summary}`, {
    details: {
      ...details(name, subject.group, subject.kind),
      causes: problems.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

/** Options of a request, rather than its object, are wrong. */
export function invalidOptions(kind: string, problems: readonly FieldProblem[]): StatusError {
  return invalid({ group: "meta.k8s.io", kind }, "", problems);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, message);
}

export function forbidden(subject: Subject, name: string, why: string): StatusError {
  const title = name ? `${pluralTitle(subject)} ${quote(name)}` : pluralTitle(subject);
  return new StatusError(403, `${title} is forbidden: ${why}`, {
    details: pluralDetails(subject, name),
  });
}

export function unknownPath(): StatusError {
  const message = "the server could not find the requested resource";
  return new StatusError(404, message, { details: {} });
}

export function methodNotAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError(405, message, { details: {} });
}

export function unsupportedVerb(subject: Subject, verb: string): StatusError {
  return new StatusError(405, `${verb} is not supported on resources of kind ${quote(pluralTitle(subject))}`, {
    details: details("", subject.group, subject.plural),
  });
}

export function rejectedRequest(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return new StatusError(422, message, { details: {} });
}

export function unsupportedMedia(message: string): StatusError {
  return new StatusError(415, message);
}

/** `token` continues the list without its consistency. */
export function expired(message: string, token?: string): StatusError {
  return new StatusError(410, message, token === undefined ? {} : { continue: token });
}

/** `workflowexecutions.kubernaut.ai`, and `configmaps` without a group. */
function pluralTitle({ plural, group }: Pick<Subject, "plural" | "group">): string {
  return group ? `${plural}.${group}` : plural;
}

function kindTitle({ kind, group }: Pick<Subject, "kind" | "group">): string {
  return group ? `${kind}.${group}` : kind;
}

export function pluralDetails({ group, plural }: Pick<Subject, "plural" | "group">, name: string): StatusDetails {
  return details(name, group, plural);
}

function details(name: string, group: string, kind: string): StatusDetails {
  return { ...(name ? { name } : {}), ...(group ? { group } : {}), ...(kind ? { kind } : {}) };
}

function conflict(title: string, about: StatusDetails, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${title} ${quote(about.name ?? "")}: ${why}`;
  return new StatusError(409, message, { details: about });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
