// A backup is a tar that comes as a stream. Its size is not known before its end.
import { html, useRef, useState } from '../../vendor/preact.js';
import { call } from '../api.js';
import { bytes, utc } from '../format.js';
import { t } from '../messages.js';
import { Failure, Spinner, toast } from '../ui/parts.js';
import { save } from './operations-parts.js';

export function Backup({ write }) {
  const [got, setGot] = useState(null);
  const [done, setDone] = useState(null);
  const [error, setError] = useState(null);
  const stop = useRef(null);
  const take = async () => {
    stop.current = new AbortController();
    setError(null);
    setDone(null);
    setGot(0);
    try {
      const size = await takeBackup(stop.current, setGot);
      setDone(size);
      toast(t('operations.backup.done', { size: bytes(size) }), 'good');
    } catch (problem) {
      if (problem.name !== 'AbortError') setError(problem);
    }
    setGot(null);
  };
  return html`<section class="panel" aria-labelledby="backup"><h2 id="backup">${t('operations.backup')}</h2>
    <p>${t('operations.backup.what')}</p>
    ${!write && html`<p class="hint">${t('operations.backup.readonly')}</p>`}
    ${write && html`<div class="row buttons"><button disabled=${got !== null} onClick=${take}>${t('operations.backup.take')}</button>
      ${got !== null && html`<${Spinner} label=${t('operations.backup.running')} /><span class="detail">${t('operations.backup.got', { size: bytes(got) })}</span>
        <button class="quiet" onClick=${() => stop.current.abort()}>${t('cancel')}</button>`}
      ${done !== null && html`<span class="detail" role="status">✓ ${t('operations.backup.done', { size: bytes(done) })}</span>`}</div>`}
    <p class="hint">${t('operations.backup.restore')} <code class="restore">${'mayfly restore - --data DIR < mayfly.tar'}</code></p>
    <${Failure} error=${error} /></section>`;
}

// takeBackup writes the backup to a file, and returns its size. Where the browser lets a page write a file
// (showSaveFilePicker), nothing of it is held; elsewhere it becomes a Blob of parts, which browsers move to disk.
async function takeBackup(stop, show) {
  const name = `mayfly-${utc(Math.floor(Date.now() / 1000)).replaceAll(':', '')}.tar`;
  const file = self.showSaveFilePicker ? await self.showSaveFilePicker({ suggestedName: name }) : null;
  const { body } = await call('POST', '/backup', { signal: stop.signal, as: 'response', headers: { Accept: 'application/x-tar' } });
  let size = 0;
  const count = new TransformStream({
    transform(chunk, out) {
      size += chunk.length;
      show(size);
      out.enqueue(chunk);
    },
  });
  const stream = body.pipeThrough(count);
  if (file) {
    const out = await file.createWritable();
    await stream.pipeTo(out, { signal: stop.signal }); // the file appears at the end: one that is cut off is never there
  } else save(name, await inParts(stream));
  return size;
}

const partSize = 16 << 20; // bytes

// inParts collects a stream in Blobs, so that the page holds no more than one part in its own memory.
async function inParts(stream) {
  const parts = [];
  let open = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (value) {
      open.push(value);
      size += value.length;
    }
    if (done || size >= partSize) {
      parts.push(new Blob(open));
      open = [];
      size = 0;
    }
    if (done) return new Blob(parts, { type: 'application/x-tar' });
  }
}
