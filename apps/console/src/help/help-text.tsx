import { type ComponentProps, type ReactElement, type ReactNode, isValidElement } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Link } from 'wouter';
import '../components/markdown.css';
import { anchorOf, helpTarget } from './help-links.js';
import { hasHelpPage } from './help-pages.js';

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  // The title is in the header of the page.
  h1: () => null,
  h2: ({ children }) => (
    <h2 id={anchorOf(textOf(children))} className="mt-6! text-base!">
      {children}
    </h2>
  ),
  h3: ({ children }) => <h3 id={anchorOf(textOf(children))}>{children}</h3>,
  // The console does not contain the pictures of the documentation.
  img: ({ alt }) => <em>{alt}</em>,
  pre: ({ children }) => (
    <pre tabIndex={0} role="region" aria-label="Code">
      {children}
    </pre>
  ),
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
};

/**
 * Shows the Markdown of a help page, which is a part of the product: it may be longer than texts of agents, and links to
 * other pages stay in the console.
 */
export function HelpText({ page, text }: { page: string; text: string }) {
  const a: Components['a'] = ({ href = '', children }) => (
    <HelpTextLink href={href} page={page}>
      {children}
    </HelpTextLink>
  );
  return (
    <div data-help={page} className="markdown mx-auto max-w-4xl text-sm">
      <ReactMarkdown skipHtml remarkPlugins={PLUGINS} components={{ ...COMPONENTS, a }}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

interface HelpTextLinkProps {
  href: string;
  page: string;
  children: ReactNode;
}

function HelpTextLink({ href, page, children }: HelpTextLinkProps) {
  const target = helpTarget(href, page, hasHelpPage);
  if (target.kind === 'page') return <Link href={`~/help/${target.name}${target.hash}`}>{children}</Link>;
  if (target.kind === 'anchor') return <a href={target.hash}>{children}</a>;
  if (target.kind === 'file') return <span>{children}</span>;
  return (
    <a href={target.url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** Returns the text of rendered children. */
function textOf(children: ReactNode): string {
  if (Array.isArray(children)) return children.map((it: ReactNode) => textOf(it)).join('');
  if (isValidElement(children)) return textOf((children as ReactElement<ComponentProps<'span'>>).props.children);
  return typeof children === 'string' || typeof children === 'number' ? String(children) : '';
}
