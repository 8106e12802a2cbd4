import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ConfigurationKinds, type ConfigurationObject, TableKind, type WantedObject } from '#libs/configuration';
import { OutboundHttp } from '#libs/http-client';
import { assertCallable, ProblemError } from '#libs/http-server';
import { SecretBox, UnreadableSecret } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { OAuth2Body, readCredential } from './credential-body.js';
import { credentialPlace, MOST_CREDENTIALS } from './credential-store.js';

/**
 * Kind `credential` of the objects that files describe (see libs/configuration): the credentials of a tenant. The
 * definition of a credential contains its secret unencrypted; responses and errors never contain a definition.
 */
@Injectable()
export class CredentialObjectKind extends TableKind {
  readonly kind = 'credential';
  readonly rank = 10;
  protected readonly table = 'credential';
  protected readonly columns = ['settings', 'secret'];
  protected readonly most = MOST_CREDENTIALS;
  protected readonly plural = 'credentials';

  constructor(
    private readonly http: OutboundHttp,
    private readonly box: SecretBox,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const body = readCredential(sent);
    if (body instanceof OAuth2Body) assertCallable(this.http, body.tokenUrl, 'tokenUrl');
    const { name, settings, secret } = body;
    return { id: name, name, definition: { settings: { ...settings }, secret } as JsonObject };
  }

  protected override toColumns({ name, definition }: WantedObject, tenant: string): Record<string, unknown> {
    const { settings, secret } = definition as { settings: JsonObject; secret: string };
    return {
      settings: JSON.stringify(settings),
      secret: this.box.seal(secret, credentialPlace({ tenant, name })),
      version: randomUUID(),
      last_error: null,
      last_error_at: null,
    };
  }

  protected override toDefinition(row: Record<string, unknown>, tenant: string): JsonObject {
    const secret = this.openSecret(row, tenant);
    return { settings: row['settings'], ...(secret !== undefined && { secret }) } as JsonObject;
  }

  /** Returns a stored secret, decrypted; `undefined` if no key decrypts it: the credential then counts as changed. */
  private openSecret({ secret, name }: Record<string, unknown>, tenant: string): string | undefined {
    try {
      return this.box.open(String(secret), credentialPlace({ tenant, name: String(name) }));
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }
}

/** Returns those problems of the definition of a credential that can be found without a running service. */
export function findCredentialProblems(sent: JsonObject): { path: string; detail: string }[] {
  try {
    readCredential(sent);
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
