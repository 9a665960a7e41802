import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogLine, LogProblem } from "../../../src/console/wire.ts";
import { ApiError, openStream, withQuery } from "../api.ts";
import { countOf } from "../format.ts";
import { readEvents } from "../live/events.ts";
import { plainText } from "../log-text.ts";
import { CopyButton } from "./copy-button.tsx";

/** Older lines are left out; the command line prints all. */
const maxLines = 2_000;
/** Lines that arrive together are shown together. */
const showMs = 150;

interface Output {
  readonly lines: readonly LogLine[];
  readonly state: "open" | "ended" | "failed";
  readonly problem?: string;
}

const nothing: Output = { lines: [], state: "open" };

/** The output of all steps as it is written. `path` is the stream of its lines. */
export function LogView({ path }: { readonly path: string }) {
  const { lines, state, problem } = useOutput(path);
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  // After each batch of lines.
  useLayoutEffect(() => {
    if (isFollowing && lines.length > 0 && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, isFollowing]);

  return (
    <>
      <div class="log-tools">
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={({ currentTarget }) => setFollowing(currentTarget.checked)}
          />
          <span>Follow</span>
        </label>
        <span class="muted grow" role="status">
          {countOf(lines.length, "line")}
          {state === "ended" && ", complete"}
          {problem !== undefined && `; ${problem}`}
        </span>
        <CopyButton text={lines.map(({ text }) => plainText(text)).join("\n")} label="Copy the output" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard. */}
      <pre ref={box} class="log" tabIndex={0} role="log" aria-label="Output of the steps" aria-live="off">
        {lines.length === 0 ? (
          <span class="muted">{state === "open" ? "No output yet." : "There was no output."}</span>
        ) : (
          lines.map((line, index) => <Line key={index} line={line} previous={lines[index - 1]} />)
        )}
      </pre>
    </>
  );
}

function Line({ line, previous }: { readonly line: LogLine; readonly previous: LogLine | undefined }) {
  const isNewStep = previous === undefined || previous.task !== line.task || previous.step !== line.step;
  return (
    <>
      {isNewStep && (
        <span class="log-step">
          {line.task} / {line.step}
          {"\n"}
        </span>
      )}
      {plainText(line.text)}
      {"\n"}
    </>
  );
}

function useOutput(path: string): Output {
  const [output, setOutput] = useState(nothing);
  useEffect(() => {
    const controller = new AbortController();
    let waiting: LogLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (end: Partial<Output> = {}) => {
      clearTimeout(timer);
      timer = undefined;
      const added = waiting;
      waiting = [];
      setOutput((before) => ({ ...before, lines: [...before.lines, ...added].slice(-maxLines), ...end }));
    };
    const follow = async () => {
      try {
        for await (const { type, data } of readEvents(
          await openStream(withQuery(path, { tail: maxLines }), { signal: controller.signal }),
        )) {
          if (type === "end") return show({ state: "ended" });
          if (type === "problem") show({ problem: (JSON.parse(data) as LogProblem).message });
          if (type !== "line") continue;
          waiting.push(JSON.parse(data));
          timer ??= setTimeout(show, showMs);
        }
        show({ state: "failed", problem: "the connection was interrupted; reload the page to read on" });
      } catch (error) {
        if (controller.signal.aborted) return;
        show({ state: "failed", problem: error instanceof ApiError ? error.message : "the output cannot be read" });
      }
    };
    setOutput(nothing);
    void follow();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [path]);
  return output;
}
