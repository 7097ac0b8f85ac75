// Throughput: mayfly checks, stores and returns it, and it limits nothing (docs/differences.md).
import { html, useEffect, useState } from '../../vendor/preact.js';
import { get, put, useRequest } from '../api.js';
import { t } from '../messages.js';
import { Failure, toast } from '../ui/parts.js';

export function Throughput({ path, write }) {
  const { data, error, reload } = useRequest((signal) => get(`${path}/throughput`, { signal }), [path]);
  const [form, setForm] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    if (data) setForm(data.autoscaleMaxThroughput ? { mode: 'autoscale', units: data.autoscaleMaxThroughput } : { mode: 'manual', units: data.throughput ?? '' });
  }, [data]);
  if (error) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!form) return null;
  const save = async (e) => {
    e.preventDefault();
    setProblem(null);
    const units = Number(form.units);
    try {
      await put(`${path}/throughput`, form.mode === 'autoscale' ? { autoscaleMaxThroughput: units } : { throughput: units });
      toast(t('settings.saved'), 'good');
      reload();
    } catch (failed) {
      setProblem(failed);
    }
  };
  const none = !data.throughput && !data.autoscaleMaxThroughput;
  return html`<section class="panel" aria-labelledby="throughput"><h2 id="throughput">${t('settings.throughput')}</h2>
    <p class="hint">${none ? t('settings.throughput.none') : t('settings.throughput.what')}</p>
    ${!none && html`<form class="row" onSubmit=${save}><fieldset class="row ttl" disabled=${!write}><legend class="visually-hidden">${t('settings.throughput')}</legend>
      ${['manual', 'autoscale'].map((mode) => html`<label class="choice"><input type="radio" name="throughput" checked=${form.mode === mode}
        onChange=${() => setForm({ ...form, mode })} />${t(`settings.throughput.${mode}`)}</label>`)}
      <label>${t('settings.throughput.units')} <input type="number" min="400" step="100" value=${form.units}
        onInput=${(e) => setForm({ ...form, units: e.target.value })} /></label></fieldset>
      ${write && html`<button class="primary">${t('save')}</button>`}</form>`}
    <${Failure} error=${problem} /></section>`;
}
