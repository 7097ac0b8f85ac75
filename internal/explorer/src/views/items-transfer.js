// Import and export of JSON lines. An import sends pieces of the file, so that it shows how far it is and can be stopped.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call, containerPath } from '../api.js';
import { bytes } from '../format.js';
import { number, t } from '../messages.js';
import { Dialog, Failure } from '../ui/parts.js';
import { isMongo } from './items-names.js';

const piece = 2 << 20; // bytes of the file in a request
const kept = 8 << 20; // bytes of an export that become a Blob, which a browser may keep on disk
const counts = ['written', 'replaced', 'skipped', 'overdue', 'rejected'];

// pieces cuts a file after line ends into parts of about the same size.
async function* pieces(file) {
  for (let from = 0; from < file.size;) {
    let size = piece;
    let part;
    let end;
    do { // a line may be longer than a piece
      part = new Uint8Array(await file.slice(from, from + size).arrayBuffer());
      end = from + part.length >= file.size ? part.length : part.lastIndexOf(10) + 1;
      size *= 2;
    } while (end === 0);
    yield part.subarray(0, end);
    from += end;
  }
}

async function importFile({ db, container, file, options, signal, onProgress }) {
  const total = { lines: 0, written: 0, replaced: 0, skipped: 0, overdue: 0, rejected: 0, rejections: [], sent: 0 };
  for await (const part of pieces(file)) {
    const { body } = await call('POST', `${containerPath(db, container.id)}/import`, {
      query: options, raw: part, headers: { 'Content-Type': 'application/x-ndjson' }, signal });
    const before = total.lines;
    for (const name of ['lines', ...counts]) total[name] += body[name] ?? 0;
    for (const one of body.rejections ?? []) {
      if (total.rejections.length < 1000) total.rejections.push({ ...one, line: one.line + before });
    }
    total.sent += part.length;
    onProgress({ ...total });
  }
  return total;
}

// useWork runs something long that can be stopped.
function useWork(run) {
  const [state, setState] = useState({ running: false, progress: null, done: false, error: null });
  const stop = useRef(null);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    const aborting = stop.current = new AbortController();
    setState({ running: true, progress: null, done: false, error: null });
    const onProgress = (progress) => setState((s) => ({ ...s, progress }));
    try {
      await run(aborting.signal, onProgress);
      setState((s) => ({ ...s, running: false, done: true }));
    } catch (error) {
      setState((s) => ({ ...s, running: false, error: error.name === 'AbortError' ? null : error, stopped: error.name === 'AbortError' }));
    }
  };
  return { ...state, start, stop: () => stop.current?.abort() };
}

export function ImportDialog({ db, container, onClose, onDone }) {
  const [file, setFile] = useState(null);
  const [form, setForm] = useState({ stamps: 'new', onConflict: 'fail' });
  const field = (name) => (e) => setForm((f) => ({ ...f, [name]: e.target.value }));
  const work = useWork(async (signal, onProgress) => {
    try {
      await importFile({ db, container, file, options: form, signal, onProgress });
    } finally {
      onDone();
    }
  });
  const { progress } = work;
  return html`<${Dialog} title=${t('items.import.title', { name: container.id })} onClose=${onClose} footer=${html`
      <button onClick=${work.running ? work.stop : onClose}>${work.running ? t('items.stop') : t('close')}</button>
      <button class="primary" disabled=${!file || work.running} onClick=${work.start}>${t('items.import')}</button>`}>
    <label class="field">${t('items.import.file')}<input type="file" accept=".jsonl,.ndjson,.json,.txt" disabled=${work.running}
      onChange=${(e) => setFile(e.target.files[0] ?? null)} /><small>${t('items.import.lines')}</small></label>
    <label class="field">${t('items.import.conflict')}<select value=${form.onConflict} onChange=${field('onConflict')}
        disabled=${work.running}>
      ${['fail', 'skip', 'replace'].map((v) => html`<option value=${v}>${t(`items.import.${v}`)}</option>`)}</select></label>
    <label class="field">${t('items.import.stamps')}<select value=${form.stamps} onChange=${field('stamps')} disabled=${work.running}>
      ${['new', 'keep'].map((v) => html`<option value=${v}>${t(`items.import.${v}`)}</option>`)}</select></label>
    ${(work.running || progress) && html`<progress max=${file?.size || 1} value=${progress?.sent ?? 0}
        aria-label=${t('items.progress')}></progress>`}
    ${progress && html`<${Imported} result=${progress} />`}
    ${work.done && html`<p role="status"><strong>${t('items.import.done', { n: progress?.written ?? 0 })}</strong></p>`}
    ${work.stopped && html`<p role="status">${t('items.stopped')}</p>`}
    <${Failure} error=${work.error} /><//>`;
}

const Imported = ({ result }) => html`<dl class="figures">${counts.map((name) => html`<div key=${name}
    class=${name === 'rejected' && result[name] ? 'bad' : ''}>
    <dt>${t(`items.import.${name}`)}</dt><dd>${number(result[name])}</dd></div>`)}</dl>
  ${result.rejections.length > 0 && html`<div class="scroll rejections"><table><thead><tr><th
      class="number">${t('items.import.line')}</th><th>${t('items.import.reason')}</th></tr></thead>
    <tbody>${result.rejections.slice(0, 100).map((one) => html`<tr><td class="number">${number(one.line)}</td><td
        class="reason">${one.reason}</td></tr>`)}</tbody></table></div>`}`;

// exportFile reads the lines as they come, and saves them as a file at the end.
async function exportFile({ db, container, query, signal, onProgress }) {
  const answer = await call('GET', `${containerPath(db, container.id)}/export`, { query, signal, as: 'response' });
  const blobs = [];
  let part = [];
  let size = 0;
  const got = { items: 0, bytes: 0 };
  const reader = answer.body.getReader();
  for (let shown = 0; ;) {
    const { done, value } = await reader.read();
    if (done) break;
    part.push(value);
    size += value.length;
    got.bytes += value.length;
    for (const byte of value) if (byte === 10) got.items++;
    if (size > kept) {
      blobs.push(new Blob(part));
      part = [];
      size = 0;
    }
    if (performance.now() - shown > 200) {
      onProgress({ ...got });
      shown = performance.now();
    }
  }
  onProgress({ ...got });
  return new Blob([...blobs, ...part], { type: 'application/x-ndjson' });
}

export function ExportDialog({ db, container, onClose, save }) {
  const mongo = isMongo(container);
  const [form, setForm] = useState({ format: 'canonical', stamps: 'yes' });
  const work = useWork(async (signal, onProgress) => {
    const query = mongo ? { positions: 'no', ...form } : { positions: 'no' };
    save(`${container.id}.jsonl`, await exportFile({ db, container, query, signal, onProgress }));
  });
  const { progress } = work;
  return html`<${Dialog} title=${t('items.export.title', { name: container.id })} onClose=${onClose} footer=${html`
      <button onClick=${work.running ? work.stop : onClose}>${work.running ? t('items.stop') : t('close')}</button>
      <button class="primary" disabled=${work.running} onClick=${work.start} autofocus>${t('items.export')}</button>`}>
    <p>${t('items.export.what')}</p>
    ${mongo && html`<label class="field">${t('items.export.format')}<select value=${form.format}
        onChange=${(e) => setForm({ ...form, format: e.target.value })}>
      ${['canonical', 'relaxed'].map((v) => html`<option value=${v}>${t(`items.export.${v}`)}</option>`)}</select></label>
      <label class="choice"><input type="checkbox" checked=${form.stamps === 'yes'}
        onChange=${(e) => setForm({ ...form, stamps: e.target.checked ? 'yes' : 'no' })} />${t('items.export.stamps')}</label>`}
    ${(work.running || progress) && html`<progress max=${container.items || 1}
        value=${work.done ? container.items || 1 : progress?.items ?? 0} aria-label=${t('items.progress')}></progress>`}
    ${progress && html`<p role="status">${work.done && html`<strong>${t('items.export.done')}</strong> `}
      ${t('items.export.got', { n: progress.items, size: bytes(progress.bytes) })}</p>`}
    ${work.stopped && html`<p role="status">${t('items.stopped')}</p>`}
    <${Failure} error=${work.error} /><//>`;
}
