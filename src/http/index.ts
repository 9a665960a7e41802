export { type Certificate, type KeyPair, openCertificate } from "./certificate.ts";
export { parseJsonBody } from "./json-body.ts";
export { createApp, listenWith } from "./listen.ts";
export { contentResponse, openApi, plainOperation, problemResponse } from "./openapi.ts";
export { sendProblem } from "./problem.ts";
