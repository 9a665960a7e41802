export { z } from "zod";
export { flag, instant, listOf, optionalText, part, textOrEmpty, texts } from "./lenient.ts";
export { nearest } from "./nearest.ts";
export { mustBe, type Problem, parse, parseJson, syntaxProblem, type Wire } from "./parse.ts";
