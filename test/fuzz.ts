import { runCampaign } from "./engines/local/run-interpreter-campaign.ts";
import { fuzzLabels } from "./fuzz-campaigns/labels.ts";
import { fuzzYaml } from "./fuzz-campaigns/yaml.ts";
import { fuzz as fuzzGateway } from "./gateway/fuzz.ts";

/**
 * `npm run fuzz [-- CAMPAIGN] [TOTAL] [SEED]`: hostile input of every kind. A campaign is added here; it returns a report
 * for people, and whether it found nothing.
 */
const campaigns: Readonly<Record<string, (total: number, seed: number) => Promise<CampaignResult>>> = {
  async gateway(total, seed) {
    const { bad, ...report } = await fuzzGateway(Math.ceil(total / 4), seed);
    for (const line of bad.slice(0, 20)) console.error(line);
    return { passed: bad.length === 0, report: { ...report, bad: bad.length } };
  },
  async labels(total, seed) {
    const { bad, ...report } = fuzzLabels(Math.ceil(total / 20), seed);
    for (const line of bad.slice(0, 20)) console.error(line);
    return { passed: bad.length === 0 && report.admitted > 0, report: { ...report, bad: bad.length } };
  },
  async yaml(total, seed) {
    const { bad, ...report } = await fuzzYaml(Math.ceil(total / 20), seed);
    for (const line of bad.slice(0, 20)) console.error(line);
    return { passed: bad.length === 0, report: { ...report, bad: bad.length } };
  },
  async interpreters(total, seed) {
    // One command line costs about as much as ten requests.
    const report = await runCampaign({ batches: Math.ceil(total / 400), seed });
    return { passed: report.failure === undefined && report.executed > 0, report };
  },
};

interface CampaignResult {
  readonly passed: boolean;
  readonly report: object;
}

const [first = "", ...rest] = process.argv.slice(2);
const isNamed = Object.hasOwn(campaigns, first);
if (first !== "" && !isNamed && !/^\d+$/.test(first)) {
  console.error(`error: unknown campaign "${first}"; use one of ${Object.keys(campaigns).join(", ")}`);
  process.exit(2);
}
const [total = "100000", seed = "1"] = isNamed ? rest : [first, ...rest].filter((text) => text !== "");
let isFine = true;
for (const [name, campaign] of Object.entries(campaigns)) {
  if (isNamed && name !== first) continue;
  const { passed, report } = await campaign(Number(total), Number(seed));
  console.log(JSON.stringify({ campaign: name, seed: Number(seed), passed, ...report }));
  isFine &&= passed;
}
process.exit(isFine ? 0 : 1);
