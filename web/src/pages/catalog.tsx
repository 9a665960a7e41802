import { useState } from "preact/hooks";
import type { Catalog } from "../../../src/console/wire.ts";
import { withQuery } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { Loading } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { emptyBench, RuleBench } from "../components/rule-bench.tsx";
import { RunButton } from "../components/run-button.tsx";
import { formatCount } from "../format.ts";
import { usePolled } from "../live/use-live.ts";
import { location } from "../router.ts";

const views = ["workflows", "rules", "test"] as const;
type View = (typeof views)[number];

const viewTitles: Readonly<Record<View, string>> = { workflows: "Workflows", rules: "Rules", test: "Test bench" };

/** The workflows, the rules that choose them, and the problems of both. */
export function CatalogPage() {
  const { value: catalog, problem } = usePolled<Catalog>("/catalog", 15_000);
  const view = views.find((name) => name === location.value.query.get("view")) ?? "workflows";
  // The pasted text stays while another view is open.
  const [bench, setBench] = useState(emptyBench);
  const counts: Readonly<Partial<Record<View, number>>> = catalog
    ? { workflows: catalog.workflows.length, rules: catalog.rules.length }
    : {};
  return (
    <>
      <PageHeader title="Workflows and rules" aside={<Views current={view} counts={counts} />} />
      {problem && <ProblemNotice problem={problem} />}
      {catalog && catalog.problems.length > 0 && <CatalogProblems problems={catalog.problems} />}
      {view === "test" && <RuleBench bench={bench} onChange={setBench} />}
      {view !== "test" && !catalog && problem === undefined && <Loading />}
      {view === "workflows" && catalog && <Workflows workflows={catalog.workflows} />}
      {view === "rules" && catalog && <Rules rules={catalog.rules} />}
    </>
  );
}

interface ViewsProps {
  readonly current: View;
  readonly counts: Readonly<Partial<Record<View, number>>>;
}

function Views({ current, counts }: ViewsProps) {
  return (
    <nav class="segments" aria-label="View">
      {views.map((view) => (
        <Link key={view} to={withQuery("/catalog", { view })} class="segment" isCurrent={view === current}>
          {viewTitles[view]}
          {counts[view] !== undefined && <span class="segment-count">{formatCount(counts[view])}</span>}
        </Link>
      ))}
    </nav>
  );
}

function CatalogProblems({ problems }: { readonly problems: readonly string[] }) {
  return (
    <section class="notice" data-tone="bad" aria-label="Problems">
      <p class="strong">
        {problems.length === 1 ? "One problem" : `${formatCount(problems.length)} problems`} with workflows or rules
      </p>
      <ul class="problems">
        {problems.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

function Workflows({ workflows }: Pick<Catalog, "workflows">) {
  if (workflows.length === 0) return <EmptyState title="The catalog is empty" command="interlock init remediation" />;
  return (
    <table class="cards">
      <caption class="visually-hidden">Workflows</caption>
      <thead>
        <tr>
          <th scope="col">Workflow</th>
          <th scope="col">Purpose</th>
          <th scope="col">Acts on</th>
          <th scope="col">Engine</th>
          <th scope="col" data-align="end">
            Actions
          </th>
        </tr>
      </thead>
      <tbody>
        {workflows.map((workflow) => (
          <tr key={`${workflow.id} ${workflow.version}`}>
            <th scope="row">
              {workflow.id}
              <span class="line-sub mono">{workflow.version}</span>
            </th>
            <td class="cards-wide">
              {workflow.description} {workflow.needsApproval && <Badge tone="wait" text="needs approval" />}
            </td>
            <td class="cards-kinds">{workflow.targetKinds?.join(", ") ?? "any target"}</td>
            <td class="cards-short">{workflow.engine}</td>
            <td data-align="end">
              <RunButton workflow={workflow} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rules({ rules }: Pick<Catalog, "rules">) {
  if (rules.length === 0)
    return (
      <EmptyState title="There is no rule" command="interlock init remediation">
        Without a rule, incidents are recorded and no workflow runs.
      </EmptyState>
    );
  return (
    <table class="cards">
      <caption class="visually-hidden">Rules, in the order in which they are tried</caption>
      <thead>
        <tr>
          <th scope="col" data-align="end">
            Order
          </th>
          <th scope="col">Rule</th>
          <th scope="col">Workflow</th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule, index) => (
          <tr key={rule.name}>
            <td class="cards-order number">{index + 1}</td>
            <th scope="row">{rule.name}</th>
            <td class="cards-wide">
              {rule.workflow} {rule.observe && <Badge tone="neutral" text="observes only" />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
