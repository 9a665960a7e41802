import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogLine } from "../../../src/console/wire.ts";
import { openStream, withQuery } from "../api.ts";
import { formatQuantity } from "../format.ts";
import { emptyOutput, followOutput, maxLines, type Output } from "../live/output.ts";
import { sleep } from "../live/reconnect.ts";
import { plainText } from "../log-text.ts";
import type { Tone } from "../tones.ts";
import { Badge } from "./badge.tsx";
import { CopyButton } from "./copy-button.tsx";

const states: Readonly<Record<Output["state"], { readonly tone: Tone; readonly text: string }>> = {
  open: { tone: "active", text: "Live" },
  interrupted: { tone: "bad", text: "Interrupted, reconnecting" },
  ended: { tone: "neutral", text: "Complete" },
  failed: { tone: "bad", text: "Not readable" },
};

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
        {state !== "ended" && state !== "failed" && (
          <label class="check">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={({ currentTarget }) => setFollowing(currentTarget.checked)}
            />
            <span>Follow</span>
          </label>
        )}
        <span class="log-state grow" role="status">
          {(state !== "ended" || problem === undefined) && <Badge {...states[state]} />}
          <span class="muted">
            {formatQuantity(lines.length, "line")}
            {problem !== undefined && `; ${problem}`}
          </span>
        </span>
        <CopyButton text={lines.map(({ text }) => plainText(text)).join("\n")} label="Copy the output" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard. */}
      <pre ref={box} class="log" tabIndex={0} role="log" aria-label="Output of the steps" aria-live="off">
        {lines.length === 0 ? (
          <span class="muted">{state === "ended" ? "There was no output." : "No output yet."}</span>
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
  const [output, show] = useState(emptyOutput);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    show(emptyOutput);
    void followOutput({
      open: () => openStream(withQuery(path, { tail: maxLines }), { signal }),
      show,
      sleep,
      signal,
    });
    return () => controller.abort();
  }, [path]);
  return output;
}
