import { memoryLocks } from "../../src/coordination/memory/memory-locks.ts";
import * as agents from "./agent-mutants.ts";
import { type MutateAgent, simulateAgent } from "./agent-sim.ts";
import { failOpen, kubernetesClaimBackend, redisClaimBackend, settlesRegardless } from "./claim-backends.ts";
import { simulateClaims } from "./claim-sim.ts";
import * as executors from "./executor-mutants.ts";
import { type MutateTools, simulateExecutor } from "./executor-sim.ts";
import * as gateways from "./gateway-mutants.ts";
import { type GatewayMutation, simulateGateway } from "./gateway-sim.ts";
import { type KubernetesBackendOptions, kubernetesBackend } from "./kube-network.ts";
import * as mutants from "./lock-mutants.ts";
import { type SimResult, simulateLocks } from "./lock-sim.ts";
import { lruLocks, simulateMemoryLocks } from "./memory-sim.ts";
import * as orchestrators from "./orchestrator-mutants.ts";
import { type MutateOrchestrator, simulateOrchestrator } from "./orchestrator-sim.ts";
import { simulateOrder } from "./order-sim.ts";
import { type RedisBackendOptions, redisBackend } from "./redis-network.ts";
import {
  forgetsNowAndThen,
  kubernetesWatermarkBackend,
  oneStepWatermarks,
  simulateWatermarks,
  writesRegardless,
} from "./watermark-sim.ts";

export type Run = (seed: number, faults: Map<string, number>) => Promise<SimResult>;

export interface Protocol {
  readonly run: Run;
  /** The same with one known mistake built in; simulation has to find each. */
  readonly mutants: Readonly<Record<string, Run>>;
}

/** Everything that is simulated, by the name that the command line and a failing test use. */
export const protocols: Readonly<Record<string, Protocol>> = {
  "memory-locks": {
    run: (seed, faults) => simulateMemoryLocks(seed, memoryLocks, faults),
    mutants: { "lru-eviction": (seed, faults) => simulateMemoryLocks(seed, lruLocks, faults) },
  },
  "redis-locks": {
    run: redis(),
    mutants: {
      "no-local-deadline": redis({ mutate: mutants.noLocalDeadline }),
      "release-without-owner-check": redis({ releaseWithoutOwnerCheck: true }),
      "renewal-result-ignored": redis({ mutate: mutants.renewalResultIgnored }),
      "holder-is-pod": redis({ mutate: mutants.holderIsPod, storeIsNoYardstick: true }),
    },
  },
  "kubernetes-locks": {
    run: kubernetes(),
    mutants: {
      "no-local-deadline": kubernetes({ mutate: mutants.noLocalDeadline }),
      "release-by-name": kubernetes({ mutateClient: mutants.releaseByName, storeIsNoYardstick: true }),
      "expiry-by-remote-clock": kubernetes({ mutateClient: mutants.expiryByRemoteClock }),
      "renewal-result-ignored": kubernetes({ mutate: mutants.renewalResultIgnored }),
      "holder-is-pod": kubernetes({ mutate: mutants.holderIsPod, storeIsNoYardstick: true }),
      "janitor-goes-by-remote-clock": kubernetes({ mutateJanitor: mutants.expiryByRemoteClock }),
    },
  },
  "redis-claims": {
    run: (seed, faults) => simulateClaims(seed, (world) => redisClaimBackend(world), faults),
    mutants: {
      "fail-open": (seed) => simulateClaims(seed, (world) => redisClaimBackend(world, failOpen)),
      "settles-without-owner-check": (seed) =>
        simulateClaims(seed, (world) => redisClaimBackend(world, settlesRegardless)),
    },
  },
  "kubernetes-claims": {
    run: (seed, faults) => simulateClaims(seed, (world) => kubernetesClaimBackend(world), faults),
    mutants: {
      "fail-open": (seed) => simulateClaims(seed, (world) => kubernetesClaimBackend(world, { mutate: failOpen })),
      "expiry-by-remote-clock": (seed) =>
        simulateClaims(seed, (world) => kubernetesClaimBackend(world, { remoteClock: true })),
    },
  },
  watermarks: {
    run: (seed, faults) => simulateWatermarks(seed, (world) => oneStepWatermarks(world), faults),
    mutants: {
      "no-compare-and-swap": (seed) => simulateWatermarks(seed, (world) => oneStepWatermarks(world, writesRegardless)),
      "reset-to-now": (seed) => simulateWatermarks(seed, (world) => oneStepWatermarks(world, forgetsNowAndThen)),
    },
  },
  "kubernetes-watermarks": {
    run: (seed, faults) => simulateWatermarks(seed, kubernetesWatermarkBackend, faults),
    mutants: {},
  },
  executor: {
    run: executor(),
    mutants: {
      "starts-without-rereading": executor(executors.startsWithoutRereading),
      "admits-regardless-of-version": executor(executors.admitsRegardless),
      "deletes-run-by-name": executor(executors.deletesRunByName),
      "frees-before-run-stopped": executor(executors.freesBeforeStopped),
      "folds-again": executor(executors.foldsAgain),
      "forgets-a-failure": executor(executors.forgetsAFailure),
      "counts-a-failure-twice": executor(executors.countsTwice),
      "adopts-by-name": executor(executors.adoptsByName),
      "skips-itself": executor(executors.skipsItself),
      "cooldown-is-the-run": executor(executors.cooldownIsTheRun),
      "trusts-the-execution": executor(executors.trustsTheExecution),
      "takes-any-answer": executor(executors.takesAnyAnswer),
      "reuses-an-approval": executor(executors.reusesAnApproval),
    },
  },
  gateway: {
    run: gateway(),
    mutants: {
      "counts-before-it-is-durable": gateway(gateways.countsBeforeDurable),
      "forgets-the-occurrence-log": gateway(gateways.forgetsTheOccurrenceLog),
      "already-exists-is-success": gateway(gateways.alreadyExistsIsSuccess),
      "takes-any-name": gateway(gateways.takesAnyName),
      "status-without-version": gateway(gateways.statusWithoutVersion),
      "counts-on-closed-incidents": gateway(gateways.countsOnClosed),
      "resolved-opens": gateway(gateways.resolvedOpens),
      "repeats-occurrences": gateway(gateways.repeatsOccurrences),
      "answers-before-the-ledger": gateway(gateways.answersBeforeTheLedger),
    },
  },
  "gateway-100": {
    run: (seed, faults) => simulateGateway(seed, faults, { replicas: 100, troubleMs: 15_000 }),
    mutants: {},
  },
  orchestrator: {
    run: orchestrator(),
    mutants: {
      "follows-a-failure": orchestrator(orchestrators.followsAFailure),
      "makes-a-second-execution": orchestrator(orchestrators.makesASecondExecution),
      "never-looks-again": orchestrator(orchestrators.neverLooksAgain),
      "status-without-version": orchestrator(orchestrators.statusWithoutVersion),
      "acts-before-it-is-recorded": orchestrator(orchestrators.actsBeforeItIsRecorded),
      "youngest-first": orchestrator(orchestrators.youngestFirst),
      "overlooks-cancelled-incidents": orchestrator(orchestrators.overlooksCancelledIncidents),
      "takes-cancels-for-failures": orchestrator(orchestrators.takesCancelsForFailures),
    },
  },
  "orchestrator-100": {
    run: (seed, faults) => simulateOrchestrator(seed, faults, { replicas: 100, troubleMs: 8_000 }),
    mutants: {},
  },
  agent: {
    run: agent(),
    mutants: {
      "says-it-again": agent(agents.saysItAgain),
      "commits-again": agent(agents.commitsAgain),
      "locks-of-its-own": agent(agents.locksOfItsOwn),
      "keeps-no-journal": agent(agents.keepsNoJournal),
      "ignores-pauses": agent(agents.ignoresPauses),
      "serves-strangers": agent(agents.servesStrangers),
    },
  },
  "redis-order": {
    run: (seed) => simulateOrder(seed, (world) => redisBackend(world, { calm: true })),
    mutants: {
      "polls-without-order": (seed) =>
        simulateOrder(seed, (world) => redisBackend(world, { calm: true, mutate: mutants.pollsWithoutOrder })),
    },
  },
  "kubernetes-order": {
    run: (seed) => simulateOrder(seed, (world) => kubernetesBackend(world, { calm: true })),
    mutants: {
      "polls-without-order": (seed) =>
        simulateOrder(seed, (world) => kubernetesBackend(world, { calm: true, mutate: mutants.pollsWithoutOrder })),
    },
  },
};

function redis(options?: RedisBackendOptions): Run {
  return (seed, faults) => simulateLocks(seed, (world) => redisBackend(world, options), faults);
}

function kubernetes(options?: KubernetesBackendOptions): Run {
  return (seed, faults) => simulateLocks(seed, (world) => kubernetesBackend(world, options), faults);
}

function executor(mutate?: MutateTools): Run {
  return (seed, faults) => simulateExecutor(seed, faults, mutate);
}

function gateway(mutation?: GatewayMutation): Run {
  return (seed, faults) => simulateGateway(seed, faults, mutation ? { mutation } : {});
}

function agent(mutate?: MutateAgent): Run {
  return (seed, faults) => simulateAgent(seed, faults, mutate);
}

function orchestrator(mutate?: MutateOrchestrator): Run {
  return (seed, faults) => simulateOrchestrator(seed, faults, mutate ? { mutate } : {});
}
