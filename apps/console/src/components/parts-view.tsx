import { FileDown, Link2 } from 'lucide-react';
import { joinedParts } from '../api/parts.js';
import type { A2aPart } from '../api/task.js';
import { DataTree } from './data-tree.js';
import { Markdown } from './markdown.js';

/** Shows the Parts of a Message or an Artifact: text, data, files, addresses. */
export function PartsView({ parts }: { parts: readonly A2aPart[] }) {
  return (
    <div className="space-y-2">
      {joinedParts(parts).map((part, index) => (
        <PartView key={index} part={part} />
      ))}
    </div>
  );
}

function PartView({ part }: { part: A2aPart }) {
  const { text, raw, url, data, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return <Markdown text={text} />;
  if (raw !== undefined) return <File raw={raw} mediaType={mediaType} name={filename ?? 'file'} />;
  if (url !== undefined) {
    const inline = INLINE.exec(url);
    if (inline) return <File raw={inline[2] ?? ''} mediaType={inline[1] ?? mediaType} name={filename ?? 'file'} />;
    return <Address url={url} name={filename ?? url} />;
  }
  return <DataTree value={data} />;
}

/** Pattern of a `data:` URL with a base64 file. */
const INLINE = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/;

/** Shows an address as a link only: loading it would reveal the reader to its server. */
function Address({ url, name }: { url: string; name: string }) {
  const isWeb = /^https?:/i.test(url);
  return (
    <p className="flex items-center gap-1.5 text-sm break-all">
      <Link2 className="size-4 shrink-0" aria-hidden />
      {isWeb ? (
        <a href={url} target="_blank" rel="noreferrer noopener nofollow" className="text-primary underline">
          {name}
        </a>
      ) : (
        url
      )}
    </p>
  );
}

/** Shows a file as a download: an agent's file is never opened as a page of this origin. */
function File({ raw, mediaType, name }: { raw: string; mediaType: string; name: string }) {
  const kilobytes = Math.max(1, Math.round((raw.length * 3) / 4 / 1024));
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(mediaType);
  return (
    <div className="space-y-2">
      {picture && <img src={`data:${mediaType};base64,${raw}`} alt={name} className="max-h-96 max-w-full rounded" />}
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
