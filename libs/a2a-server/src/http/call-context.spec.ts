import { UnknownAgent } from '#libs/agents';
import { pathTenant, tenantPath } from './call-context.js';

describe('the agent that a tenant names', () => {
  it.each([
    ['', ''],
    ['greeting', ''],
    ['acme corp', ''],
    ['conversations', ''],
    ['conversations/', 'conversations'],
    ['workflows/greeting', 'workflows/greeting'],
    ['workflows/greeting/nodes/writer', 'workflows/greeting/nodes/writer'],
    ['nodes/writer', 'nodes/writer'],
  ])('%p is %p', (tenant, path) => {
    expect(tenantPath(tenant)).toBe(path);
  });

  it.each(['', 'conversations', 'workflows/greeting', 'nodes/writer'])('that a card of %p names is it', (path) => {
    expect(tenantPath(pathTenant(path))).toBe(path);
  });

  it.each([
    '/',
    'conversations/x',
    'conversations/nodes/x',
    'workflows/',
    'workflows/a b',
    'workflows/a/',
    'workflows/a/nodes',
    'workflows/a/nodes/',
    'workflows/a/nodes/b/c',
    'workflows/../nodes/b',
    'nodes/',
    'nodes/a/b',
    'acme/corp',
    `workflows/${'x'.repeat(10_000)}`,
  ])('%p is nobody', (tenant) => {
    expect(() => tenantPath(tenant)).toThrow(UnknownAgent);
    try {
      tenantPath(tenant);
    } catch (error) {
      expect(JSON.stringify((error as UnknownAgent).metadata).length).toBeLessThan(200);
    }
  });
});
