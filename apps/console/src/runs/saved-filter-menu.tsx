import { Bookmark, X } from 'lucide-react';
import { Dialog, DropdownMenu } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { Button } from '../components/button.js';
import { Field, Input } from '../components/field.js';
import { textStart } from '../components/text-start.js';
import { countFilters, filterQuery, readRunFilter, type RunFilter } from './run-filter.js';
import { deleteFilter, saveFilter, useSavedFilters } from './saved-filters.js';

const LONGEST_NAME = 60;
const ITEM = 'rounded px-2 py-1.5 outline-none data-disabled:opacity-50 data-highlighted:bg-muted';

interface SavedFilterMenuProps {
  filter: RunFilter;
  onChange: (filter: RunFilter) => void;
}

/** Shows the menu of the filters that this browser keeps, and saves the current one. */
export function SavedFilterMenu({ filter, onChange }: SavedFilterMenuProps) {
  const saved = useSavedFilters();
  const [isNaming, setNaming] = useState(false);
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger asChild>
          <Button>
            <Bookmark className="size-4" aria-hidden /> Saved filters
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            className="z-50 max-h-[60vh] min-w-56 overflow-auto rounded-md border bg-card p-1 text-sm shadow-lg"
          >
            {saved.map(({ name, query }) => (
              <DropdownMenu.Group key={name} className="flex">
                <DropdownMenu.Item
                  className={`${ITEM} grow truncate`}
                  onSelect={() => onChange(readRunFilter(new URLSearchParams(query)))}
                >
                  {name}
                </DropdownMenu.Item>
                <DropdownMenu.Item
                  className={ITEM}
                  aria-label={`Delete the filter ${name}`}
                  onSelect={() => deleteFilter(name)}
                >
                  <X className="size-4" aria-hidden />
                </DropdownMenu.Item>
              </DropdownMenu.Group>
            ))}
            <DropdownMenu.Item className={ITEM} disabled={countFilters(filter) === 0} onSelect={() => setNaming(true)}>
              Save this filter …
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <NameDialog
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => saveFilter({ name, query: filterQuery(filter).toString() })}
      />
    </>
  );
}

interface NameDialogProps {
  isOpen: boolean;
  onClose: () => void;
  onName: (name: string) => void;
}

function NameDialog({ isOpen, onClose, onName }: NameDialogProps) {
  const [name, setName] = useState('');
  const submitName = (event: FormEvent): void => {
    event.preventDefault();
    onName(name.trim());
    setName('');
    onClose();
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 w-96 max-w-[94vw] -translate-1/2 rounded-lg border bg-card p-5 shadow-xl"
        >
          <Dialog.Title className="font-semibold">Save this filter</Dialog.Title>
          <form onSubmit={submitName} className="mt-3 space-y-3">
            <Field label="Name" hint="This browser keeps the filter. Its address can be shared as it is.">
              {(id) => (
                <Input
                  id={id}
                  required
                  value={name}
                  onChange={({ target }) => setName(textStart(target.value, LONGEST_NAME))}
                />
              )}
            </Field>
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" disabled={name.trim() === ''}>
                Save
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
