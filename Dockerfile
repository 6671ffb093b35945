# docker build -t bearerd .
ARG NODE_IMAGE=docker.io/library/node:26-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without install scripts: the `node` of the development dependencies isn't needed, and src/ does not exist yet.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.ts

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
# The version of package.json; scripts/image/build.ts adds the commit.
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="bearerd" \
  org.opencontainers.image.description="A local authenticating reverse proxy and sidecar" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.base.name="${NODE_IMAGE}"
ENV NODE_ENV=production
WORKDIR /app
# Everything that runs: dist/ contains the packages, with their licences.
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
# On the PATH, for probes and `exec`.
RUN ln -s /app/dist/main.js /usr/local/bin/bearerd
# The user `node`; by number, so that Kubernetes can see that it isn't root (runAsNonRoot).
USER 1000:1000

# bearerd listens on the container's own loopback, which suits a sidecar that shares its network. To publish the port,
# set BEARERD_LISTEN=0.0.0.0:9180 together with a caller key (docker-compose.yml does).
EXPOSE 9180
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD ["bearerd", "healthcheck"]
# MALLOC_ARENA_MAX and --max-semi-space-size reduce memory under load (docs/containers.md): one heap of the C library for
# all threads in place of one each, and 8 MiB for young objects in place of 16.
ENV MALLOC_ARENA_MAX=1
# No shell and no npm in between: SIGTERM reaches bearerd itself. Allow it more than BEARERD_DRAIN_TIMEOUT (25s).
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/dist/main.js"]
