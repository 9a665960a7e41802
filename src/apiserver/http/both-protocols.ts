import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";

/** The first byte of every TLS connection, and of no HTTP request. */
const handshake = 0x16;

export interface SharedPort {
  readonly server: Server;
  /** Closes the connections over which nothing was received yet. */
  closeSilent(): void;
}

/**
 * One port for two protocols: a connection that begins with a TLS handshake gets `secure`, any other `plain`. Plain
 * HTTP is for health probes and, where that is configured on loopback, for tokens of tests and scripts.
 */
export function bothProtocols(
  plain: HttpServer,
  secure: HttpsServer,
  { silenceMs }: { silenceMs: number },
): SharedPort {
  const silent = new Set<Socket>();
  const front = createServer({ noDelay: true }, (socket) => {
    const close = () => socket.destroy();
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(silenceMs, close);
    socket.on("error", close);
    socket.once("data", (first) => {
      silent.delete(socket);
      socket.setTimeout(0);
      socket.off("timeout", close);
      socket.off("error", close);
      socket.pause();
      socket.unshift(first);
      if (first[0] === handshake) secure.emit("connection", socket);
      else startHttp(plain, socket);
    });
  });
  // Servers that do not listen themselves do not check for slow senders until they get a "listening" event.
  front.on("listening", () => {
    plain.emit("listening");
    secure.emit("listening");
  });
  return {
    server: front,
    closeSilent() {
      for (const socket of silent) socket.destroy();
    },
  };
}

/** TLS reads the bytes that were put back by itself; HTTP needs a stream that flows. */
function startHttp(plain: HttpServer, socket: Socket) {
  plain.emit("connection", socket);
  socket.resume();
}
