import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.js';

/** Shows any value as indented JSON, with a button that copies it. */
export function JsonView({ value, label = 'JSON' }: { value: unknown; label?: string }) {
  const text = JSON.stringify(value, undefined, 2) ?? '';
  return (
    <div className="relative">
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
      <pre
        aria-label={label}
        tabIndex={0}
        role="region"
        className="max-h-96 overflow-auto max-md:max-h-none rounded-md border bg-muted/50 p-3 pr-10 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </div>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false);
  const copyText = (): void => {
    void navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <Button kind="quiet" className="px-1.5!" aria-label={copied ? 'Copied' : label} title={label} onClick={copyText}>
      {copied ? <Check className="size-4" aria-hidden /> : <Copy className="size-4" aria-hidden />}
    </Button>
  );
}
