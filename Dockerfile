# One image for every stage: docker build -t interlock . ; docker run interlock help
FROM node:22-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig*.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:22-slim
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
