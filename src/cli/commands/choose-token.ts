import { signalPaths, signalRoutes } from "../../app/index.ts";
import { canPost, listBuiltInSources, parseSenderLines } from "../../gateway/index.ts";
import { CommandError } from "../command.ts";

/** Chooses the token in the `text` of a file of senders that may send the payloads of `source`, which is named on the command line. */
export function chooseToken(text: string, source: string, file: string): string {
  const senders = parseSenderLines(text, () => {});
  if (senders.length === 0) {
    throw new CommandError(`no token in ${file}; add a line NAME TOKEN, with a token of 16 characters or more`);
  }
  const path = signalPaths.find((one) => one.source === source)?.path;
  const own = signalRoutes.find((route) => route.path === path)?.reader.source ?? source;
  // One that lists the source itself comes first: the gateway takes a token for one mapped source as the choice of its mapping.
  const chosen =
    senders.find(({ sources }) => !sources || sources.includes(own)) ??
    senders.find((sender) => canPost(sender, { own, builtIn: listBuiltInSources(signalRoutes) }));
  if (chosen) return chosen.token;
  const others = [...new Set(senders.flatMap(({ sources = [] }) => sources))].join(", ");
  throw new CommandError(
    `no token in ${file} may send signals of ${own}, only of ${others}; add a line NAME TOKEN ${own}, or name another file with --token-file`,
  );
}
