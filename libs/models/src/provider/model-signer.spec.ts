import { AgentCallError, type RequestAuth, type RequestSigners, UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import { FirstUsableSigner } from './model-signer.js';

const ENDPOINT = new URL('https://model.test/v1');
const { signal } = new AbortController();

/**
 * Fake store of credentials. Each credential may be sent to one origin only. `seen` records the calls of the methods
 * that sign, renew and report a refusal.
 */
class HostedSigners implements RequestSigners {
  readonly seen: string[] = [];
  private readonly made = new Map<RequestAuth, string>();

  /** @param failing credentials that cannot sign, with the kind of the error */
  constructor(
    private readonly hosts: Record<string, string>,
    private readonly failing: Record<string, AgentCallError['kind']> = {},
  ) {}

  async reachesOrigins({ credential }: { credential: string }, origins: readonly string[]): Promise<boolean> {
    return origins.includes(this.hosts[credential] ?? '');
  }

  async createProof({ credential, endpoint: { origin } }: { credential: string; endpoint: URL }): Promise<RequestAuth> {
    this.seen.push(`auth ${credential}`);
    const kind = this.failing[credential];
    if (kind) throw new AgentCallError(kind, 'no proof');
    const auth = { origin, headers: {}, query: {}, secrets: [] };
    this.made.set(auth, credential);
    return auth;
  }

  async renewProof(wanted: { credential: string; endpoint: URL }): Promise<RequestAuth> {
    this.seen.push(`renewed ${wanted.credential}`);
    return this.createProof(wanted);
  }

  reportRefusal(auth: RequestAuth): void {
    this.seen.push(`failed ${this.made.get(auth)}`);
  }
}

function signerOf(signers: HostedSigners, ...credentials: string[]): FirstUsableSigner {
  return new FirstUsableSigner(signers, { tenant: 't', credentials }, 'openai-compatible');
}

describe('FirstUsableSigner', () => {
  it('takes the first credential that may go to the endpoint, and renews and refuses that one', async () => {
    const signers = new HostedSigners({ a: 'https://a.test', b: ENDPOINT.origin, c: ENDPOINT.origin });
    const signer = signerOf(signers, 'a', 'b', 'c');
    const auth = await signer.createAuth(ENDPOINT, signal);
    const other = await signer.renewAuth(ENDPOINT, auth!, signal);
    signer.noteRefusal(other!, 'no');
    expect(signers.seen).toEqual(['auth b', 'renewed b', 'auth b', 'failed b']);
  });

  it('refuses a missing credential and one that may not go there in the same words, and asks for neither', async () => {
    const signers = new HostedSigners({ elsewhere: 'https://a.test' });
    for (const name of ['PATH', 'missing', 'elsewhere'])
      await expect(signerOf(signers, name).createAuth(ENDPOINT, signal)).rejects.toMatchObject({
        kind: 'credential',
        message: `"${name}" ${UNUSABLE_CREDENTIAL}`,
      });
    expect(signers.seen).toEqual([]);
  });

  it.each(['timeout', 'credential'] as const)('passes over no credential whose proof fails (%s)', async (kind) => {
    const signers = new HostedSigners({ a: ENDPOINT.origin, b: ENDPOINT.origin }, { a: kind });
    await expect(signerOf(signers, 'a', 'b').createAuth(ENDPOINT, signal)).rejects.toMatchObject({ kind });
    expect(signers.seen).toEqual(['auth a']);
  });
});
