import { Dice } from "../chaos/dice.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";

export interface YamlFuzzReport {
  readonly bodies: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** Bodies that were answered with 5xx other than 503, or not at all. */
  readonly bad: readonly string[];
}

const path = "/api/v1/namespaces/default/configmaps";

/** Posts YAML made of its own syntax by chance. The server has to answer each body, and to be alive at the end. */
export async function fuzzYaml(total: number, seed: number): Promise<YamlFuzzReport> {
  const dice = new Dice(seed);
  const server = await serverUnderTest();
  const wire = new Wire(server.url, tokens.admin);
  const statuses: Record<number, number> = {};
  const bad: string[] = [];
  try {
    for (let i = 0; i < total; i++) {
      const rawBody = yamlText(dice);
      const headers = { "Content-Type": dice.pick(["application/yaml", "application/yaml; charset=utf-8"]) };
      const { status = 0 } = await wire.ask({ method: "POST", path, headers, rawBody });
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 0 || (status >= 500 && status !== 503))
        bad.push(`${status} ${JSON.stringify(rawBody.slice(0, 300))}`);
    }
    const alive = await wire.ask({ method: "GET", path });
    if (alive.status !== 200) bad.push(`${alive.status}: the server no longer answers`);
    return { bodies: total, statuses, bad };
  } finally {
    wire.close();
    await server.close();
  }
}

const pieces = [
  ...[
    "- ",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "a",
    "b: ",
    "\n",
    "\n  ",
    "\n    ",
    "  ",
    "\t",
    "# c\n",
    "|\n  x\n",
    ">-\n  y\n",
  ],
  ...[
    "&a ",
    "*a",
    "*b",
    "!!str ",
    "!!binary ",
    "!<x> ",
    "<<: ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    '"',
    "'",
    "\\x",
    "~",
    "0x1f",
    "1e999",
  ],
  ...[
    "9223372036854775808",
    "__proto__: ",
    "constructor: ",
    "\u0000",
    "\ud800",
    "\u2028",
    "metadata: {name: x}\n",
    "data:\n  k: v\n",
  ],
];

function yamlText(dice: Dice): string {
  const parts = Array.from({ length: dice.whole(1, 40) }, () => {
    const piece = dice.pick(pieces);
    return dice.chance(0.03) ? piece.repeat(dice.whole(1, 5_000)) : piece;
  });
  return parts.join("");
}
