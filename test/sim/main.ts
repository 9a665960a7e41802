import { parseArgs } from "node:util";
import { protocols } from "./protocols.ts";
import { describe, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    protocol: { type: "string" },
    seed: { type: "string" },
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    mutant: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run sim -- [--protocol NAME] [--from N] [--seeds N] [--seed N] [--mutant NAME]

Runs coordination protocols and whole stages in deterministic simulation. One seed is one run: clocks that are wrong, pauses, crashes,
lost, late and doubled messages, stores that restart. Without --protocol all are run.

Protocols: ${Object.keys(protocols).join(", ")}`);
  process.exit(0);
}

let violations = 0;
for (const protocol of values.protocol ? [values.protocol] : Object.keys(protocols)) {
  const campaign = await simulate({
    protocol,
    from: Number(values.seed ?? values.from),
    seeds: values.seed ? 1 : Number(values.seeds),
    mutant: values.mutant,
  });
  console.log(describe(protocol, campaign));
  for (const violation of campaign.violations) console.error(violation);
  violations += campaign.violations.length;
}
process.exit(violations === 0 ? 0 : 1);
