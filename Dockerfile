# Parley in one image, without the embedded PostgreSQL: give it a DATABASE_URL.
# An exact version, which moves by itself no more. To pin the very bytes, give a digest: docs/operations/RUN.md, "Images".
ARG NODE_IMAGE=node:24.21.0-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /parley
ENV NPM_CONFIG_UPDATE_NOTIFIER=false
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
# All that runs is in the bundle, packages as well. What only measurements and debuggers want stays behind.
RUN npm run build && rm -r dist/libs && find dist -name '*.map' -delete

FROM ${NODE_IMAGE}
WORKDIR /parley
# An allocator that gives memory back; its folder is named after the processor.
RUN apt-get update && apt-get install -y --no-install-recommends libjemalloc2 && rm -rf /var/lib/apt/lists/* \
  && ln -s "$(find /usr/lib -name libjemalloc.so.2)" /usr/local/lib/libjemalloc.so.2
ENV LD_PRELOAD=/usr/local/lib/libjemalloc.so.2 MALLOC_CONF=background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0,narenas:2
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/var/lib/parley NODE_COMPILE_CACHE=/parley/.compiled MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=1048576
COPY --from=build /parley/dist ./dist
COPY --from=build /parley/apps/cli/bin ./bin
COPY examples ./examples
COPY package.json LICENSE ./
RUN install -d -o node -g node /var/lib/parley /var/lib/parley/files .compiled && ln -s /parley/bin/parley.mjs /usr/local/bin/parley
# By number, so that a cluster can see that it is not root.
USER 1000:1000
# What is compiled now, as it is run below, need not be at each start, also where nothing can be written.
RUN node --no-allocation-site-pretenuring dist/src/main.js --help > /dev/null
EXPOSE 3000
VOLUME /var/lib/parley
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --start-interval=2s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "dist/src/main.js"]
