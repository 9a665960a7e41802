# One image for every stage: docker build -t interlock:0.1.0 . ; docker run interlock:0.1.0 help
# A tag can be moved to another image, a digest cannot: change both together, as docs/cluster.md tells.
#   docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) -t interlock:0.1.0 .
ARG NODE_VERSION=22.21.1-bookworm-slim
# Of the index of all platforms. A registry that repacks images has another digest: pass that, or an empty one.
ARG NODE_DIGEST=sha256:25b3eb23a00590b7499f2a2ce939322727fcce1b15fdd69754fcd09536a3ae2c

FROM node:${NODE_VERSION}${NODE_DIGEST:+@${NODE_DIGEST}} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The image contains the package, as it is released, and nothing else of ours.
ARG COMMIT=""
RUN INTERLOCK_COMMIT=$COMMIT npm pack --silent --pack-destination /tmp \
 && mkdir /package \
 && tar --extract --gzip --file /tmp/*.tgz --strip-components=1 --directory /package

FROM node:${NODE_VERSION}${NODE_DIGEST:+@${NODE_DIGEST}}
# util-linux: every stage locks its ledger with flock. The rest is for the coding agent: git over HTTPS, and what keeps its processes apart.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git mount util-linux \
 && rm -rf /var/lib/apt/lists/*
ARG COMMIT=""
LABEL org.opencontainers.image.title="Interlock" \
      org.opencontainers.image.description="Decides whether automation may act now, and explains why nothing happened." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${COMMIT}"
WORKDIR /app
# With dist/sbom.cdx.json, the bill of materials of the package.
COPY --from=build /package ./
# No particular user; the directory for the data of a process is mounted.
USER 1000:1000
VOLUME /data
ENTRYPOINT ["node", "dist/interlock.mjs"]
CMD ["help"]
