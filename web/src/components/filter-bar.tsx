import { useEffect, useRef, useState } from "preact/hooks";
import { withFilter } from "../live/filter.ts";
import { location, setQuery } from "../router.ts";

export interface FilterChoice {
  /** In the URL. */
  readonly name: string;
  readonly label: string;
  /** What is shown without a choice; by default all rows. */
  readonly defaultLabel?: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** A page searches after this pause in the typing. */
const typingMs = 200;

/** A search field and choices, kept in the URL: a link shows the same rows to another person. */
export function FilterBar({ choices = [] }: { readonly choices?: readonly FilterChoice[] }) {
  const { query } = location.value;
  return (
    <search class="filters">
      <SearchField />
      {choices.map(({ name, label, defaultLabel, options }) => (
        <label key={name} class="filter">
          <span class="visually-hidden">{label}</span>
          <select
            value={query.get(name) ?? ""}
            onChange={({ currentTarget }) => setQuery(withFilter(location.peek().query, name, currentTarget.value))}
          >
            <option value="">{defaultLabel ?? `${label}: all`}</option>
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        </label>
      ))}
      <OtherFilters choices={choices} />
    </search>
  );
}

function SearchField() {
  const inUrl = location.value.query.get("search") ?? "";
  const [text, setText] = useState(inUrl);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(inUrl), [inUrl]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="filter grow">
      <span class="visually-hidden">Filter these rows</span>
      <input
        type="search"
        placeholder="Filter by words"
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => setQuery(withFilter(location.peek().query, "search", value)), typingMs);
        }}
      />
    </label>
  );
}

const shownFilters = [
  "target",
  "workflow",
  "namespace",
  "incident",
  "execution",
  "reason",
  "phase",
  "lane",
  "since",
] as const;

/** Filters that came with a link and have no field here. They can be removed. */
function OtherFilters({ choices }: { readonly choices: readonly FilterChoice[] }) {
  const { query } = location.value;
  const others = shownFilters.filter((name) => query.has(name) && !choices.some((choice) => choice.name === name));
  return (
    <>
      {others.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          onClick={() => setQuery(withFilter(location.peek().query, name, ""))}
          aria-label={`Remove the filter ${name} ${query.get(name)}`}
        >
          {name}: {query.get(name)} ×
        </button>
      ))}
    </>
  );
}
