import { useId } from "preact/hooks";
import type { ProblemDocument, RuleTestResult } from "../../../src/console/wire.ts";
import { ApiError, postJson } from "../api.ts";
import { submitWithEnter } from "../keys.ts";
import { examplePayload, knownSources, parsePayload } from "../rule-payload.ts";
import { Badge } from "./badge.tsx";
import { EmptyState } from "./empty-state.tsx";
import { TargetLink } from "./link.tsx";
import { Facts, Panel } from "./panel.tsx";
import { ProblemNotice } from "./problem-notice.tsx";

export interface Bench {
  readonly source: string;
  readonly text: string;
  readonly outcome:
    | { readonly kind: "none" }
    | { readonly kind: "running" }
    | { readonly kind: "unreadable"; readonly message: string }
    | { readonly kind: "refused"; readonly problem: ProblemDocument }
    | { readonly kind: "tested"; readonly result: RuleTestResult };
}

export const emptyBench: Bench = { source: "alertmanager", text: "", outcome: { kind: "none" } };

interface RuleBenchProps {
  readonly bench: Bench;
  readonly onChange: (change: (bench: Bench) => Bench) => void;
}

/** Tests the rules with a pasted alert. Nothing is changed. */
export function RuleBench({ bench, onChange }: RuleBenchProps) {
  const sourcesId = useId();
  const set = (part: Partial<Bench>) => onChange((current) => ({ ...current, ...part }));
  const test = async () => {
    const payload = parsePayload(bench.text);
    if (payload.kind === "invalid") return set({ outcome: { kind: "unreadable", message: payload.message } });
    set({ outcome: { kind: "running" } });
    set({ outcome: await testRules(bench.source.trim(), payload.value) });
  };
  return (
    <>
      <Panel title="Alert" aside={<span class="muted panel-meaning">A test changes nothing</span>}>
        <form
          class="form panel-body"
          onSubmit={(event) => {
            event.preventDefault();
            void test();
          }}
        >
          <label class="field bench-source">
            <span>Source</span>
            <input
              required
              pattern="[a-z][a-z0-9\-]{0,62}"
              title="Such as alertmanager, or the name of a source with a map of its own"
              list={sourcesId}
              value={bench.source}
              onInput={({ currentTarget }) => set({ source: currentTarget.value })}
            />
          </label>
          <datalist id={sourcesId}>
            {knownSources.map((source) => (
              <option key={source} value={source} />
            ))}
          </datalist>
          <label class="field">
            <span>Body of the notification, as JSON</span>
            <textarea
              class="mono"
              rows={14}
              spellcheck={false}
              placeholder='{ "alerts": [ … ] }'
              value={bench.text}
              onInput={({ currentTarget }) => set({ text: currentTarget.value })}
              onKeyDown={submitWithEnter}
            />
          </label>
          <div class="bench-actions">
            <button type="submit" class="button" data-primary disabled={bench.outcome.kind === "running"}>
              {bench.outcome.kind === "running" ? "Testing…" : "Test"}
            </button>
            <button
              type="button"
              class="button"
              onClick={() => set({ source: "alertmanager", text: examplePayload, outcome: { kind: "none" } })}
            >
              Insert an example
            </button>
          </div>
        </form>
      </Panel>
      <div role="status" aria-label="Result of the test">
        <BenchOutcome outcome={bench.outcome} />
      </div>
    </>
  );
}

async function testRules(source: string, payload: unknown): Promise<Bench["outcome"]> {
  try {
    const result = await postJson<RuleTestResult>("/rules/test", { source, payload });
    return { kind: "tested", result };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: "refused", problem: error.problem };
  }
}

function BenchOutcome({ outcome }: Pick<Bench, "outcome">) {
  switch (outcome.kind) {
    case "none":
    case "running":
      return null;
    case "unreadable":
      return (
        <div class="notice" data-tone="bad">
          <p>{outcome.message}</p>
        </div>
      );
    case "refused":
      return <ProblemNotice problem={outcome.problem} />;
    case "tested":
      return outcome.result.signals.length === 0 ? (
        <EmptyState title="The body has no signal" />
      ) : (
        <SignalResults signals={outcome.result.signals} />
      );
  }
}

function SignalResults({ signals }: RuleTestResult) {
  return (
    <>
      {signals.map((signal, index) => (
        <SignalResult key={`${index} ${signal.signal}`} signal={signal} />
      ))}
    </>
  );
}

function SignalResult({ signal }: { readonly signal: RuleTestResult["signals"][number] }) {
  const { outcome, rule, workflow, target, lines } = signal;
  return (
    <Panel
      title={signal.signal}
      aside={<Badge tone={workflow === undefined ? "neutral" : "active"} text={outcome} />}
      isPadded
    >
      <Facts
        facts={[
          ["Subject", signal.subject !== undefined && <span class="mono">{signal.subject}</span>],
          ["Rule", rule ?? "none"],
          ["Workflow", workflow ?? "none"],
          ["Target", target !== undefined && <TargetLink target={target} />],
        ]}
      />
      {lines.length > 0 && <pre class="bench-lines">{lines.join("\n")}</pre>}
    </Panel>
  );
}
