import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { CredentialNamers } from '#libs/credentials';
import { type WorkflowNode, WorkflowStore } from '#libs/orchestrator';
import { isJsonObject, type JsonValue } from '#libs/protocol';

const PAGE = 500;

/** The workflows that name a credential: in the config of a node, for the agents that it calls. */
@Injectable()
class WorkflowCredentials extends CredentialNamers {
  constructor(private readonly store: WorkflowStore) {
    super();
  }

  async workflows(tenant: string, credential: string): Promise<string[]> {
    const store = this.store.inTenant(tenant);
    const found: string[] = [];
    let page = await store.list(PAGE);
    for (; page.length > 0; page = await store.list(PAGE, page.at(-1)?.definition.name)) {
      const naming = page.filter(({ definition }) => definition.nodes.some((node) => names(node, credential)));
      found.push(...naming.map(({ definition }) => definition.name));
    }
    return found;
  }
}

@Module({})
export class WorkflowCredentialsModule {
  /** @param workflows the module that exports WorkflowStore */
  static over(workflows: DynamicModule): DynamicModule {
    return {
      module: WorkflowCredentialsModule,
      imports: [workflows],
      providers: [{ provide: CredentialNamers, useClass: WorkflowCredentials }],
      exports: [CredentialNamers],
    };
  }
}

/** `auth` of a node, by the side of a conversation, or of an agent of a brainstorm; or of a node of what stands in it. */
function names({ config }: Pick<WorkflowNode, 'config'>, credential: string): boolean {
  const agents = Array.isArray(config.agents) ? config.agents : [];
  if ([config, ...agents].some((it) => isJsonObject(it) && isNamed(it.auth, credential))) return true;
  const inner = isJsonObject(config.body) && Array.isArray(config.body.nodes) ? config.body.nodes : [];
  return inner.some((it) => isJsonObject(it) && isJsonObject(it.config) && names({ config: it.config }, credential));
}

function isNamed(auth: JsonValue | undefined, credential: string): boolean {
  return auth === credential || (isJsonObject(auth) && Object.values(auth).includes(credential));
}
