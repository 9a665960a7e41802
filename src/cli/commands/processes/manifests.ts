import { parseArgs } from "node:util";
import { agentManifests, manifests as manifestsOf, usualManifests } from "../../../manifests/index.ts";
import { type Command, CommandError } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { jsonLines } from "../../output/terminal.ts";

const { image, replicas, places } = usualManifests;

/** `interlock manifests` */
export const manifests: Command<CommandContext> = {
  name: "manifests",
  about: "Print the manifests that run all stages in a Kubernetes cluster",
  usage: `interlock manifests [OPTIONS] | kubectl apply -f -

Prints namespaces, service accounts with the least rights that each stage needs, configuration, Deployments, Services and
disruption budgets as JSON. The custom resource definitions are in deploy/crds; deploy is the same for kustomize.

  --image IMAGE           default ${image}
  --replicas N            of each stage; default ${replicas}
  --namespace NS          of the stages, incidents and Leases; default ${places.locks}
  --watermarks-in NS      of watermarks; default ${places.watermarks}
  --runs-in NS            of runs and target records; default ${places.runs}
  --agent                 with the agent, which needs the Secret interlock-agent (docs/agent.md)
  --agents-in NS          of the Jobs in which it runs; default ${places.agents}
  --gateway-tls SECRET    have the gateway serve TLS with this Secret of the type kubernetes.io/tls`,
  example: "interlock manifests --image registry.example/interlock:0.1.0 | kubectl apply -f -",
  async perform(args, { terminal }) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        image: { type: "string", default: image },
        replicas: { type: "string", default: String(replicas) },
        namespace: { type: "string", default: places.locks },
        "watermarks-in": { type: "string", default: places.watermarks },
        "runs-in": { type: "string", default: places.runs },
        agent: { type: "boolean", default: false },
        "agents-in": { type: "string", default: places.agents },
        "gateway-tls": { type: "string" },
      },
    });
    const wanted = Number(values.replicas);
    if (!Number.isInteger(wanted) || wanted < 1) throw new CommandError("--replicas wants a whole number, 1 or more");
    const { namespace, "watermarks-in": watermarks, "gateway-tls": gatewayTls } = values;
    // Whoever may write watermarks may write every ConfigMap of their namespace.
    if ([namespace, values["runs-in"], values["agents-in"]].includes(watermarks)) {
      throw new CommandError("--watermarks-in must name a namespace that holds nothing else");
    }
    const options = {
      image: values.image,
      replicas: wanted,
      places: {
        ...{ incidents: namespace, locks: namespace, watermarks },
        ...{ runs: values["runs-in"], agents: values["agents-in"] },
      },
      ...(gatewayTls !== undefined && { gatewayTls }),
    };
    const items = [...manifestsOf(options).values()].flat();
    if (values.agent) items.push(...agentManifests(options));
    for (const line of jsonLines({ apiVersion: "v1", kind: "List", items })) terminal.print(line);
    return 0;
  },
};
