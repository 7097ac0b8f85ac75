// Databases and containers, as the tree, the palette and the home page show them. They are read at the start, after each
// change made here, and every ten seconds, because programs change them too.
import { get, path } from './api.js';
import { createStore } from './store.js';

// catalog is {databases: [{id, containers: [container…]}], error}; databases is undefined until it is read.
export const catalog = createStore({ databases: undefined, error: null });

let reading = null;

async function read() {
  const { databases } = await get('/databases');
  const all = await Promise.all(databases.map(async ({ id }) => {
    try {
      return { id, containers: (await get(path('databases', id, 'containers'))).containers };
    } catch (error) {
      if (error.status === 404) return null; // deleted meanwhile
      throw error;
    }
  }));
  return all.filter(Boolean);
}

export function reloadCatalog() {
  reading ??= read().then(
    (databases) => catalog.set({ databases, error: null }),
    (error) => catalog.set((c) => ({ ...c, error })),
  ).finally(() => { reading = null; });
  return reading;
}

// findContainer is a container of the catalog, undefined if it has none of the name.
export const findContainer = (all, db, id) =>
  all.databases?.find((d) => d.id === db)?.containers.find((c) => c.id === id);

export function followCatalog() {
  reloadCatalog();
  setInterval(() => { if (!document.hidden) reloadCatalog(); }, 10000);
}
