import { forbidden } from "../api/status-error.ts";

/** `none`: authenticated, without rights on objects. An administrator who impersonates an unknown user has it. */
export const roles = ["admin", "read-only", "none"] as const;
export type Role = (typeof roles)[number];

export const objectVerbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;

export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

const readingVerbs: readonly string[] = ["get", "list", "watch"];

/** Whether a role may do `verb` on the objects of a resource. `*` stands for every verb, group or resource. */
export function isAllowed(role: Role, verb: string, { group, plural }: ResourceName): boolean {
  switch (role) {
    case "admin":
      return true;
    case "read-only":
      return readingVerbs.includes(verb) && !hasCredentials({ group, plural });
    case "none":
      return false;
  }
}

/** Reading a Secret discloses it: a read-only token that could do so would be as powerful as its content. */
function hasCredentials({ group, plural }: ResourceName): boolean {
  const [resource] = plural.split("/");
  return (group === "" || group === "*") && (resource === "secrets" || resource === "*");
}

/** The caller's attributes that decide its rights. */
interface Actor {
  readonly name: string;
  readonly role: Role;
}

interface AccessRequest {
  readonly resource: ResourceName & { readonly kind: string };
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource?: string;
}

/** Throws 403, with the missing right, unless the caller may do `verb`. */
export function authorize(
  caller: Actor,
  verb: string,
  { resource, namespace, name, subresource }: AccessRequest,
): void {
  const { group } = resource;
  const plural = subresource ? `${resource.plural}/${subresource}` : resource.plural;
  if (isAllowed(caller.role, verb, { group, plural })) return;
  const what = `resource ${JSON.stringify(plural)} in API group ${JSON.stringify(group)}`;
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : "at the cluster scope";
  throw forbidden(resource, name, `User ${JSON.stringify(caller.name)} cannot ${verb} ${what} ${where}`);
}
