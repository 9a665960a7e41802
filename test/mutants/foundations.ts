import { mutantsOf } from "./mutant.ts";

export const foundationMutants = [
  ...mutantsOf(
    { file: "src/coordination/kubernetes/lease-rules.ts", suite: "src/coordination/kubernetes/lease-rules.test.ts" },
    [
      [
        "takes a lock of another key",
        '!== me.key) return { do: "give-up", because: "collision" };',
        '=== "") return { do: "give-up", because: "collision" };',
      ],
      ["takes a lease before it expires", "periodOf(lease) * (1 + drift) + marginMs", "periodOf(lease) / 2"],
      ["ignores clock drift", "periodOf(lease) * (1 + drift) + marginMs", "periodOf(lease)"],
      ["takes a free lock from the first waiter", '(holder === "" && ahead === 0)', '(holder === "")'],
      ["waits although it should not", 'if (!me.wait) return { do: "give-up", because: "busy" };', ""],
      ["starts fences again", "(lease.spec?.leaseTransitions ?? 0) + (isRenewal ? 0 : 1)", "(isRenewal ? 0 : 1)"],
      [
        "keeps the fence for the next holder",
        "(lease.spec?.leaseTransitions ?? 0) + (next ? 1 : 0)",
        "(lease.spec?.leaseTransitions ?? 0)",
      ],
      ["forgets the waiters behind", "waiters.slice(place + 1)", "[]"],
      ["lets the time of a lease go back", "Number.isNaN(last) || wallMs > last ? wallMs : last + 1", "wallMs"],
    ],
  ),
  ...mutantsOf(
    {
      file: "src/coordination/kubernetes/claim-rules.ts",
      suite: "src/coordination/kubernetes/kubernetes-claims.test.ts",
    },
    [
      ["takes a claim that is in flight", "holderOf(lease) === bid.holder || now >= expiresAt", "now < expiresAt"],
      ["forgets a result", '...(ending.kind === "done" && { [annotation.result]: ending.result }),', ""],
      [
        "settles the claim of another holder",
        "return isClaimed(lease) && holderOf(lease) === bid.holder;",
        "return isClaimed(lease);",
      ],
      ["never forgets a settled claim", 'if (!(leftMs > 0)) return { do: "take" };', ""],
    ],
  ),
  ...mutantsOf(
    {
      file: "src/coordination/kubernetes/lease-rules.ts",
      suite: "src/coordination/kubernetes/lease-sweep.test.ts",
    },
    [
      ["removes a lease before it is idle", "Math.max(freeAt, unchanged.since + idleMs)", "freeAt"],
      [
        "removes a lease that is held",
        'holderOf(unchanged.lease) === "" ? unchanged.since : expiry(unchanged)',
        "unchanged.since",
      ],
    ],
  ),
  ...mutantsOf({ file: "src/coordination/redis/batch.ts", suite: "src/coordination/redis/batch.test.ts" }, [
    ["sends everything in one call", "this.#calls === 0 && size >= minDivided", "false"],
    ["sends a third call", "if (this.#scheduled || this.#calls >= maxCalls) return;", "if (this.#scheduled) return;"],
    ["divides every call", "this.#calls === 0 && size >= minDivided", "size >= minDivided"],
  ]),
  ...mutantsOf({ file: "src/time/backoff.ts", suite: "src/time/backoff.test.ts" }, [
    ["waits without a limit", "Math.min(maxMs,", "Math.max(maxMs,"],
    ["doubles the first wait", "Math.max(0, attempt - 1)", "Math.max(0, attempt)"],
  ]),
  ...mutantsOf({ file: "src/time/duration.ts", suite: "src/time/duration.test.ts" }, [
    ["accepts an empty duration", 'if (!counts || text === "") return', "if (!counts) return"],
    ["reads minutes as hours", '["m", 60_000]', '["m", 3_600_000]'],
  ]),
  ...mutantsOf({ file: "src/time/agenda.ts", suite: "src/time/agenda.test.ts" }, [
    ["wakes early", "Math.ceil(dueAt / this.#resolutionMs)", "Math.floor(dueAt / this.#resolutionMs) - 1"],
    [
      "misses an earlier appointment",
      "if (slot < this.#timerSlot) this.#arm(slot);",
      "if (this.#timerSlot === Number.POSITIVE_INFINITY) this.#arm(slot);",
    ],
  ]),
  ...mutantsOf({ file: "src/kube/runtime/work-queue.ts", suite: "src/kube/runtime/work-queue.test.ts" }, [
    ["forgets a key that was added during its work", "if (wasWanted) this.#enqueue(item);", ""],
    ["works on one key twice at once", 'if (item.state !== "idle") return;', ""],
    ["postpones an earlier wake-up", "if (dueAt >= item.dueAt) return;", ""],
    ["counts skipped work as a success", 'if (outcome.kind !== "skipped") ', ""],
    ["counts failures for ever", 'outcome.kind === "failed" ? item.failures + 1 : 0', "item.failures + 1"],
    ["keeps every key", 'if (item.state === "idle" && item.dueAt === never) this.#items.delete(item.key);', ""],
  ]),
  ...mutantsOf({ file: "src/engines/job/failure.ts", suite: "src/engines/job/failure.test.ts" }, [
    [
      "counts a job with more failed pods than pods left as not started",
      " || pods.length < (job.status.failed ?? 0)) return true;",
      ") return true;",
    ],
  ]),
  ...mutantsOf({ file: "src/engines/job/state.ts", suite: "src/engines/job/state.test.ts" }, [
    [
      "calls a job complete that failed",
      'return endedState("failed", job, failed.lastTransitionTime);',
      'return endedState("succeeded", job, failed.lastTransitionTime);',
    ],
    ["calls a cancelled job ended while its pods run", " && active === 0 && terminating === 0", ""],
  ]),
  ...mutantsOf({ file: "src/apiserver/patch/json-patch.ts", suite: "src/apiserver/patch/patches.test.ts" }, [
    [
      "ignores a failed test",
      "if (!sameJson(readValue(root, path) ?? null, value ?? null)) throw rejectedRequest();",
      "",
    ],
    ["reaches prototypes", ' || steps.includes("__proto__")', ""],
    ["accepts an index behind the end", " || at > last", ""],
  ]),
  ...mutantsOf(
    { file: "src/apiserver/selectors/label-selector.ts", suite: "src/apiserver/selectors/selectors.test.ts" },
    [
      ["needs one requirement only", "requirements.every(", "requirements.some("],
      ["ignores what must be absent", "return (labels) => !Object.hasOwn(labels, key.text);", "return () => true;"],
      ["selects listed values with notin", "return (labels) => !listed(labels);", "return (labels) => listed(labels);"],
    ],
  ),
  ...mutantsOf({ file: "src/resources/target/object-target.ts", suite: "src/resources/target/object-target.test.ts" }, [
    [
      "accepts a namespaced kind without a namespace",
      "if (known.namespaced && namespace === undefined)",
      "if (!known)",
    ],
    ["accepts a namespace for a kind without one", "if (!known.namespaced && namespace !== undefined)", "if (!known)"],
    ["accepts names that are too long", "if (name.length > 253) return false;", ""],
  ]),
  ...mutantsOf({ file: "src/sources/alertmanager/subject.ts", suite: "src/sources/alertmanager/subject.test.ts" }, [
    ["takes the scraped pod for the subject", "isScrapedPod(sample) ? undefined : object(", "object("],
    [
      "takes the node of the exporter for the subject",
      'hasDiscoveredNode(own) && !labels["exported_node"] && !isAboutNode(own) ? undefined : object(',
      "object(",
    ],
    ["ignores the target that is written", "if (written) {", 'if (written === "never") {'],
    ["keeps labels of the scrape", "if (isAboutOthers) for (const label of scrape) delete own[label];", ""],
  ]),
  ...mutantsOf({ file: "src/agent/git/protected-paths.ts", suite: "src/agent/git/protected-paths.test.ts" }, [
    ["ignores folders above a file", "parts.some((_, i) => ", "parts.slice(-1).some((_, i) => "],
    ["minds the case", "{ ignoreCase: true }", "{ ignoreCase: false }"],
    ["takes the first rule", "rules.findLast(", "rules.find("],
  ]),
  ...mutantsOf({ file: "src/agent/git/parse-patch.ts", suite: "src/agent/git/check-patch.test.ts" }, [
    ["applies what it refuses", "return refusal ?? {", "return {"],
    ["accepts a patch of any size", "if (bytes.length > limits.maxBytes) return refuseSize(limits);", ""],
  ]),
  ...mutantsOf({ file: "src/tasks/directive.ts", suite: "src/tasks/directive.test.ts" }, [
    ["answers its own notes", "if (ownMark.test(maskText(body, quotes))) return undefined;", ""],
    [
      "obeys quoted mentions",
      "maskText(maskText(maskText(body, code), quotes), hidden)",
      "maskText(maskText(body, code), hidden)",
    ],
    [
      "obeys mentions in code",
      "maskText(maskText(maskText(body, code), quotes), hidden)",
      "maskText(maskText(body, quotes), hidden)",
    ],
  ]),
  ...mutantsOf({ file: "src/notify/channels/addresses.ts", suite: "src/notify/channels/addresses.test.ts" }, [
    [
      "looks only at the first address of a name",
      "found.every(({ address }) => allows(address))",
      "found.slice(0, 1).every(({ address }) => allows(address))",
    ],
    ["allows every embedded address", "return allows(embeddedIpv4(plain));", "return true;"],
    ["allows addresses of link-local networks", '["169.254.0.0", 16],', ""],
    ["allows unique local addresses", 'global.check(plain, "ipv6") && !denied', "!denied"],
  ]),
  ...mutantsOf({ file: "src/stalls/classify-error.ts", suite: "src/stalls/classify-error.test.ts" }, [
    [
      "ignores the cause of an error",
      'error instanceof Error && error.cause ? classifyError(error.cause) : "Error"',
      '"Error"',
    ],
    ["calls a failed webhook an outage", 'return "WebhookFailed";', 'return "Unavailable";'],
  ]),
];
