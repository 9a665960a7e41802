import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";

/** The first byte of every TLS connection, and of no HTTP request. */
const handshake = 0x16;

export interface Front {
  readonly server: Server;
  /** Ends the connections that nobody has said anything on yet. */
  hangUpOnSilent(): void;
}

/**
 * One port for two protocols: whoever begins with a TLS handshake gets `secure`, everybody else `plain`. Plain
 * HTTP is for health probes and, where that is configured on loopback, for tokens of tests and scripts.
 */
export function bothProtocols(plain: HttpServer, secure: HttpsServer, { silenceMs }: { silenceMs: number }): Front {
  const silent = new Set<Socket>();
  const front = createServer({ noDelay: true }, (socket) => {
    const hangUp = () => socket.destroy();
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(silenceMs, hangUp);
    socket.on("error", hangUp);
    socket.once("data", (first) => {
      silent.delete(socket);
      socket.setTimeout(0);
      socket.off("timeout", hangUp);
      socket.off("error", hangUp);
      socket.pause();
      socket.unshift(first);
      if (first[0] === handshake) secure.emit("connection", socket);
      else beginHttp(plain, socket);
    });
  });
  // Servers that do not listen themselves would not look for slow senders: they begin to when told that they listen.
  front.on("listening", () => {
    plain.emit("listening");
    secure.emit("listening");
  });
  return {
    server: front,
    hangUpOnSilent() {
      for (const socket of silent) socket.destroy();
    },
  };
}

/** TLS takes what was read so far by itself; HTTP waits for it to flow. */
function beginHttp(plain: HttpServer, socket: Socket) {
  plain.emit("connection", socket);
  socket.resume();
}
