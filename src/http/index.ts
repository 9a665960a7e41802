export { parseJsonBody, sendProblem } from "./bodies.ts";
export { type Certificate, type KeyPair, openCertificate } from "./certificate.ts";
export { createApp, listenWith } from "./listen.ts";
export { contentResponse, openApi, plainOperation, problemResponse } from "./openapi.ts";
