// The objects of the server-side API of Cosmos DB, implemented with the few Go
// functions in `raw`. `kind` is procedure, pre, post or function; functions have
// no access to the API.
(function (raw, kind) {
  "use strict";

  const parse = JSON.parse;
  const stringify = JSON.stringify;
  const status = {
    badRequest: 400, forbidden: 403, tooLarge: 413,
  };

  // new Error(number, message) sets the number too, as in the engine of the service.
  const Native = Error;
  const Numbered = function Error(first, second) {
    const numbered = typeof first === "number" && arguments.length > 1;
    const given = numbered ? [second] : Array.from(arguments);
    const error = Reflect.construct(Native, given, new.target || Numbered);
    if (numbered) {
      Object.defineProperty(error, "number", { value: first, writable: true, configurable: true, enumerable: true });
    }
    return error;
  };
  Numbered.prototype = Native.prototype;
  Object.defineProperty(Native.prototype, "constructor", { value: Numbered, writable: true, configurable: true });
  for (const type of [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError]) {
    Object.setPrototypeOf(type, Numbered);
  }
  globalThis.Error = Numbered;
  const fail = (number, message) => { throw new Numbered(number, message); };

  const console = {};
  globalThis.console = console;
  console.log = function (first) {
    if (arguments.length < 1) {
      fail(status.badRequest, 'The function "log" requires at least 1 argument(s) but was called with 0 argument(s).');
    }
    let text = first;
    if (arguments.length > 1) {
      if (typeof first !== "string") {
        fail(status.badRequest, "First argument to console.log should be a string containing zero or more substitution strings.");
      }
      let next = 1;
      text = first.replace(/%(%|s)/g, (_, c) => c === "%" ? c : arguments[next++]);
    }
    if (!raw.log(String(text))) {
      fail(status.tooLarge, 'Resulting message would be too large because of "x-ms-documentdb-script-log-results".');
    }
  };
  if (kind === "function") {
    return {};
  }

  // Operations run one after the other, in the order of the calls, each after the
  // function that called it has returned.
  let queue = [];
  let head = 0;
  let waiting = 0; // characters of documents in the queue

  function enqueue(size, run) {
    if (raw.late() || waiting + size > raw.maxWaiting) {
      return false;
    }
    waiting += size;
    queue.push(() => { waiting -= size; run(); });
    return true;
  }

  function step() {
    if (head === queue.length) {
      return false;
    }
    const run = queue[head];
    queue[head++] = undefined;
    if (head === 1024) {
      queue = queue.slice(head);
      head = 0;
    }
    run();
    return true;
  }

  function failure(answer) {
    const error = new Numbered(answer.number, answer.text);
    error.body = answer.text;
    return error;
  }

  const sizes = (more) => Object.assign({
    currentCollectionSizeInMB: raw.usage, maxCollectionSizeInMB: raw.quota,
  }, more);

  // settle passes an answer of raw to a callback. Without a callback an error ends the script.
  function settle(answer, callback, success) {
    if (answer.number) {
      const error = failure(answer);
      if (!callback) {
        throw error;
      }
      callback(error);
    } else if (callback) {
      success();
    }
  }

  function settleDocument(answer, callback) {
    settle(answer, callback, () => {
      const options = sizes({ statusCode: answer.status });
      if (answer.notModified) {
        options.notModified = true;
        callback(undefined, undefined, options);
      } else {
        callback(undefined, parse(answer.text), options);
      }
    });
  }

  function pageInfo(token) {
    const info = sizes();
    if (token) {
      info.continuation = token;
    }
    return info;
  }

  // optional distinguishes options and callback. Either may be missing.
  function optional(options, callback) {
    if (typeof options === "function" && (callback === undefined || callback === null)) {
      callback = options;
      options = undefined;
    }
    if (options === undefined || options === null) {
      options = {};
    }
    if (typeof options !== "object") {
      fail(status.badRequest, `The "options" parameter must be of type "object". Actual type is: "${typeof options}".`);
    }
    if (callback === null) {
      callback = undefined;
    }
    if (callback !== undefined && typeof callback !== "function") {
      fail(status.badRequest, `The "callback" parameter must be of type "function". Actual type is: "${typeof callback}".`);
    }
    return [options, callback];
  }

  function needs(name, count, given) {
    if (given.length < count) {
      fail(status.badRequest, `The function "${name}" requires at least ${count} argument(s) but was called with ${given.length} argument(s).`);
    }
  }

  const bare = (link) => link.endsWith("/") ? link.slice(0, -1) : link;

  function collectionLink(link) {
    const parts = typeof link === "string" ? bare(link).split("/") : [];
    if (parts.length !== 4 || parts[0].toLowerCase() !== "dbs" || parts[2].toLowerCase() !== "colls") {
      fail(status.badRequest, `Invalid collection link: "${String(link)}".`);
    }
    if (bare(link) !== bare(raw.selfLink) && bare(link) !== bare(raw.altLink)) {
      elsewhere(link);
    }
  }

  function elsewhere(link) {
    fail(status.badRequest, `Function is not allowed to operate on resources outside current collection. Make sure that the link provided, "${link}", belongs to current collection.`);
  }

  function documentLink(link) {
    const parts = typeof link === "string" ? bare(link).split("/") : [];
    if (parts.length !== 6 || parts[0].toLowerCase() !== "dbs" || parts[2].toLowerCase() !== "colls" || parts[4].toLowerCase() !== "docs") {
      fail(status.badRequest, `Invalid document link: "${String(link)}".`);
    }
    if (!link.startsWith(bare(raw.selfLink) + "/") && !link.startsWith(bare(raw.altLink) + "/")) {
      elsewhere(link);
    }
    return bare(link);
  }

  // documentText is the JSON of a document to write. It adds an id if there is none.
  function documentText(body, options) {
    if (body === null || typeof body !== "object" && typeof body !== "string") {
      fail(status.badRequest, "The document body must be an object or a string representing a JSON-serialized object.");
    }
    if (options.disableAutomaticIdGeneration !== true) {
      const object = typeof body === "string" ? parse(body) : body;
      if (object && !object.id) {
        body = Object.assign({}, object, { id: raw.newID() });
      }
    }
    return typeof body === "string" ? body : stringify(body);
  }

  const text = (v) => v === undefined || v === null ? "" : String(v);
  const match = (options) => text(options.etag || options.accessCondition && options.accessCondition.type === "IfMatch" && options.accessCondition.condition);
  const pageSize = (options) => Number(options.pageSize) || 100;

  const collection = {
    getSelfLink: () => raw.selfLink,
    getAltLink: () => raw.altLink,

    readDocument(link, options, callback) {
      needs("readDocument", 1, arguments);
      link = documentLink(link);
      [options, callback] = optional(options, callback);
      return enqueue(0, () => settleDocument(raw.read(link, text(options.ifNoneMatch)), callback));
    },
    createDocument(link, body, options, callback) {
      needs("createDocument", 2, arguments);
      collectionLink(link);
      [options, callback] = optional(options, callback);
      const json = documentText(body, options);
      return enqueue(json.length, () => settleDocument(raw.create(json), callback));
    },
    upsertDocument(link, body, options, callback) {
      needs("upsertDocument", 2, arguments);
      collectionLink(link);
      [options, callback] = optional(options, callback);
      const json = documentText(body, options);
      return enqueue(json.length, () => settleDocument(raw.upsert(json, match(options)), callback));
    },
    replaceDocument(link, body, options, callback) {
      needs("replaceDocument", 2, arguments);
      link = documentLink(link);
      [options, callback] = optional(options, callback);
      const json = documentText(body, { disableAutomaticIdGeneration: true });
      return enqueue(json.length, () => settleDocument(raw.replace(link, json, match(options)), callback));
    },
    deleteDocument(link, options, callback) {
      needs("deleteDocument", 1, arguments);
      link = documentLink(link);
      [options, callback] = optional(options, callback);
      return enqueue(0, () => {
        const answer = raw.delete(link, match(options));
        settle(answer, callback, () => callback(undefined, sizes({ statusCode: answer.status })));
      });
    },
    queryDocuments(link, query, options, callback) {
      needs("queryDocuments", 2, arguments);
      collectionLink(link);
      if (query === null || typeof query !== "string" && typeof query !== "object") {
        fail(status.badRequest, `The "filterQuery" parameter must be of type "string" or "object". Actual type is: "${typeof query}".`);
      }
      [options, callback] = optional(options, callback);
      return page(stringify(query), options, callback);
    },
    readDocuments(link, options, callback) {
      needs("readDocuments", 1, arguments);
      collectionLink(link);
      [options, callback] = optional(options, callback);
      return page(everything, options, callback);
    },
  };
  for (const name of ["readAttachment", "readAttachments", "queryAttachments", "createAttachment", "upsertAttachment", "replaceAttachment", "deleteAttachment"]) {
    collection[name] = () => fail(status.badRequest, `The function "${name}" is not supported: attachments are not built.`);
  }

  const everything = stringify("SELECT * FROM root");

  function page(query, options, callback) {
    const size = pageSize(options);
    const token = text(options.continuation);
    return enqueue(query.length, () => {
      const answer = raw.query(query, size, token);
      settle(answer, callback, () => callback(undefined, parse(answer.text), pageInfo(answer.continuation)));
    });
  }

  // The query API: a stage is a function from a list of values to another. Stages run over
  // page after page of documents until there are enough results. Sorting needs all
  // documents, and so returns the whole result at once.
  const rank = (v) => v === undefined ? 0 : v === null ? 1 : v === false ? 2 : v === true ? 3 :
    typeof v === "number" ? 4 : typeof v === "string" ? 5 : Array.isArray(v) ? 6 : 7;

  function order(a, b) {
    const ranks = rank(a) - rank(b);
    return ranks !== 0 || rank(a) !== 4 && rank(a) !== 5 ? ranks : a < b ? -1 : a > b ? 1 : 0;
  }

  function sorter(by, sign) {
    return (list) => list.map((value, at) => ({ value, at, key: by(value) }))
      .sort((a, b) => sign * order(a.key, b.key) || a.at - b.at)
      .map((entry) => entry.value);
  }

  const flat = (list, deep) => list.flat(deep ? 100 : 1);

  function unwinder(inner, result) {
    return (list) => list.flatMap((outer) => {
      const found = inner(outer);
      if (!Array.isArray(found)) {
        return [];
      }
      return result ? found.flatMap((value) => result(outer, value)) : found;
    });
  }

  function predicate(f) {
    if (typeof f !== "function") {
      fail(status.badRequest, "The predicate/transform function must be provided.");
    }
    return f;
  }

  // Each stage consumes its arguments from the front of the list.
  const stages = {
    filter: (given) => { const f = predicate(given.shift()); return { run: (list) => list.filter((v) => f(v)) }; },
    map: (given) => { const f = predicate(given.shift()); return { run: (list) => list.map((v) => f(v)) }; },
    pluck(given) {
      const name = given.shift();
      if (typeof name !== "string" || name === "") {
        fail(status.badRequest, "The property name must be a string and cannot be empty.");
      }
      return { run: (list) => list.map((v) => v === undefined || v === null ? undefined : v[name]) };
    },
    flatten(given) {
      const shallow = typeof given[0] === "boolean" && given.shift();
      return { run: (list) => flat(list, !shallow) };
    },
    unwind(given) {
      const inner = given.shift();
      if (typeof inner !== "function") {
        fail(status.badRequest, inner ? 'When using "unwind", "collectionSelector" must be a function.' : 'When using "unwind", "collectionSelector" must be used.');
      }
      const result = typeof given[0] === "function" && given[0].length >= 2 ? given.shift() : undefined;
      return { run: unwinder(inner, result) };
    },
    sortBy: (given) => ({ run: sorter(predicate(given.shift()), 1), sorts: true }),
    sortByDescending: (given) => ({ run: sorter(predicate(given.shift()), -1), sorts: true }),
  };

  function evaluate(chain, options, callback) {
    [options, callback] = optional(options, callback);
    if (!callback) {
      callback = intoResponse;
    }
    const size = pageSize(options) < 0 ? 1000 : pageSize(options);
    const sorts = chain.some((stage) => stage.sorts);
    let token = text(options.continuation);
    const isAccepted = enqueue(0, () => {
      const through = (list) => chain.reduce((values, stage) => stage.run(values), list);
      let found = [];
      try {
        do {
          const answer = raw.query(everything, sorts ? 1000 : size - found.length, token);
          if (answer.number) {
            throw failure(answer);
          }
          const rows = parse(answer.text);
          for (const value of sorts ? rows : through(rows)) {
            found.push(value);
          }
          token = answer.continuation;
        } while (token && (sorts || found.length < size && !raw.late()));
        if (sorts) {
          found = through(found);
        }
      } catch (error) {
        return callback(error);
      }
      callback(undefined, found, pageInfo(token));
    });
    return { isAccepted };
  }

  function intoResponse(error, found) {
    if (error) {
      throw error;
    }
    if (!response) {
      fail(status.badRequest, "The callback function must be provided for scenarios, such as pre-trigger, when response object is not available.");
    }
    response.appendBody(stringify(found));
  }

  // own drops the collection, which may be the first argument.
  function own(given) {
    given = Array.from(given);
    if (given.length > 0 && (given[0] === undefined || given[0] === collection || given[0] === globalThis.__)) {
      given.shift();
    }
    return given;
  }

  function chained(before) {
    const link = { isAccepted: true };
    for (const name of Object.keys(stages)) {
      link[name] = function () {
        const given = own(arguments);
        const stage = stages[name](given);
        if (given.some((v) => v !== undefined)) {
          fail(status.badRequest, 'When using "chain", options and the callback can only be provided on the "value" function.');
        }
        return chained(before.concat(stage));
      };
    }
    link.value = (options, callback) => evaluate(before, options, callback);
    return link;
  }

  for (const name of Object.keys(stages)) {
    collection[name] = function () {
      const given = own(arguments);
      const stage = stages[name](given);
      return evaluate([stage], given[0], given[1]);
    };
  }
  collection.chain = () => chained([]);

  // A message is the request or the response: a body, and headers to read. Appending uses the operator +: strings
  // are concatenated, numbers added.
  function message(initial, writable) {
    let value = initial;
    let changed = false;
    const refuse = (name) => {
      if (name !== "Body" && name !== "body") {
        fail(status.badRequest, "Cannot set new values: " + name);
      }
      if (!writable) {
        fail(status.forbidden, "Not a writable property: " + name);
      }
    };
    const fits = (v) => {
      if (v !== undefined && !raw.fits(v)) {
        fail(status.tooLarge, 'Resulting message would be too large because of "Body". Return from script with current message and use continuation token to call the script again or modify your script.');
      }
      return v;
    };
    const m = {
      getBody: () => value,
      getValue: (name) => name === "Body" || name === "body" ? value : raw.header(String(name)),
      setValue(name, v) {
        refuse(name);
        value = fits(v);
        changed = true;
      },
      appendValue(name, v) {
        refuse(name);
        value = fits(value === undefined || value === null ? v : value + v);
        changed = true;
      },
    };
    if (writable) {
      m.setBody = (v) => m.setValue("Body", v);
      m.appendBody = (v) => m.appendValue("Body", v);
    }
    return { m, body: () => changed ? stringify(value) : undefined };
  }

  const inRequest = message(raw.request && parse(raw.request), kind === "pre");
  const request = inRequest.m;
  let response;
  let result = inRequest;
  if (kind !== "procedure") {
    request.getOperationType = () => raw.operation;
  }
  if (kind !== "pre") {
    result = message(raw.response ? parse(raw.response) : "", true);
    response = result.m;
    response.getMaxResourceQuota = () => raw.quota;
    response.getResourceQuotaCurrentUsage = () => raw.usage;
    if (kind === "post") {
      response.getOperationType = () => raw.operation;
    }
  }

  const context = {
    getCollection: () => collection,
    getRequest: () => request,
    abort: (error) => raw.abort(error),
  };
  if (response) {
    context.getResponse = () => response;
  }
  globalThis.getContext = () => context;
  globalThis.__ = Object.create(collection);
  globalThis.__.request = request;
  if (response) {
    globalThis.__.response = response;
  }
  return { step, body: result.body };
})
