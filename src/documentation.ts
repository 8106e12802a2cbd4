import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AppConfig } from '#libs/service';

/** Serves the management API's OpenAPI at `/docs`, and as JSON at `/docs-json`. */
export function serveDocumentation(app: NestFastifyApplication, config: AppConfig): void {
  const head = new DocumentBuilder()
    .setTitle(config.serviceName)
    .setDescription(
      'The management API. The agents are at `/a2a/` (the service itself), `/a2a/workflows/{workflow}/` and ' +
        '`/a2a/workflows/{workflow}/nodes/{node}/`: the A2A specification and the card of each, at ' +
        '`.well-known/agent-card.json` below it, describe them.',
    )
    .setVersion('1');
  if (config.auth.mode !== 'none') head.addBearerAuth().addSecurityRequirements('bearer');
  if (config.auth.mode === 'api-key') {
    head.addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'apiKey').addSecurityRequirements('apiKey');
  }
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, head.build()));
}
