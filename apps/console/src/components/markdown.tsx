import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { isBounded } from './markdown-bounds.js';
import './markdown.css';

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  ),
  // Loading an image would reveal the reader to its server; a link leaves that to the reader.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener nofollow">
      {alt === undefined || alt === '' ? 'image' : alt}
    </a>
  ),
  pre: ({ children }) => (
    <pre tabIndex={0} role="region" aria-label="Code">
      {children}
    </pre>
  ),
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
};

/**
 * Shows an agent's text as Markdown. Agents are not trusted:
 * - HTML is shown as text.
 * - Links lead only to web addresses, mail addresses and this page.
 * - A text that would block the page is shown as plain text.
 */
export function Markdown({ text }: { text: string }) {
  if (!isBounded(text)) return <AsWritten text={text} />;
  return (
    <div className="markdown text-sm">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

function AsWritten({ text }: { text: string }) {
  return (
    <div className="space-y-2 text-sm">
      <p className="text-xs text-muted-foreground">Shown as plain text: too long to render.</p>
      <p className="wrap-anywhere whitespace-pre-wrap">{text}</p>
    </div>
  );
}
