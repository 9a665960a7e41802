import { type LocalConsole, loginUrl, openLocalUsers } from "../../app/index.ts";
import { isUserName, type Role } from "../../console/index.ts";
import { CommandError, MisuseError } from "../command.ts";
import { type CommandContext, dataDirectory } from "../context.ts";
import { columnLines } from "../output/columns.ts";

interface UsersOptions {
  readonly data?: string;
}

/** `interlock users add NAME --role ROLE` */
export async function addUser(
  context: CommandContext,
  name: string,
  options: UsersOptions & { readonly role: Role },
): Promise<void> {
  const rule = "up to 63 of A-Z a-z 0-9 . _ @ -, beginning with a letter or digit";
  if (!isUserName(name)) throw new MisuseError(`"${name}" is not a user name; use ${rule}`);
  const local = openUsers(context, options);
  refuseAdmin(name, local);
  const outcome = await local.users.add(name, options.role);
  const text = outcome === "added" ? `user ${name} added with the role` : `user ${name} has the role`;
  context.terminal.print(`${text} ${options.role}`);
}

/** `interlock users list` */
export async function listUsers(context: CommandContext, options: UsersOptions): Promise<void> {
  const users = await openUsers(context, options).users.list();
  const rows = users.map(({ name, role }) => [name, role]);
  for (const line of columnLines(["Name", "Role"], rows)) context.terminal.print(line);
}

/** `interlock users remove NAME` */
export async function removeUser(context: CommandContext, name: string, options: UsersOptions): Promise<void> {
  const local = openUsers(context, options);
  refuseAdmin(name, local);
  if (!(await local.users.remove(name))) throw unknownUser(name);
  context.terminal.print(`user ${name} removed; all sessions of ${name} have ended`);
}

/** `interlock users logout NAME` */
export async function logOutUser(context: CommandContext, name: string, options: UsersOptions): Promise<void> {
  if (!(await openUsers(context, options).users.endSessions(name))) throw unknownUser(name);
  context.terminal.print(`all sessions of ${name} have ended`);
}

/** `interlock users link [NAME]` */
export async function linkUser(
  context: CommandContext,
  name: string | undefined,
  options: UsersOptions,
): Promise<void> {
  const { users, links, admin, url } = openUsers(context, options);
  const user = name ?? admin;
  if (!(await users.find(user))) throw unknownUser(user);
  const consoleUrl = await url();
  if (consoleUrl === undefined) {
    throw new CommandError("no console runs on this data directory", ["start it with interlock up"], "unavailable");
  }
  context.terminal.print(loginUrl(consoleUrl, await links.create(user)));
}

function openUsers(context: CommandContext, { data }: UsersOptions): LocalConsole {
  return openLocalUsers({ ...context, directory: data ?? dataDirectory(context) });
}

function refuseAdmin(name: string, { admin }: LocalConsole): void {
  if (name === admin) throw new CommandError(`${admin} is the user of the admin's token and always has the role admin`);
}

function unknownUser(name: string): CommandError {
  return new CommandError(`no user ${name}; interlock users list shows all`);
}
