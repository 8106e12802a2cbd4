import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AppConfig } from '#libs/service';

/** Serves the management API's OpenAPI at `/docs`, and as JSON at `/docs-json`. */
export function serveDocumentation(app: NestFastifyApplication, config: AppConfig): void {
  const head = new DocumentBuilder()
    .setTitle(config.serviceName)
    .setDescription(
      'The management API. The A2A surface below `/a2a` is described by the A2A specification and by agent cards.',
    )
    .setVersion('1');
  if (config.auth.mode !== 'none') head.addBearerAuth().addSecurityRequirements('bearer');
  if (config.auth.mode === 'api-key') {
    head.addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'apiKey').addSecurityRequirements('apiKey');
  }
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, head.build()));
}
