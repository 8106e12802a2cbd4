import { isStream, routeAccess } from './route-access.js';

describe('routeAccess', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/:page(^(?!api$)[^/]+$)/*'],
    ['GET', '/assets/*'],
    ['GET', '/theme.js'],
    ['HEAD', '/health/ready'],
    ['GET', '/metrics'],
    ['GET', '/docs'],
    ['GET', '/docs/swagger-ui.css'],
    ['GET', '/docs-json'],
    ['GET', '/.well-known/agent-card.json'],
    ['GET', '/a2a/workflows/:workflow/nodes/:node/.well-known/agent-card.json'],
    ['GET', '/a2a/agent-card'],
    ['GET', '/schemas/workflow.json'],
    ['GET', '/a2a/nodes/:node/agent-card'],
    ['GET', '/a2a/conversations/agent-card'],
    ['GET', '/a2a/workflows/:workflow/agent-card'],
    ['GET', '/a2a/workflows/:workflow/nodes/:node/agent-card'],
    ['OPTIONS', '*'],
    ['OPTIONS', '/api/keys'],
  ])('%s %s is public', (method, route) => expect(routeAccess(method, route)).toBe('public'));

  it.each([
    ['POST', '/', ['agents']],
    ['GET', undefined, ['agents']],
    ['POST', '/docs', ['agents']],
    ['POST', '/schemas/workflow.json', ['agents']],
    ['GET', '/schemas', ['agents']],
    ['GET', '/documents', ['agents']],
    ['GET', '/:other/*', ['agents']],
    ['GET', '/a2a/agents', ['agents']],
    ['POST', '/a2a', ['agents']],
    ['POST', '/.well-known/agent-card.json', ['agents']],
    ['GET', '/api/.well-known/x', ['agents']],
    ['GET', '/a2a/:tenant/agent-card', ['agents']],
    ['GET', '/api/workflows', ['agents', 'workflows']],
    ['GET', '/api/workflows/:name', ['agents', 'workflows']],
    ['POST', '/api/workflows', ['workflows']],
    ['PUT', '/api/workflows/:name', ['workflows']],
    ['DELETE', '/api/workflows/:name', ['workflows']],
    ['POST', '/api/workflows/:name/run', ['agents']],
    ['POST', '/api/generate', ['workflows']],
    ['POST', '/api/workflows/check', ['agents', 'workflows']],
    ['POST', '/api/expressions/check', ['agents', 'workflows']],
    ['GET', '/api/workflows/:name/revisions/:revision', ['agents', 'workflows']],
    ['GET', '/api/keys', ['admin']],
    ['POST', '/api/keys/:id/rotate', ['admin']],
    ['GET', '/api/credentials', ['admin']],
    ['PUT', '/api/credentials/:name', ['admin']],
    ['GET', '/api/credentialsmith', ['agents']],
    ['GET', '/api/models', ['agents', 'workflows']],
    ['PUT', '/api/models/:name', ['admin']],
    ['POST', '/api/modelsmith', ['agents']],
    ['GET', '/api/keysmith', ['agents']],
    ['GET', '/api/whatever-comes', ['agents']],
  ])('%s %s needs one of %j', (method, route, needed) => expect(routeAccess(method, route)).toEqual(needed));
});

describe('isStream', () => {
  it.each([
    ['/api/events', true],
    ['/api/runs/:id/events', true],
    ['/api/workflows/:name/run', true],
    ['/api/agent-messages', true],
    ['/api/agent-card', false],
    ['/api/workflows/:name/runs', false],
    [undefined, false],
  ])('%s: %p', (route, expected) => expect(isStream(route)).toBe(expected));
});
