import type { NotificationRequest } from "../../resources/index.ts";
import { cutText } from "../../telemetry/index.ts";
import type { NoticeRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase, rowKey, rowText } from "./row-base.ts";

/** An installation has a handful of channels; a row has no room for more. */
const maxChannels = 8;

export function toNoticeRow(notice: NotificationRequest): NoticeRow {
  const { metadata, spec, status } = notice;
  const incident = spec.remediationRequestRef;
  const channels = new Set((status?.deliveryAttempts ?? []).map(({ channel }) => cutText(channel, 40)));
  return fitRow({
    kind: "notices",
    ...rowBase(notice),
    phase: status?.phase ?? "Pending",
    subject: rowText(`${spec.eventType}: ${spec.message}`),
    ...field("incident", incident && rowKey(incident, metadata.namespace)),
    channels: [...channels].slice(0, maxChannels),
  });
}
