// Bundles the page: the libraries into vendor/, one file for each, from the exports listed here, and the modules and
// styles of src/ into dist/. Browsers load src/ as well as dist/, so that nobody needs this to try an edited file. Run by
// `make explorer`; a test compares the result with what is committed.
import { build } from 'esbuild';
import { copyFile, readFile, writeFile } from 'node:fs/promises';

// A test gives another folder than this one for what is built.
const out = process.argv[2] ?? import.meta.dirname;
const src = `${import.meta.dirname}/src`;
const common = { bundle: true, minify: true, target: 'es2022', legalComments: 'none', charset: 'utf8', logLevel: 'warning' };

const libraries = {
  preact: `
    import { h, render, Fragment, createContext } from 'preact';
    import { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext } from 'preact/hooks';
    import htm from 'htm';
    const html = htm.bind(h);
    export { html, h, render, Fragment, createContext,
      useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext };`,
  codemirror: `
    export { EditorState, Compartment, Prec, StateEffect, StateField } from '@codemirror/state';
    export { EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine, highlightSpecialChars, placeholder,
      Decoration } from '@codemirror/view';
    export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
    export { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting, HighlightStyle, syntaxTree }
      from '@codemirror/language';
    export { tags } from '@lezer/highlight';
    export { json, jsonParseLinter } from '@codemirror/lang-json';
    export { sql, SQLDialect, keywordCompletionSource } from '@codemirror/lang-sql';
    export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion, acceptCompletion }
      from '@codemirror/autocomplete';
    export { linter, lintGutter, setDiagnostics } from '@codemirror/lint';
    export { search, searchKeymap, highlightSelectionMatches } from '@codemirror/search';
    export { MergeView } from '@codemirror/merge';`,
  uplot: `export { default as uPlot } from 'uplot';`,
};

for (const [name, contents] of Object.entries(libraries)) {
  await build({
    ...common, stdin: { contents, resolveDir: import.meta.dirname, sourcefile: `${name}.entry.js` },
    format: 'esm', outfile: `${out}/vendor/${name}.js`,
  });
}
await copyFile(`${import.meta.dirname}/node_modules/uplot/dist/uPlot.min.css`, `${out}/vendor/uplot.css`);

// The libraries stay files of their own, which a browser keeps when only the page changes.
const apart = {
  name: 'vendor',
  setup: (b) => b.onResolve({ filter: /\/vendor\/\w+\.js$/ }, ({ path }) => (
    { path: `../vendor/${path.split('/').at(-1)}`, external: true })),
};
await build({ ...common, entryPoints: [`${src}/main.js`], format: 'esm', plugins: [apart], outfile: `${out}/dist/main.js` });

// The styles in the order of index.html, as one file; the page that loads the two.
const index = await readFile(`${src}/index.html`, 'utf8');
const styles = [...index.matchAll(/href="\/_explorer\/src\/(.+\.css)"/g)].map((m) => `@import "./${m[1]}";`);
await build({ ...common, stdin: { contents: styles.join('\n'), resolveDir: src, loader: 'css' }, outfile: `${out}/dist/style.css` });
const page = index.replace(/(<link rel="stylesheet" href="\/_explorer\/src\/.+\.css">\n)+/,
  '<link rel="stylesheet" href="/_explorer/dist/style.css">\n').replace('/_explorer/src/main.js', '/_explorer/dist/main.js');
await writeFile(`${out}/dist/index.html`, page);
