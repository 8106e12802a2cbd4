import { AgentCallError, type RequestAuth } from '#libs/a2a-client';
import { FirstUsableSigner, type ModelSigner } from './model-signer.js';

const ENDPOINT = new URL('https://model.test/v1');
const { signal } = new AbortController();

/** A proof for one origin alone. */
class OriginSigner implements ModelSigner {
  readonly seen: string[] = [];

  constructor(
    private readonly origin: string,
    private readonly failure: AgentCallError['kind'] = 'credential',
  ) {}

  async auth({ origin }: URL): Promise<RequestAuth> {
    this.seen.push('auth');
    if (origin !== this.origin) throw new AgentCallError(this.failure, `not for ${origin}, but ${this.origin}`);
    return { origin, headers: {}, query: {}, secrets: [] };
  }

  async renewed(endpoint: URL): Promise<RequestAuth> {
    this.seen.push('renewed');
    return this.auth(endpoint);
  }

  refused(): void {
    this.seen.push('refused');
  }
}

describe('FirstUsableSigner', () => {
  it('takes the first proof that may go to the endpoint, and renews and refuses that one', async () => {
    const signers = ['https://a.test', 'https://model.test', 'https://model.test'].map((it) => new OriginSigner(it));
    const signer = new FirstUsableSigner(signers);
    const auth = await signer.auth(ENDPOINT, signal);
    const other = await signer.renewed(ENDPOINT, auth!, signal);
    signer.refused(other!, 'no');
    expect(signers.map(({ seen }) => seen)).toEqual([['auth'], ['auth', 'renewed', 'auth', 'refused'], []]);
  });

  it('has no proof where none may go there, and says so', async () => {
    const signer = new FirstUsableSigner([new OriginSigner('https://a.test'), new OriginSigner('https://b.test')]);
    await expect(signer.auth(ENDPOINT, signal)).rejects.toThrow('not for https://model.test, but https://b.test');
  });

  it('passes over no proof that cannot be had for the moment', async () => {
    const last = new OriginSigner('https://model.test');
    const signer = new FirstUsableSigner([new OriginSigner('https://a.test', 'timeout'), last]);
    await expect(signer.auth(ENDPOINT, signal)).rejects.toMatchObject({ kind: 'timeout' });
    expect(last.seen).toEqual([]);
  });
});
