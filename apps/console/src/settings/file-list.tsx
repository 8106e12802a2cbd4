import type { Schemas } from '#libs/client';
import { Upload } from 'lucide-react';
import { useRef } from 'react';
import { saveFile, type FileEntry, uploadFiles } from '../api/files.js';
import { callApi, getJson } from '../api/http.js';
import { queries } from '../api/queries.js';
import { type Action, useAction } from '../api/use-action.js';
import { usePages } from '../api/use-pages.js';
import { Button } from '../components/button.js';
import { byteCount } from '../components/byte-count.js';
import { CommandButton } from '../components/command-button.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PagedTable } from '../components/paged-table.js';
import { Time } from '../components/time.js';
import { SettingsPage } from './settings-page.js';

const queryKey = ['files'];
const getFileKey = ({ id }: FileEntry): string => id;

/** Shows the caller's own files, with buttons to upload, save and delete them. */
export function FileList() {
  const action = useAction();
  const picker = useRef<HTMLInputElement>(null);
  const pages = usePages(queryKey, getFileKey, async (pageToken, signal) => {
    const query = new URLSearchParams(pageToken && { pageToken });
    const page = await getJson<Schemas['FileListView']>(`/api/files?${query}`, signal);
    return { rows: page.files, nextPageToken: page.nextPageToken };
  });
  const changeFiles = async (work: Promise<unknown>): Promise<void> => {
    await work;
    // The list restarts at its first page: rows of the old list may be gone.
    void queries.resetQueries({ queryKey });
  };
  return (
    <SettingsPage
      actions={
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={({ target }) => {
              const files = [...(target.files ?? [])];
              target.value = '';
              if (files.length > 0) void action.run(() => changeFiles(uploadFiles(files)));
            }}
          />
          <Button kind="primary" disabled={action.pending} onClick={() => picker.current?.click()}>
            <Upload className="size-4" aria-hidden /> Upload
          </Button>
        </>
      }
    >
      {action.error !== undefined && (
        <p role="alert" className="p-4 text-sm text-destructive">
          {action.error}
        </p>
      )}
      <PagedTable
        label="Files"
        pages={pages}
        columns={createFileColumns(action, ({ id }) =>
          changeFiles(callApi('DELETE', `/api/files/${encodeURIComponent(id)}`)),
        )}
        keyOf={getFileKey}
        empty={<EmptyState title="There are no files">Messages name uploaded files by their addresses.</EmptyState>}
      />
    </SettingsPage>
  );
}

function createFileColumns(action: Action, remove: (file: FileEntry) => Promise<void>): readonly Column<FileEntry>[] {
  return [
    { title: 'Name', cell: ({ name }) => name },
    { title: 'Type', cell: ({ mediaType }) => mediaType, wideOnly: true },
    { title: 'Size', className: 'w-28', cell: ({ size }) => byteCount(size) },
    { title: 'Uploaded', className: 'w-40', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
    {
      title: 'Ends',
      className: 'w-40',
      cell: ({ expiresAt }) => (expiresAt === undefined ? 'never' : <Time at={expiresAt} />),
      wideOnly: true,
    },
    {
      title: 'Actions',
      className: 'w-52',
      cell: (file) => (
        <span className="flex gap-2">
          <CommandButton action={action} work={() => saveFile(file)} aria-label={`Download ${file.name}`}>
            Download
          </CommandButton>
          <CommandButton
            kind="danger"
            action={action}
            work={() => remove(file)}
            question={`Delete ${file.name}?`}
            aria-label={`Delete ${file.name}`}
          >
            Delete
          </CommandButton>
        </span>
      ),
    },
  ];
}
