import { Maximize2, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { Button } from '../components/button.js';
import { CopyButton, JsonView } from '../components/json-view.js';
import { PartsView } from '../components/parts-view.js';
import { type Artifact, partsText } from './run-event.js';

interface ArtifactsViewProps {
  /** What they are: `Result`, `Output`. */
  title: string;
  artifacts: readonly Artifact[];
  /** Whether they may take all the room that they need. */
  tall?: boolean;
}

/** What a run or a node gave: rendered, to be copied, and to be read in a large window. */
export function ArtifactsView({ title, artifacts, tall = false }: ArtifactsViewProps) {
  if (artifacts.length === 0) return null;
  const text = artifacts.map(({ parts }) => partsText(parts)).join('\n');
  return (
    <section aria-label={title} className="space-y-1">
      <header className="flex items-center gap-1">
        <h3 className="grow text-sm font-medium">{title}</h3>
        <CopyButton text={text} label={`Copy the ${title.toLowerCase()}`} />
        <Large title={title} artifacts={artifacts} />
      </header>
      <div
        tabIndex={0}
        role="group"
        aria-label={`${title}, rendered`}
        className={`overflow-auto rounded-md border bg-muted/50 p-2.5 ${tall ? 'max-h-[28rem]' : 'max-h-72'}`}
      >
        <Contents artifacts={artifacts} />
      </div>
      <details>
        <summary className="text-sm">{artifacts.length === 1 ? 'Artifact' : `${artifacts.length} Artifacts`}</summary>
        <JsonView value={artifacts} label="Artifacts" />
      </details>
    </section>
  );
}

function Contents({ artifacts }: { artifacts: readonly Artifact[] }) {
  return (
    <div className="space-y-3">
      {artifacts.map(({ artifactId, name, parts }) => (
        <div key={artifactId}>
          {artifacts.length > 1 && <h4 className="text-xs font-medium text-muted-foreground">{name ?? artifactId}</h4>}
          <PartsView parts={parts} />
        </div>
      ))}
    </div>
  );
}

function Large({ title, artifacts }: { title: string; artifacts: readonly Artifact[] }) {
  return (
    <Dialog.Root>
      <Dialog.Trigger asChild>
        <Button kind="quiet" className="px-1.5!" aria-label={`Enlarge the ${title.toLowerCase()}`}>
          <Maximize2 className="size-4" aria-hidden />
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[60rem] max-w-[94vw] -translate-1/2 flex-col rounded-lg border bg-card shadow-xl"
        >
          <header className="flex items-center border-b px-5 py-2">
            <Dialog.Title className="grow font-semibold">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <Button kind="quiet" className="px-1.5!" aria-label="Close">
                <X className="size-4" aria-hidden />
              </Button>
            </Dialog.Close>
          </header>
          <div tabIndex={0} role="group" aria-label={`${title}, large`} className="overflow-auto p-5">
            <Contents artifacts={artifacts} />
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
