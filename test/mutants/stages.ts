import { mutantsOf } from "./mutant.ts";

export const stageMutants = [
  ...mutantsOf({ file: "src/executor/decide.ts", suite: "src/executor/decide.test.ts" }, [
    ["starts a run without the target", "if (!holdsTarget) return admitOrSkip(snapshot, plan);", ""],
    ["runs without the approval", "!holdsTarget && approvalGap(snapshot, plan)", "undefined"],
    [
      "fails an execution by a cache",
      "if (problem && (unconfirmed.record || unconfirmed.entry)) return",
      "if (!plan) return",
    ],
    ["creates a run by a cached entry", "      ...confirmEntry(snapshot),\n", ""],
    ["admits a deleted execution", "if (execution.metadata.deletionTimestamp) return settle(snapshot);", ""],
    ["ignores a cancellation before the run", "if (cancel) return cancelledBefore(snapshot, cancel);", ""],
    [
      "takes another execution's run for its own",
      'if (run.owner.kind !== "us") return freeRunName(snapshot, run);',
      "",
    ],
    ["deletes a running run", 'state.kind !== "running" && owner.kind', "owner.kind"],
    [
      "follows a run of the same name",
      "snapshot.run?.uid === status.pipelineRunRef.uid ? snapshot.run : undefined",
      "snapshot.run",
    ],
    ["completes a failure whose pods still run", "return run.failure?.unfinished\n", "return !run\n"],
    [
      "starts a run that is to be cancelled",
      "return cancelReason(snapshot, status, run) ? keepWatching(snapshot, status, run) : start(snapshot, run);",
      "return start(snapshot, run);",
    ],
    ["cancels a run again and again", "if (cancel && !run.cancelledBecause)", "if (cancel)"],
    ["keeps a run whose target is lost", 'return "TargetLost";', "return undefined;"],
    ["never times out", 'snapshot.nowMs >= deadlineMs(snapshot, status) ? "Timeout" : undefined', "undefined"],
  ]),
  ...mutantsOf({ file: "src/executor/admission/admission.ts", suite: "src/executor/decide.test.ts" }, [
    ["skips by a cached record", 'if (snapshot.unconfirmed.record) return act({ do: "confirm", what: "record" });', ""],
    ["admits by a cached entry", "    ...confirmEntry(snapshot),\n", ""],
    ["skips by the cooldown of a cached entry", "...(dependsOnEntry(block) ? confirmEntry(snapshot) : []),", ""],
  ]),
  ...mutantsOf({ file: "src/executor/runs/change-run.ts", suite: "test/executor/third-parties.test.ts" }, [
    [
      "starts a run although its execution was deleted since the decision",
      "if (metadata.deletionTimestamp || readCancelRequest(execution)) return false;",
      "if (readCancelRequest(execution)) return false;",
    ],
  ]),
  ...mutantsOf({ file: "src/executor/endings/endings.ts", suite: "test/executor/third-parties.test.ts" }, [
    ["trusts the clock of an engine that is ahead", "Math.min(reportedMs, nowMs)", "reportedMs"],
    ["trusts the clock of an engine that is behind", "Math.max(startMs, Math.min", "(Math.min"],
  ]),
  ...mutantsOf({ file: "src/executor/endings/retention.ts", suite: "src/executor/endings/retention.test.ts" }, [
    ["removes the record of a held target", "if (status?.holder) return Number.POSITIVE_INFINITY;", ""],
    ["removes executions that an incident owns", "if (metadata.ownerReferences?.length) return undefined;", ""],
    ["removes an execution that its cooldown needs", "history ? Math.max(untilMs,", "!history ? Math.max(untilMs,"],
  ]),
  ...mutantsOf({ file: "src/orchestrator/approvals/decide-approval.ts", suite: "src/orchestrator/decide.test.ts" }, [
    ["accepts a late approval", 'status.decision === "Approved" && !isLate', 'status.decision === "Approved"'],
    ["expires an approval one moment late", "nowMs >= requiredByMs ?", "nowMs > requiredByMs ?"],
    ["waits for the approval of a resolved incident", "if (resolvedAt !== undefined) {", "if (!approval) {"],
  ]),
  ...mutantsOf({ file: "src/orchestrator/decide.ts", suite: "src/orchestrator/decide.test.ts" }, [
    ["acts on a deleted incident", "if (metadata.deletionTimestamp) return nothing;", ""],
    ["ignores a cancellation", "if (cancel) return cancelIncident(snapshot, cancel);", ""],
    ["keeps the old diagnosis", "if (rediagnosed) return rediagnosed;", ""],
    ["diagnoses again while an execution runs", " || unfinished.length > 0) return undefined;", ") return undefined;"],
    [
      "takes a cancelled execution for a failure",
      "if (status.failureDetails.cancellation) {",
      "if (!status.failureDetails) {",
    ],
    ["gives up one moment late", "if (nowMs < deadlineMs)", "if (nowMs <= deadlineMs)"],
    ["ignores the timeout of the workflow", 'parseDuration(workflow?.spec.timeout ?? "") ?? 0', "0"],
    ["forgets the newest incident of a fingerprint", "if (isNewest && incident.status)", "if (!incident.status)"],
    [
      "ignores the cooldown when it forgets",
      "settings.ineffective.withinMs, cooldownMs)",
      "settings.ineffective.withinMs)",
    ],
  ]),
  ...mutantsOf({ file: "src/orchestrator/targets/settle-ack.ts", suite: "src/orchestrator/targets/route.test.ts" }, [
    ["replaces a pending acknowledgement", "if (isAckPending(record)) return requeueAfter(lostEventMs);", ""],
    ["acknowledges a failure that was not shown", "if (showsBlock(incident, check)) return", "return"],
    ["drops an acknowledgement without a record", "return record.status && act(", "return act("],
    ["waits for an acknowledgement that is folded", " && !isCovered(found.history.ack, found.end);", ";"],
  ]),
  ...mutantsOf({ file: "src/orchestrator/targets/route.ts", suite: "src/orchestrator/targets/route.test.ts" }, [
    [
      "routes a cancelled incident",
      "metadata.deletionTimestamp || readCancelRequest(incident) ||",
      "metadata.deletionTimestamp ||",
    ],
    [
      "starts beside an execution that does the same",
      " followOther(incident, view) ?? decideByPolicy(incident, view)",
      " decideByPolicy(incident, view)",
    ],
    [
      "follows an execution with other parameters",
      " && parametersText(spec.parameters ?? {}) === parametersText(parameters)",
      "",
    ],
    ["follows a later execution", "?? same[0]", "?? same.at(-1)"],
    [
      "starts without the approval",
      "if (!entry?.spec.approval?.required) return undefined;",
      "if (entry) return undefined;",
    ],
    ["asks again after an approval", 'if (known?.status?.decision === "Approved") return undefined;', ""],
  ]),
  ...mutantsOf({ file: "src/console/rows/row-facts.ts", suite: "src/console/rows/row-facts.test.ts" }, [
    ["forgets stalls when it filters by reason", "({ stall }) => stall,", '() => "",'],
    [
      "reports a stall of closed work",
      'facts.isOpen ? (findStall(object)?.reason ?? "") : ""',
      'findStall(object)?.reason ?? ""',
    ],
  ]),
  ...mutantsOf({ file: "src/gateway/incidents/change-status.ts", suite: "test/gateway/openings.test.ts" }, [
    ["writes counts of an opening that is not recorded", "if (!isOwn && !hasCounts(live))", "if (false)"],
  ]),
  ...mutantsOf({ file: "src/gateway/incidents/record-late-openings.ts", suite: "test/gateway/openings.test.ts" }, [
    ["records a late opening again and again", "if (!before.has(uid) && !signal.aborted)", "if (!signal.aborted)"],
  ]),
  ...mutantsOf({ file: "src/sources/kubernetes/follow.ts", suite: "test/gateway/follow.test.ts" }, [
    ["moves the watermark to the time of an Event that waits", "!waiting.has(updatedAt)", "!this.#isWaiting(event)"],
  ]),
  ...mutantsOf({ file: "src/gateway/decide.ts", suite: "src/gateway/decide.test.ts" }, [
    ["counts an occurrence again", "own !== undefined && signal.firingAt <= own.firingAt", "false"],
    [
      "opens an incident for each report",
      'if (!isClosedIncident(newest)) return { do: "count", incident: newest };',
      "",
    ],
    ["numbers incidents from one", " ?? 0) + 1 };", " ?? 0) * 0 + 1 };"],
    ["opens an incident for a series that has ended", "signal.firingAt <= resolvedAt", "signal.firingAt > resolvedAt"],
    ["loses counts of another writer", "{ ...earlier, [counted.writer]: own }", "{ [counted.writer]: own }"],
    ["counts backwards", "Math.max(earlier[counted.writer] ?? 0, counted.count)", "counted.count"],
    ["resolves an incident that still fires", "...(fires ? {} : {", "...({"],
    [
      "keeps more series than it may",
      "Object.keys(series).length < maxSeries",
      "Object.keys(series).length <= maxSeries",
    ],
    [
      "keeps the first of two beginnings",
      "one !== undefined && one < other ? one : other",
      "one !== undefined && one > other ? one : other",
    ],
  ]),
  ...mutantsOf({ file: "src/notify/decide.ts", suite: "src/notify/decide.test.ts" }, [
    [
      "retries before it is time",
      "Date.parse(status.nextAttemptTime) > nowMs",
      "Date.parse(status.nextAttemptTime) < nowMs",
    ],
    ["delivers again to a channel that has it", "!isDelivered(name, attempts) &&", ""],
    ["retries what a channel refuses", 'status === "refused"', 'status === "success"'],
    [
      "tries once too often",
      "countAttempts(name, attempts) < settings.maxAttempts",
      "countAttempts(name, attempts) <= settings.maxAttempts",
    ],
    ["digests in every notice", "oldest.metadata.uid !== notice.metadata.uid", "!oldest.metadata"],
    [
      "calls a partial delivery complete",
      'delivered.length > 0 ? "PartiallySent" : "Failed"',
      'delivered.length > 0 ? "Sent" : "Failed"',
    ],
    [
      "removes a notice too early",
      "Date.parse(completionTime) + settings.retentionMs - nowMs",
      "Date.parse(completionTime) - nowMs",
    ],
    ["forgets the thread of an open incident", "isNeeded(snapshot) ? requeueAfter(neededWaitMs) : ", ""],
    ["resolves before another notice is delivered", "|| others.some(isUnderWay);", ";"],
    ["resolves an incident again and again", " || others.some(isEnd)) return undefined;", ") return undefined;"],
    ["ignores the delay that a receiver asks for", "Math.max(0, ...delays)", "Math.max(0)"],
  ]),
  ...mutantsOf({ file: "src/notify/thread.ts", suite: "src/notify/thread.test.ts" }, [
    ["resolves what a person must review", " && !incident.status?.requiresManualReview", ""],
    ["wakes people for information", '(style === "alert" && severity === "info")', "false"],
    ["sends a stream of messages", 'if (style === "messages" && !needsOperator(notice)) return undefined;', ""],
    ["opens a thread on a channel that only gets the end", "isRouted && !onlyOpenThreads", "isRouted"],
    ["takes the thread of another channel", "name === channel && id", "id"],
  ]),
  ...mutantsOf({ file: "src/notify/skip-queues.ts", suite: "src/notify/skip-queues.test.ts" }, [
    ["lists notices in the order in which they arrive", "this.#isSorted = false;", "this.#isSorted = true;"],
    ["sorts again for each notice that asks", "if (!this.#isSorted) {", "if (this.#notices) {"],
    ["keeps settled notices", "if (before !== undefined && before !== key) this.#remove(uid, before);", ""],
  ]),
  ...mutantsOf({ file: "src/notify/route.ts", suite: "src/notify/route.test.ts" }, [
    ["ignores the severity", "matchesRoute(spec.severity, route.severity) &&", ""],
    ["ignores the target", 'matchesRoute(spec.context?.targetResource ?? "", route.target)', "true"],
    ["matches patterns at the beginning only", "|| !value.endsWith(last) ", ""],
  ]),
  ...mutantsOf({ file: "src/agent/decide.ts", suite: "src/agent/decide.test.ts" }, [
    ["works during a pause", "if (paused) return changeStatus(", "if (paused && !task) return changeStatus("],
    ["overtakes a task on the same branch", "byCreation(other, task) < 0", "byCreation(other, task) > 0"],
    ["waits behind a closed task", "!isClosedTask(other) && ", ""],
    ["works on a cancelled task that has not begun", "if (!begunAt(task)) return", "if (!task) return"],
    ["reports a cancellation again and again", "isReporting(task) ? nextAttemptMs(task) - nowMs : 0", "0"],
    ["forgets issues like other tasks", 'spec.type === "Issue" ? issuesKept : 1', "1"],
    ["acknowledges again and again", "!status?.steps?.some(", "status?.steps?.some("],
    ["starts a task that another replica works on", "if (busyMs > 0)", "if (busyMs > nowMs)"],
    ["keeps a task ready that has to wait", '[{ do: "withdraw" }, ...next.actions]', "next.actions"],
    ["interrupts an attempt again and again", 'if (work.state === "interrupted") return nothing;', ""],
    ["interrupts the report of a cancellation", "if (cancelRequest(offered) !== undefined) return nothing;", ""],
    [
      "writes the same status again and again",
      "isDeepStrictEqual(task.status, action.status) ? nothing",
      "!task ? nothing",
    ],
  ]),
  ...mutantsOf({ file: "src/agent/flows/review.ts", suite: "test/agent/review.test.ts" }, [
    [
      "posts a review although the head moved while the coder ran",
      "const meanwhile = await checkCurrent(attempt, await gitlab.mergeRequest(ref, signal));",
      "const meanwhile = undefined;",
    ],
  ]),
  ...mutantsOf({ file: "src/agent/flows/command.ts", suite: "test/agent/forged-command.test.ts" }, [
    ["carries out the text of a webhook", "parseDirective(note.body,", "parseDirective(spec.note.body,"],
    ["publishes internal comments", 'note.internal ? "fix: requested change" :', ""],
  ]),
  ...mutantsOf({ file: "src/agent/gitlab/http/decode.ts", suite: "test/agent/forged-command.test.ts" }, [
    ["serves blocked users", 'state === "active" && membership_state', "membership_state"],
  ]),
  ...mutantsOf({ file: "src/agent/note-text.ts", suite: "src/agent/note-text.test.ts" }, [
    ["posts quick actions behind blanks", "/^([^\\S\\n]*)\\/(?=[A-Za-z_])/gm", "/^()\\/(?=[A-Za-z_])/gm"],
    ["mentions users by entities", "/&(?=#|[A-Za-z])/g", "/&(?!)/g"],
  ]),
  ...mutantsOf({ file: "src/agent/access.ts", suite: "src/agent/access.test.ts" }, [
    ["serves forks although it must not", 'if (isFork && forks === "never")', "if (isFork && !forks)"],
    ["serves forks without a request", 'forks === "onRequest" && !isRequested', "!forks"],
    ["refuses the lowest role that may", "if (level >= minAccessLevel)", "if (level > minAccessLevel)"],
  ]),
];
