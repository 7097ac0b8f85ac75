// What the server does each second: the samples of the last 15 minutes, and those that come while the page is open.
import { follow, get } from './api.js';
import { createStore } from './store.js';
import { noteTime } from './time.js';

const kept = 900; // seconds, as the server keeps them

// activity is the list of samples, oldest first; docs/admin.md has their shape.
export const activity = createStore([]);

let stop = null;
let users = 0;

// followActivity reads samples until the function that it returns is called. Several parts of the page share one stream.
export function followActivity() {
  users++;
  stop ??= start();
  return () => {
    users--;
    setTimeout(() => {
      if (users > 0 || !stop) return;
      stop();
      stop = null;
    }, 1000);
  };
}

const start = () => follow((signal) => get('/activity', { signal }), ({ samples }) => {
  activity.set(samples);
  return { route: `/activity/events?since=${samples.at(-1)?.time ?? 0}`, name: 'sample', use: add };
});

function add(sample) {
  noteTime({ time: sample.now });
  activity.set((all) => (sample.time > (all.at(-1)?.time ?? 0) ? [...all.slice(-kept + 1), sample] : all));
}

// lately are figures of the last seconds: requests a second, and the largest latencies.
export function lately(samples, seconds = 60) {
  const part = samples.slice(-seconds);
  const requests = part.reduce((n, s) => n + s.nosql.requests + s.mongo.requests, 0);
  const errors = part.reduce((n, s) => n + s.nosql.errors + s.mongo.errors, 0);
  const slowest = part.reduce((ms, s) => Math.max(ms, s.nosql.p99Ms, s.mongo.p99Ms), 0);
  const last = part.at(-1);
  return {
    rate: part.length ? requests / part.length : 0, errors, slowest,
    backlog: last?.backlog ?? 0, lag: last?.lagSeconds ?? 0, memory: last?.memoryBytes ?? 0,
  };
}
