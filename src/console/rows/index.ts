export { type Lane, lanes, laneTitles, type RowFilter, type RowKind } from "../wire.ts";
export { toExecutionRow } from "./execution-row.ts";
export { fitRow, maxRowBytes } from "./fit-row.ts";
export { type IncidentLinks, incidentMessage, toIncidentRow } from "./incident-row.ts";
export { laneOf } from "./lane.ts";
export { pauseScope, toPauseRow } from "./pause-row.ts";
export { rowKey } from "./row-base.ts";
export { type RowFacts, reasonGetters, rowFacts } from "./row-facts.ts";
export { rowTypes, toApprovalRow, toRow, toTargetRow } from "./to-row.ts";
