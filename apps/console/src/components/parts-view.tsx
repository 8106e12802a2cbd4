import { FileDown, Link2 } from 'lucide-react';
import type { Part } from '../api/task.js';
import { JsonView } from './json-view.js';
import { Markdown } from './markdown.js';

/** What a Message or an Artifact holds: text, data, files, addresses. */
export function PartsView({ parts }: { parts: readonly Part[] }) {
  return (
    <div className="space-y-2">
      {parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
    </div>
  );
}

function PartView({ part }: { part: Part }) {
  const { text, raw, url, data, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return <Markdown text={text} />;
  if (raw !== undefined) return <File raw={raw} mediaType={mediaType} name={filename ?? 'file'} />;
  if (url !== undefined) {
    const web = /^https?:/i.test(url);
    return (
      <p className="flex items-center gap-1.5 text-sm break-all">
        <Link2 className="size-4 shrink-0" aria-hidden />
        {web ? (
          <a href={url} target="_blank" rel="noreferrer noopener nofollow" className="text-primary underline">
            {filename ?? url}
          </a>
        ) : (
          url
        )}
      </p>
    );
  }
  return <JsonView value={data} label="Data" />;
}

/** A file as a download: what an agent sends is never opened as a page of this address. */
function File({ raw, mediaType, name }: { raw: string; mediaType: string; name: string }) {
  const kilobytes = Math.max(1, Math.round((raw.length * 3) / 4 / 1024));
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(mediaType);
  return (
    <div className="space-y-2">
      {picture && <img src={`data:${mediaType};base64,${raw}`} alt={name} className="max-h-64 max-w-full rounded" />}
      <a
        href={`data:application/octet-stream;base64,${raw}`}
        download={name}
        className="inline-flex items-center gap-1.5 text-sm break-all text-primary underline"
      >
        <FileDown className="size-4 shrink-0" aria-hidden /> {name}
        <span className="text-muted-foreground">
          {mediaType}, {kilobytes} kB
        </span>
      </a>
    </div>
  );
}
