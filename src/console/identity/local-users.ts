import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing, lockIfThere, makeDirectory, writeDurably } from "../../disk/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { type Clock, type Random, sleep } from "../../time/index.ts";
import { type Role, roles } from "../wire.ts";

const user = z.object({
  name: z.string(),
  role: z.enum(roles),
  /** A new value ends all sessions of the user: after a log-out everywhere, and when the user is removed and added again. */
  account: z.string(),
});

/** A session that was ended early, until it expires. */
const endedSession = z.object({ id: z.string(), expiresAtMs: z.number() });

const usersState = z.object({ users: z.array(user), endedSessions: z.array(endedSession) });

/** A local user. */
export type LocalUser = Wire<typeof user>;
type UsersState = Wire<typeof usersState>;

export interface LocalUsersOptions {
  /** Of the console, in the data directory. */
  readonly directory: string;
  /** The user of the embedded API server's token, who always exists and has the role admin. */
  readonly admin: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The local users, in a file that several processes may read and change at the same time. */
export interface LocalUsers {
  list(): Promise<readonly LocalUser[]>;
  find(name: string): Promise<LocalUser | undefined>;
  /** Adds a user, or gives a user another role. */
  add(name: string, role: Role): Promise<"added" | "changed">;
  /** Removes a user and ends all sessions of that user. */
  remove(name: string): Promise<boolean>;
  /** Ends all sessions of a user. */
  endSessions(name: string): Promise<boolean>;
  endSession(session: Wire<typeof endedSession>): Promise<void>;
  hasEnded(sessionId: string): Promise<boolean>;
}

/** Names that need no quotes in a shell and look like no option. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$/;

/** Whether a name can be given to a local user. The prefix `system:` and the like belong to API servers. */
export function isUserName(name: string): boolean {
  return namePattern.test(name);
}

export function localUsers({ directory, admin, clock, random }: LocalUsersOptions): LocalUsers {
  const file = join(directory, "users.json");

  async function read(): Promise<UsersState> {
    const text = await readFile(file, "utf8").catch(ifMissing(undefined));
    const state: UsersState =
      text === undefined ? { users: [], endedSessions: [] } : usersState.parse(JSON.parse(text));
    // The account of the admin is in the file only after all sessions of the admin were ended once.
    const isAdminThere = state.users.some(({ name }) => name === admin);
    return isAdminThere ? state : { ...state, users: [{ name: admin, role: "admin", account: "" }, ...state.users] };
  }

  /** Reads and replaces the file under a lock. */
  async function change<T>(
    decide: (state: UsersState) => { readonly next?: UsersState; readonly result: T },
  ): Promise<T> {
    await makeDirectory(directory);
    await using _lock = await lockDirectory(directory, clock);
    const { next, result } = decide(await read());
    if (next) await writeDurably(file, `${JSON.stringify(next, undefined, 2)}\n`);
    return result;
  }

  const withUser = (state: UsersState, user: LocalUser): UsersState => ({
    ...state,
    users: [...state.users.filter(({ name }) => name !== user.name), user],
  });

  return {
    list: async () => (await read()).users,
    find: async (name) => (await read()).users.find((user) => user.name === name),
    add: (name, role) =>
      change((state) => {
        const known = state.users.find((user) => user.name === name);
        const next = withUser(state, { name, role, account: known?.account ?? random.id() });
        return { next, result: known ? "changed" : "added" };
      }),
    remove: (name) =>
      change((state) => {
        if (!state.users.some((user) => user.name === name)) return { result: false };
        return { next: { ...state, users: state.users.filter((user) => user.name !== name) }, result: true };
      }),
    endSessions: (name) =>
      change((state) => {
        const known = state.users.find((user) => user.name === name);
        if (!known) return { result: false };
        return { next: withUser(state, { ...known, account: random.id() }), result: true };
      }),
    endSession: (session) =>
      change((state) => {
        const current = state.endedSessions.filter(({ expiresAtMs }) => expiresAtMs > clock.wallMs());
        return { next: { ...state, endedSessions: [...current, session] }, result: undefined };
      }),
    hasEnded: async (sessionId) => (await read()).endedSessions.some(({ id }) => id === sessionId),
  };
}

/** Waits for the lock, which another process holds for one write of a small file. */
async function lockDirectory(directory: string, clock: Clock) {
  for (let tries = 1; tries <= 500; tries++) {
    const lock = await lockIfThere(directory);
    if (lock) return lock;
    await sleep(clock, 20);
  }
  throw new Error(`another process has held the lock of ${directory} for 10 s`);
}
