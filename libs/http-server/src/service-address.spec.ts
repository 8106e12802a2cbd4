import type { OutboundHttp } from '#libs/http-client';
import type { AppConfig } from '#libs/service';
import { ServiceAddress } from './service-address.js';

function addressOf(config: Partial<AppConfig>): ServiceAddress {
  const whole = { trustedProxies: [], port: 0, host: '127.0.0.1', ...config } as unknown as AppConfig;
  const address = new ServiceAddress(whole, { allowSelf: () => undefined } as unknown as OutboundHttp);
  address.setBoundUrl('http://127.0.0.1:3000');
  return address;
}

describe('the path of an agent in a URL', () => {
  const address = addressOf({ publicUrl: 'https://agents.example/base' });

  it.each([
    ['http://127.0.0.1:3000/a2a/workflows/w', 'workflows/w'],
    ['http://localhost:3000/a2a', ''],
    ['https://agents.example/base/a2a/nodes/a2a', 'nodes/a2a'],
  ])('is there at %s', (url, path) => {
    expect(address.ownPath(url)).toBe(path);
  });

  it.each([
    'http://127.0.0.1:3001/a2a/workflows/w',
    'https://agents.example/a2a/workflows/w',
    'http://127.0.0.1:3000/api/runs',
    'http://127.0.0.1:3000/a2agents',
    'http://a2a/workflows/w',
  ])('is not at %s', (url) => {
    expect(address.ownPath(url)).toBeUndefined();
  });

  it('is there where the service calls itself, whatever it listens on', () => {
    expect(addressOf({ host: '0.0.0.0' }).ownPath('http://127.0.0.1:3000/a2a/nodes/n')).toBe('nodes/n');
    expect(addressOf({ host: '0.0.0.0' }).ownPath('http://localhost:3000/a2a/nodes/n')).toBeUndefined();
  });
});

describe('the address of gRPC in cards', () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, 'agents.example:50051'],
    ['grpc.example:443', 'grpc.example:443'],
    ['none', undefined],
  ])('with GRPC_PUBLIC_URL=%s is %s', (grpcPublicUrl, target) => {
    const address = addressOf({ ...(grpcPublicUrl !== undefined && { grpcPublicUrl }) });
    expect(address.publicGrpcTarget('https://agents.example')).toBeUndefined();
    address.grpcListening(50_051);
    expect(address.publicGrpcTarget('https://agents.example')).toBe(target);
  });
});
