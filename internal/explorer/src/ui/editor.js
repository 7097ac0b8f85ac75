// An editor for JSON, SQL and aggregation pipelines: CodeMirror 6 in a shadow root, where its styles are style sheets
// that scripts make, which the content security policy allows.
import { html, useEffect, useLayoutEffect, useRef } from '../../vendor/preact.js';
import {
  EditorState, EditorView, Compartment, Prec, keymap, lineNumbers, drawSelection, highlightActiveLine,
  highlightSpecialChars, placeholder as placeholderOf, defaultKeymap, history, historyKeymap, indentWithTab,
  bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting, HighlightStyle, tags, json,
  sql, SQLDialect, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, linter,
  lintGutter, setDiagnostics, search, searchKeymap, highlightSelectionMatches, MergeView,
} from '../../vendor/codemirror.js';

// Cosmos DB's SQL: https://learn.microsoft.com/en-us/cosmos-db/query/keywords
export const cosmosSQL = SQLDialect.define({
  keywords: 'select distinct top value as from in where join order by asc desc group having offset limit and or not ' +
    'between like escape exists array udf null true false undefined',
  types: '',
  doubleQuotedStrings: true,
  operatorChars: '+-*/%<>!=&|^~?',
  identifierQuotes: '',
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: [tags.comment], color: 'var(--muted)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', fontSize: '13px', height: '100%', flex: '1', minWidth: '0' },
  '&.cm-focused': { outline: 'none' }, // the host shows it, see style.css
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--field)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-panels': { backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--muted)' },
});

// jsonProblem is what is wrong with a JSON text, as {from, to, message}, or null. Not every message of JSON.parse says
// where the mistake is, so that the parser of the highlighting tells.
export function jsonProblem(text) {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    let from = Number(/position (\d+)/.exec(error.message)?.[1] ?? -1);
    json().language.parser.parse(text).iterate({ enter: (node) => {
      if (from < 0 && node.type.isError) from = node.from;
    } });
    const at = from < 0 ? text.length : Math.min(from, text.length);
    const message = error.message.replace(/\s*(in JSON )?at position.*$/s, '').replace(/,? (\.\.\.)?".*is not valid JSON$/s, '');
    return { from: at, to: Math.min(at + 1, text.length), message };
  }
}

// jsonProblems is the same as a list of diagnostics. An empty text is nothing yet.
const jsonProblems = (text) => {
  const problem = text.trim() ? jsonProblem(text) : null;
  return problem ? [{ ...problem, severity: 'error' }] : [];
};

// Browsers give text that replaces a coloured selection a style attribute, which the content security policy forbids. So
// the editor replaces a selection itself. Input methods that compose text stay with the browser.
const replaceSelection = EditorView.domEventHandlers({
  beforeinput(e, view) {
    if (e.inputType !== 'insertText' || !e.data || e.isComposing || view.state.readOnly) return false;
    takeSelection(view);
    const { from, to, empty } = view.state.selection.main;
    if (empty) return false;
    const insert = () => view.state.update(view.state.replaceSelection(e.data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, e.data, insert))) view.dispatch(insert());
    return true;
  },
});

// takeSelection takes over what the browser has selected in the editor: text can come before the event that tells of a
// new selection. Only Chromium says what is selected in a shadow root (ShadowRoot.getSelection).
function takeSelection(view) {
  const shown = view.root.getSelection?.();
  if (!shown || shown.isCollapsed || !view.contentDOM.contains(shown.anchorNode) || !view.contentDOM.contains(shown.focusNode)) return;
  const anchor = view.posAtDOM(shown.anchorNode, shown.anchorOffset);
  const head = view.posAtDOM(shown.focusNode, shown.focusOffset);
  const { main } = view.state.selection;
  if (anchor !== main.anchor || head !== main.head) view.dispatch({ selection: { anchor, head } });
}

const languages = {
  json: () => [json(), linter(({ state }) => jsonProblems(state.doc.toString()), { delay: 300 }), lintGutter()],
  pipeline: () => [json()],
  sql: () => [sql({ dialect: cosmosSQL, upperCaseKeywords: true })],
  text: () => [],
};

// Editor shows value and calls onChange with each new text, onRun at Ctrl-Enter (Cmd-Enter), onSave at Ctrl-S.
// complete is a source of completions (CodeMirror's CompletionSource). errors are {from, to, message}.
export function Editor({ value, language = 'json', onChange, onRun, onSave, complete, errors, readOnly, label,
  placeholder, autofocus, handle }) {
  const host = useRef(null);
  const view = useRef(null);
  const calls = useRef({});
  calls.current = { onChange, onRun, onSave, complete };
  const fixed = useRef(new Compartment());
  // sent are the latest texts that onChange got and that have not come back as value: a value that is one of them is
  // older than what has been typed since, so that it must not replace it. quiet is set while a value is put in.
  const sent = useRef([]);
  const quiet = useRef(false);
  const changed = (text) => {
    sent.current = [...sent.current.slice(-20), text];
    calls.current.onChange?.(text);
  };
  useLayoutEffect(() => {
    const shadow = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const run = (name) => () => { calls.current[name]?.(); return !!calls.current[name]; };
    view.current = new EditorView({
      root: shadow,
      parent: shadow,
      state: EditorState.create({
        doc: value ?? '',
        extensions: [
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: run('onRun') }, { key: 'Mod-s', run: run('onSave'), preventDefault: true }])),
          lineNumbers(), foldGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(),
          closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true }),
          autocompletion({ override: complete ? [(c) => calls.current.complete?.(c)] : undefined }),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap,
            ...completionKeymap, indentWithTab]),
          languages[language](), syntaxHighlighting(colors), look, replaceSelection, EditorView.lineWrapping,
          EditorState.tabSize.of(2), placeholder ? placeholderOf(placeholder) : [],
          EditorView.contentAttributes.of({ 'aria-label': label ?? '', spellcheck: 'false', tabindex: '0' }),
          fixed.current.of([EditorState.readOnly.of(!!readOnly)]),
          EditorView.updateListener.of((u) => { if (u.docChanged && !quiet.current) changed(u.state.doc.toString()); }),
        ],
      }),
    });
    if (autofocus) view.current.focus();
    if (handle) handle.current = view.current;
    return () => view.current.destroy();
  }, [language]);
  useEffect(() => {
    const own = sent.current.lastIndexOf(value);
    sent.current = sent.current.slice(own + 1);
    const text = view.current.state.doc.toString();
    if (own >= 0 || value === undefined || value === text) return;
    quiet.current = true;
    view.current.dispatch({ changes: { from: 0, to: text.length, insert: value } });
    quiet.current = false;
  }, [value]);
  useLayoutEffect(() => { // before the next key
    view.current.dispatch({ effects: fixed.current.reconfigure([EditorState.readOnly.of(!!readOnly)]) });
  }, [readOnly]);
  useEffect(() => {
    if (!errors) return;
    const end = view.current.state.doc.length;
    view.current.dispatch(setDiagnostics(view.current.state, errors.map(({ from, to, message }) =>
      ({ from: Math.min(from, end), to: Math.min(Math.max(to ?? from, from), end), severity: 'error', message }))));
  }, [errors]);
  return html`<div class="editor" ref=${host}></div>`;
}

// Compare shows two JSON texts side by side, with what differs marked: theirs cannot be changed, mine can unless
// readOnly is set. handle.current() is the text of mine.
export function Compare({ theirs, mine, labels, handle, readOnly }) {
  const host = useRef(null);
  const own = useRef(null);
  const fixed = useRef(new Compartment());
  useLayoutEffect(() => {
    const shadow = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`.cm-mergeView { flex: 1; min-width: 0; height: 100%; }
      .cm-mergeViewEditor::before { content: attr(data-label); display: block; font-weight: 600; padding: 6px 10px; }
      @media (max-width: 760px) {
        .cm-mergeViewEditors { flex-direction: column; }
        .cm-mergeViewEditor { overflow: visible; flex: none; }
      }`);
    const side = (doc, label, rights) => ({ doc, extensions: [
      lineNumbers(), highlightSpecialChars(), history(), drawSelection(), bracketMatching(),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]), json(), syntaxHighlighting(colors), look,
      EditorView.lineWrapping, rights,
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    ] });
    const merge = new MergeView({
      a: side(theirs, labels[0], EditorState.readOnly.of(true)),
      b: side(mine, labels[1], fixed.current.of(EditorState.readOnly.of(!!readOnly))),
      parent: shadow, root: shadow, collapseUnchanged: { margin: 3 },
    });
    own.current = merge.b;
    shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
    [merge.a, merge.b].forEach((view, i) => { view.dom.parentElement.dataset.label = labels[i]; });
    handle.current = () => merge.b.state.doc.toString();
    return () => merge.destroy();
  }, [theirs]);
  useLayoutEffect(() => {
    own.current.dispatch({ effects: fixed.current.reconfigure(EditorState.readOnly.of(!!readOnly)) });
  }, [readOnly]);
  return html`<div class="editor compare" ref=${host}></div>`;
}
