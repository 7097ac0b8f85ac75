// Export as JSON lines or CSV, of the rows that are loaded or of all pages. Rows go into a Blob in parts, which browsers keep
// outside of the page's memory.
import { html, useEffect, useRef, useState } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { Dialog, download, Failure, Menu, toast } from '../../ui/parts.js';
import { Columns, head, line, mostColumns } from './csv.js';
import { exact } from './exact.js';
import { askPage } from './request.js';

const partSize = 1 << 20;
const pageRows = 1000;

// A Parts is a growing Blob.
class Parts {
  blob = new Blob([]);
  texts = [];
  size = 0;

  add(text) {
    this.texts.push(text);
    this.size += text.length;
    if (this.size >= partSize) this.flush();
  }

  flush() {
    this.blob = new Blob([this.blob, ...this.texts]);
    this.texts = [];
    this.size = 0;
    return this.blob;
  }
}

// linesOf yields the lines of a Blob, without holding all of them.
async function* linesOf(blob) {
  let rest = '';
  const reader = blob.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}

// collect writes the rows of pages as JSON lines, and learns their columns.
async function collect(pages, columns, progress) {
  const parts = new Parts();
  let rows = 0;
  for await (const items of pages) {
    for (const item of items) {
      columns?.add(item);
      parts.add(`${JSON.stringify(item)}\n`);
    }
    progress(rows += items.length);
  }
  return { blob: parts.flush(), rows };
}

// toCSV reads JSON lines again, since the head of the file needs the columns of all rows.
async function toCSV(blob, columns, signal) {
  const parts = new Parts();
  parts.add(head(columns));
  for await (const text of linesOf(blob)) {
    signal.throwIfAborted();
    parts.add(line(exact(text), columns));
  }
  return parts.flush();
}

async function* allPages(db, container, query, signal) {
  let continuation;
  do {
    const page = await askPage(db, container, query, { max: pageRows, continuation, signal, lifetimes: undefined });
    yield page.items;
    continuation = page.continuation;
  } while (continuation);
}

async function* loaded(pages) {
  for (const page of pages) yield page.items;
}

const types = { jsonl: 'application/x-ndjson', csv: 'text/csv;charset=utf-8' };

async function write(name, kind, pages, signal, progress) {
  const columns = kind === 'csv' ? new Columns() : null;
  const { blob, rows } = await collect(pages, columns, progress);
  signal.throwIfAborted();
  const file = columns ? await toCSV(blob, columns.names, signal) : blob;
  download(`${name}.${kind}`, file, types[kind]);
  toast(t('query.exported', { n: rows }), 'good');
}

// Export is the menu. run is the state of the query; all says that its pages may be read again.
export function Export({ db, container, run, all }) {
  const [work, setWork] = useState(null);
  const name = `${db}-${container.id}`.replace(/[^\w.-]+/g, '_');
  const one = async (kind) => {
    try {
      await write(name, kind, loaded(run.pages), new AbortController().signal, () => {});
    } catch (error) {
      toast(explain(error), 'bad');
    }
  };
  const entries = ['jsonl', 'csv'].flatMap((kind) => [
    { label: t(`query.export.${kind}`), action: () => one(kind) },
    all && { label: t(`query.export.${kind}.all`), action: () => setWork(kind) },
  ]);
  return html`<${Menu} label=${t('query.export')} entries=${entries}>${t('query.export')} <span aria-hidden="true">▾</span><//>
    ${work && html`<${Progress} kind=${work} name=${name} onClose=${() => setWork(null)}
      pages=${(signal) => allPages(db, container, run.ran, signal)} />`}`;
}

const explain = (error) => (error instanceof RangeError ? t('query.export.wide', { n: mostColumns }) : error.message);

// Progress reads all pages while it is open; closing it ends that.
function Progress({ kind, name, pages, onClose }) {
  const [rows, setRows] = useState(0);
  const [error, setError] = useState(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { signal } = stop.current;
    write(name, kind, pages(signal), signal, setRows).then(onClose, (failure) => {
      if (failure.name !== 'AbortError') setError(failure instanceof RangeError ? new Error(explain(failure)) : failure);
    });
    return () => stop.current.abort();
  }, []);
  return html`<${Dialog} title=${t('query.export')} onClose=${onClose} footer=${html`<button onClick=${onClose}>${t('cancel')}</button>`}>
    ${!error && html`<p role="status"><span class="spinner"></span> ${t('query.export.rows', { n: rows })}</p>
      <progress aria-label=${t('query.export')}></progress>`}
    <${Failure} error=${error} /><//>`;
}
