import { type RequestAuth, RequestSigners, type SigningRequest } from '#libs/a2a-client';

/** Signers of a test. The token changes with each renewal. */
export class FakeSigners extends RequestSigners {
  token = 'token-1';

  override async createProof({ endpoint: { origin } }: SigningRequest): Promise<RequestAuth> {
    return { origin, headers: { authorization: `Bearer ${this.token}` }, query: {}, secrets: [this.token] };
  }

  override async renewProof(wanted: SigningRequest): Promise<RequestAuth> {
    this.token = 'renewed-2';
    return this.createProof(wanted);
  }

  override async reachesOrigins(): Promise<boolean> {
    return true;
  }

  override reportRefusal(): void {}
}
