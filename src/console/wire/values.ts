import { z } from "../../schema/index.ts";

export const text = z.string();
export const texts = z.record(text, text);
export const time = z.string().meta({ format: "date-time" });
export const count = z.int().min(0);
export const reference = z.string().meta({ description: "NAMESPACE/NAME" });
