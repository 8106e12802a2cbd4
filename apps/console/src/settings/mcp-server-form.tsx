import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { Field, Input } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { readText, readTexts } from '../components/form-values.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { CredentialField } from './credential-field.js';
import { listMcpServers, type ListedMcpServer } from '../api/mcp-servers.js';
import { storeObject } from './settings-api.js';

const UP = { label: 'MCP servers', href: '~/settings/mcp-servers' };

/** Shows the form that adds an MCP server. */
export function NewMcpServer() {
  return (
    <>
      <PageHeader title="Add an MCP server" up={UP} />
      <McpServerForm />
    </>
  );
}

/** Shows the form that changes an MCP server; its pinned tools stay. */
export function EditMcpServer({ name }: { name: string }) {
  // The list is fetched, because fetching one server would call it.
  const server = useQuery({
    queryKey: ['listed-mcp-server', name],
    queryFn: async ({ signal }) => {
      const found = (await listMcpServers(signal)).find((it) => it.name === name);
      return found ?? getJson<ListedMcpServer>(`/api/mcp-servers/${encodeURIComponent(name)}`, signal);
    },
  });
  return (
    <>
      <PageHeader title={`Edit ${name}`} up={{ label: name, href: `~/settings/mcp-servers/${name}` }} />
      <ResourceView resource={server}>{(data) => <McpServerForm server={data} />}</ResourceView>
    </>
  );
}

function McpServerForm({ server }: { server?: ListedMcpServer }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const saveServer = async (fields: FormData): Promise<void> => {
    await storeObject('mcp-servers', server?.name, buildServerBody(fields));
    navigate(`/mcp-servers/${server?.name ?? readText(fields, 'name')}`);
  };
  return (
    <FormPage
      action={action}
      submit={server ? 'Save' : 'Add'}
      onSubmit={(fields) => void action.run(() => saveServer(fields))}
    >
      {server === undefined && (
        <Field label="Name" hint="Prefix of its tools: name/tool." error={action.errorAt('name')}>
          {(id) => <Input id={id} name="name" required autoComplete="off" spellCheck={false} />}
        </Field>
      )}
      <Field
        label="URL"
        hint="Streamable HTTP endpoint, such as https://mcp.example.com/v1. Programs are started only from the operator's file (MCP_SERVERS_FILE)."
        error={action.errorAt('url')}
      >
        {(id) => <Input id={id} name="url" type="url" required defaultValue={server?.url} />}
      </Field>
      <CredentialField
        hint="Sent with each call, to the origin of the URL or to the credential's own hosts."
        chosen={server?.auth}
        error={action.errorAt('auth')}
      />
      <Globs
        name="allow"
        label="Allowed tools"
        hint="Globs with * and ?, separated by commas, such as search_*, get_page. Default: all."
        globs={server?.allow}
        error={action.errorIn('allow')}
      />
      <Globs
        name="approve"
        label="Tools that need approval"
        hint="Before an agent calls one of them, a person says yes or no, such as delete_*."
        globs={server?.approve}
        error={action.errorIn('approve')}
      />
    </FormPage>
  );
}

interface GlobsProps {
  name: string;
  label: string;
  hint: string;
  globs: readonly string[] | undefined;
  error: string | undefined;
}

function Globs({ name, label, hint, globs, error }: GlobsProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id) => <Input id={id} name={name} defaultValue={globs?.join(', ')} autoComplete="off" spellCheck={false} />}
    </Field>
  );
}

function buildServerBody(fields: FormData): object {
  const texts = ['name', 'url', 'auth'].flatMap((field) => {
    const text = readText(fields, field);
    return text === undefined ? [] : [[field, text]];
  });
  const lists = ['allow', 'approve'].flatMap((field) => {
    const list = readTexts(fields, field);
    return list.length === 0 ? [] : [[field, list]];
  });
  return Object.fromEntries([...texts, ...lists]) as object;
}
