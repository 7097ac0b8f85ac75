// Numbers, sizes, instants and durations as people read them. Instants are Unix seconds of mayfly's clock.
import { formatOf, number, t } from './messages.js';

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function bytes(n) {
  let i = 0;
  while (n >= 999.5 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${number(n, { maximumFractionDigits: i && n < 10 ? 1 : 0 })} ${units[i]}`;
}

export const compact = (n) => number(n, { notation: n >= 10000 ? 'compact' : 'standard', maximumFractionDigits: 1 });

const names = { d: 86400, h: 3600, m: 60, s: 1 };
const words = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

// duration is short: 3d 4h, 12m 5s, 0s; two units at most.
export function duration(seconds) {
  const parts = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [name, size] of Object.entries(names)) {
    const n = Math.floor(rest / size);
    if (n > 0 || (name === 's' && parts.length === 0)) parts.push(`${name === 'd' ? number(n) : n}${name}`);
    rest %= size;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

// inWords is a duration in words: "90 days", "12 hours 30 minutes".
export function inWords(seconds) {
  const parts = [];
  let rest = Math.floor(seconds);
  for (const [name, size] of words) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(t(`time.${name}`, { n }));
    rest %= size;
  }
  return parts.length ? parts.join(' ') : t('time.second', { n: 0 });
}

// parseDuration reads "90d", "12h30m" or plain seconds, as the command line does. It is NaN for anything else.
export function parseDuration(text) {
  text = text.trim().replace(/\s+/g, '');
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+(w|d|h|m|s))+$/i.test(text)) return NaN;
  const sizes = { w: 604800, ...names };
  let total = 0;
  for (const [, n, unit] of text.matchAll(/(\d+)(w|d|h|m|s)/gi)) total += Number(n) * sizes[unit.toLowerCase()];
  return total;
}

// instant is a date with time, to the second, in the browser's zone.
export function instant(unix, options) {
  const date = new Date(unix * 1000);
  if (Number.isNaN(date.getTime())) return String(unix);
  return formatOf(Intl.DateTimeFormat, options ?? toTheSecond).format(date);
}

const toTheSecond = { year: 'numeric', month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' };

export const utc = (unix) => {
  const date = new Date(unix * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z');
};

// policy is a container's lifetime in words: "90 days after the last write".
export function policy(container) {
  const parts = [];
  const ttl = container.defaultTtl;
  if (ttl > 0) {
    parts.push(container.ttlPropertyPath
      ? t('policy.after.property', { life: inWords(ttl), property: container.ttlPropertyPath })
      : t('policy.after', { life: inWords(ttl) }));
  } else if (ttl === -1) parts.push(t('policy.on'));
  for (const rule of datesOf(container)) {
    parts.push(t('policy.date', { life: inWords(rule.expireAfterSeconds), field: rule.field }));
  }
  return parts.length ? parts.join('; ') : t('policy.off');
}

// datesOf are the rules of TTL indexes: of a container's `dates`, or of its indexes.
export function datesOf(container) {
  if (container.dates) return container.dates;
  return (container.indexes ?? []).filter((i) => i.expireAfterSeconds !== undefined && !('_ts' in i.key))
    .map((i) => ({ index: i.name, field: Object.keys(i.key)[0], expireAfterSeconds: i.expireAfterSeconds }));
}
