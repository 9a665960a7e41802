import { StatusError } from "../api/status-error.ts";

/** The format of a response. */
export interface Format {
  readonly text: "json" | "yaml";
  readonly as: "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** Of meta.k8s.io. */
  readonly version: string;
}

const plainJson: Format = { text: "json", as: "object", version: "v1" };
const transforms = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"] as const;

/** The first format in the header Accept that is supported. Throws 406 when there is none. */
export function acceptedFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === "" || accept === "application/json") return plainJson;
  for (const { type, parameters } of mediaTypes(accept)) {
    const format = toFormat(type, parameters);
    if (format) return format;
  }
  const message = "only the following media types are accepted: application/json, application/yaml";
  throw new StatusError(406, message);
}

export interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

export function mediaTypes(header: string): MediaType[] {
  return header.split(",").map((part) => {
    const [type = "", ...rest] = part.split(";").map((piece) => piece.trim());
    const parameters = rest.map((pair) => {
      const [name = "", value = ""] = pair.split("=");
      return [name.trim().toLowerCase(), value.trim()] as const;
    });
    return { type: type.toLowerCase(), parameters: new Map(parameters) };
  });
}

function toFormat(type: string, parameters: ReadonlyMap<string, string>): Format | undefined {
  const text = textFormat(type);
  if (!text) return undefined;
  const as = parameters.get("as");
  if (as === undefined) return { text, as: "object", version: "v1" };

  const known = transforms.find((one) => one === as);
  const version = parameters.get("v") ?? "v1";
  if (!known || parameters.get("g") !== "meta.k8s.io" || !["v1", "v1beta1"].includes(version)) return undefined;
  return { text, as: known, version };
}

function textFormat(type: string): "json" | "yaml" | undefined {
  if (["application/json", "*/*", "application/*"].includes(type)) return "json";
  return type === "application/yaml" ? "yaml" : undefined;
}
