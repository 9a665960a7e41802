# One image for every stage: docker build -t interlock:0.1.0 . ; docker run interlock:0.1.0 help
# A tag can be moved to another image, a digest cannot. docs/cluster.md tells how to find it and pass it:
#   docker build --build-arg NODE_DIGEST=sha256:… -t interlock:0.1.0 .
ARG NODE_VERSION=22.21.1-bookworm-slim
ARG NODE_DIGEST=""

FROM node:${NODE_VERSION}${NODE_DIGEST:+@${NODE_DIGEST}} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig*.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:${NODE_VERSION}${NODE_DIGEST:+@${NODE_DIGEST}}
# For the coding agent: git over HTTPS, and what keeps its processes apart. No other stage uses them.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git mount util-linux \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
COPY package.json LICENSE ./
COPY rules ./rules
COPY workflows ./workflows
# Nobody in particular; the directory for what belongs to a process is mounted.
USER 1000:1000
VOLUME /data
ENTRYPOINT ["node", "dist/main.js"]
CMD ["help"]
