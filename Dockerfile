# Parley in one image, without the embedded PostgreSQL: give it a DATABASE_URL.
# An exact version, which moves by itself no more. To pin the very bytes, give a digest: docs/OPERATIONS.md, "Images".
ARG NODE_IMAGE=node:24.21.0-slim
FROM ${NODE_IMAGE} AS base
WORKDIR /parley
ENV NPM_CONFIG_UPDATE_NOTIFIER=false

# Optional packages hold the embedded PostgreSQL and a Node for machines without one; the image needs neither.
FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM base
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/var/lib/parley
RUN install -d -o node -g node /var/lib/parley
COPY --from=dependencies /parley/node_modules ./node_modules
COPY --from=build /parley/dist ./dist
COPY package.json LICENSE ./
USER node
EXPOSE 3000
VOLUME /var/lib/parley
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=32", "dist/src/main.js"]
