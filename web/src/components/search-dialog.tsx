import { useEffect, useId, useState } from "preact/hooks";
import type { Row, RowKind, RowPage } from "../../../src/console/wire.ts";
import { getJson, objectPath, withQuery } from "../api.ts";
import { navigate, targetPath } from "../router.ts";
import { readableKinds } from "../session.ts";
import { Modal } from "./modal.tsx";

interface Result {
  readonly path: string;
  readonly kind: string;
  readonly title: string;
  readonly detail: string;
}

const searched = ["incidents", "executions", "targets", "approvals"] as const satisfies readonly RowKind[];
const typingMs = 150;
const retryMs = 1_000;
/** Of each kind. */
const readRows = 50;
const shownRows = 5;

/** Finds incidents, executions, targets and approvals by words, and opens one. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const { results, hasFailed } = useSearch(text, () => setSelected(0));
  const listId = useId();

  const open = (result: Result | undefined) => {
    if (!result) return;
    onClose();
    navigate(result.path);
  };

  const none = hasFailed ? "The search failed; trying again." : "No result has all of these words.";
  return (
    <Modal title="Search" onClose={onClose}>
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here.
        autoFocus
        type="text"
        class="search-input"
        role="combobox"
        aria-label="Search incidents, executions, targets and approvals"
        aria-expanded={results.length > 0}
        aria-controls={listId}
        aria-activedescendant={results[selected] ? `${listId}-${selected}` : undefined}
        placeholder="Name, target, signal or workflow"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setSelected(Math.min(selected + 1, results.length - 1));
          else if (event.key === "ArrowUp") setSelected(Math.max(selected - 1, 0));
          else if (event.key === "Enter") open(results[selected]);
          else return;
          event.preventDefault();
        }}
      />
      <div id={listId} class="results" role="listbox" aria-label="Results">
        {results.map((result, index) => (
          <button
            key={result.path}
            id={`${listId}-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            class="result"
            onClick={() => open(result)}
          >
            <span class="result-kind">{result.kind}</span>
            <span class="result-title">{result.title}</span>
            <span class="muted">{result.detail}</span>
          </button>
        ))}
      </div>
      {text.trim() !== "" && results.length === 0 && <p class="muted">{none}</p>}
    </Modal>
  );
}

/** Searches after each pause in typing, and again after a failure. */
function useSearch(text: string, onFound: () => void) {
  const [results, setResults] = useState<readonly Result[]>([]);
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    let timer = setTimeout(search, typingMs);
    function search() {
      find(text, controller.signal).then(
        (found) => {
          setResults(found);
          onFound();
          setHasFailed(false);
        },
        () => {
          if (controller.signal.aborted) return;
          setHasFailed(true);
          timer = setTimeout(search, retryMs);
        },
      );
    }
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return { results, hasFailed };
}

async function find(text: string, signal: AbortSignal): Promise<readonly Result[]> {
  const search = text.trim();
  if (search === "") return [];
  const pages = await Promise.all(
    searched
      .filter((kind) => readableKinds.peek().includes(kind))
      .map((kind) => getJson<RowPage>(withQuery(`/rows/${kind}`, { search, limit: readRows }), signal)),
  );
  return pages.flatMap(({ rows }) =>
    bestResults(
      rows.flatMap((row) => toResult(row) ?? []),
      search,
    ),
  );
}

/** The best results: first those with the words in their title, then in their detail, then elsewhere. */
function bestResults(results: readonly Result[], search: string): readonly Result[] {
  const words = search.toLowerCase().split(/\s+/);
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = ({ title, detail }: Result) => (has(title) ? 0 : has(`${title} ${detail}`) ? 1 : 2);
  return results.toSorted((a, b) => rank(a) - rank(b)).slice(0, shownRows);
}

function toResult(row: Row): Result | undefined {
  switch (row.kind) {
    case "incidents":
      return {
        path: objectPath(row.kind, row.key),
        kind: "Incident",
        title: row.signal,
        detail: `${row.subject} · ${row.phase} · ${row.name}`,
      };
    case "executions":
      return {
        path: objectPath(row.kind, row.key),
        kind: "Execution",
        title: row.workflow,
        detail: `${row.target} · ${row.phase} · ${row.name}`,
      };
    case "targets":
      return { path: targetPath(row.target), kind: "Target", title: row.target, detail: row.holder ? "held" : "" };
    case "approvals":
      return {
        path: withQuery("/approvals", { search: row.name, phase: row.decision }),
        kind: "Approval",
        title: row.workflow,
        detail: `${row.target} · ${row.decision ?? "open"}`,
      };
    default:
      return undefined;
  }
}
