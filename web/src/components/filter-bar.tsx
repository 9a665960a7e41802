import { useEffect, useRef, useState } from "preact/hooks";
import { withFilter } from "../live/filter.ts";
import { location, setQuery } from "../router.ts";

export interface FilterChoice {
  /** In the URL. */
  readonly name: string;
  readonly label: string;
  /** The label without a choice; by default all rows are shown. */
  readonly defaultLabel?: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** The choice of one of several phases. */
export function phaseChoice(...phases: readonly string[]): FilterChoice {
  return { name: "phase", label: "Phase", options: phases.map((phase) => ({ value: phase, label: phase })) };
}

/** The search begins after this pause in typing. */
const typingMs = 200;

/** A search field and choices. They are in the URL, so that a link shows the same rows to another user. */
export function FilterBar({ choices = [] }: { readonly choices?: readonly FilterChoice[] }) {
  const { query } = location.value;
  return (
    <search class="filters">
      <SearchField />
      {choices.map((choice) => (
        <ChoiceField key={choice.name} choice={choice} value={query.get(choice.name) ?? ""} />
      ))}
      <OtherFilters choices={choices} />
    </search>
  );
}

function ChoiceField({ choice, value }: { readonly choice: FilterChoice; readonly value: string }) {
  const { name, label, defaultLabel = `${label}: all`, options } = choice;
  const isOther = value !== "" && !options.some((option) => option.value === value);
  return (
    <label class="filter">
      <span class="visually-hidden">{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => setQuery(withFilter(location.peek().query, name, currentTarget.value))}
      >
        <option value="">{defaultLabel}</option>
        {isOther && <option value={value}>{`${label}: ${value}`}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
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

/** Filters of the URL that have no field here, each with a button to remove it. */
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
