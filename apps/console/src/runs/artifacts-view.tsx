import { Download } from 'lucide-react';
import { partsText } from '../api/parts.js';
import { Button } from '../components/button.js';
import { artifactsFile, downloadFile } from '../components/download.js';
import { CopyButton, JsonView } from '../components/json-view.js';
import { LargeDialog } from '../components/large-dialog.js';
import { PartsView } from '../components/parts-view.js';
import type { A2aArtifact } from './run-event.js';

interface ArtifactsViewProps {
  /** Title of the section, such as `Result` or `Output`. */
  title: string;
  artifacts: readonly A2aArtifact[];
  /** Name of the downloaded file, without its extension. */
  file: string;
  /** True if the height of the section is not limited. */
  tall?: boolean;
}

/** Shows Artifacts with buttons to copy, download and enlarge them. */
export function ArtifactsView({ title, artifacts, file, tall = false }: ArtifactsViewProps) {
  if (artifacts.length === 0) return null;
  const name = title.toLowerCase();
  const readArtifactsText = (): string => artifacts.map(({ parts }) => partsText(parts)).join('\n');
  return (
    <section aria-label={title} className="space-y-1">
      <header className="flex items-center gap-1">
        <h3 className="grow text-sm font-medium">{title}</h3>
        <CopyButton text={readArtifactsText} label={`Copy the ${name}`} />
        <Button
          kind="quiet"
          className="px-1.5!"
          aria-label={`Download the ${name}`}
          title={`Download the ${name}`}
          onClick={() => downloadFile(artifactsFile(file, artifacts))}
        >
          <Download className="size-4" aria-hidden />
        </Button>
        <LargeDialog title={title}>
          <Contents artifacts={artifacts} />
        </LargeDialog>
      </header>
      <div
        tabIndex={0}
        role="group"
        aria-label={`${title}, rendered`}
        className={`overflow-auto rounded-md border bg-muted/50 p-2.5 max-md:max-h-none ${tall ? 'max-h-[28rem]' : 'max-h-72'}`}
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

function Contents({ artifacts }: { artifacts: readonly A2aArtifact[] }) {
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
