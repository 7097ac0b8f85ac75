package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The samples do in other words what the scripts do that Microsoft publishes with the API:
// https://github.com/Azure/azure-cosmosdb-js-server/tree/master/samples.

const bulkImport = `
function importAll(items) {
    const c = getContext().getCollection();
    let made = 0;
    if (!items) throw new Error("nothing to import");
    if (items.length === 0) { getContext().getResponse().setBody(0); return; }
    create(items[made]);
    function create(item) {
        const accepted = c.createDocument(c.getSelfLink(), item, created);
        if (!accepted) getContext().getResponse().setBody(made);
    }
    function created(err, item, options) {
        if (err) throw err;
        made++;
        if (made >= items.length) getContext().getResponse().setBody(made);
        else create(items[made]);
    }
}`

func TestBulkImport(t *testing.T) {
	items := make([]map[string]any, 3000)
	for i := range items {
		items[i] = map[string]any{"n": i}
	}
	args, _ := json.Marshal([]any{items})
	s := newMemoryCollection(t)
	if got := s.call(bulkImport, string(args)); got != "3000" {
		t.Errorf("it gives %s", got)
	}
	if len(s.docs) != 3000 {
		t.Errorf("%d documents", len(s.docs))
	}
	if id := s.ids[7]; len(id) != 36 {
		t.Errorf("the id given is %q", id)
	}
	if got := newMemoryCollection(t).call(bulkImport, `[[]]`); got != "0" {
		t.Errorf("of nothing it gives %s", got)
	}
}

func TestBulkImportGoesOnWhereItStopped(t *testing.T) {
	s := newMemoryCollection(t)
	h := s.host()
	h.Late = func() bool { return s.calls >= 5 }
	r, err := compiled(t, bulkImport).RunProcedure(context.Background(), []byte(`[[{},{},{},{},{},{},{},{},{}]]`), h)
	if err != nil || string(r.Body) != "5" {
		t.Errorf("it gives %s, %v; want 5", r.Body, err)
	}
}

const bulkDelete = `
function removeAll(query) {
    const c = getContext().getCollection();
    const response = getContext().getResponse();
    const answer = { deleted: 0, continuation: true };
    if (!query) throw new Error("no query");
    find();
    function find(continuation) {
        const accepted = c.queryDocuments(c.getSelfLink(), query, { continuation }, (err, found, options) => {
            if (err) throw err;
            if (found.length > 0) remove(found);
            else if (options.continuation) find(options.continuation);
            else { answer.continuation = false; response.setBody(answer); }
        });
        if (!accepted) response.setBody(answer);
    }
    function remove(found) {
        if (found.length === 0) { find(); return; }
        const accepted = c.deleteDocument(found[0]._self, {}, (err, options) => {
            if (err) throw err;
            answer.deleted++;
            found.shift();
            remove(found);
        });
        if (!accepted) response.setBody(answer);
    }
}`

func TestBulkDelete(t *testing.T) {
	s := newMemoryCollection(t)
	for i := range 250 {
		s.put([]byte(fmt.Sprintf(`{"id":"%d"}`, i)))
	}
	if got := s.call(bulkDelete, `["SELECT * FROM c"]`); got != `{"deleted":250,"continuation":false}` ||
		len(s.docs) != 0 {
		t.Errorf("it gives %s, and %d are left", got, len(s.docs))
	}
}

func TestCounterUnderAnETag(t *testing.T) {
	const counter = `
	function next(id) {
		__.readDocument(__.getAltLink() + "/docs/" + id, (err, d) => {
			if (err && err.number === 404) return __.createDocument(__.getAltLink(), { id, n: 1 }, () => __.response.setBody(1));
			if (err) throw err;
			d.n++;
			__.replaceDocument(d._self, d, { etag: d._etag }, (err, now) => {
				if (err) throw err;
				__.response.setBody(now.n);
			});
		});
	}`
	s := newMemoryCollection(t)
	for want := 1; want < 4; want++ {
		if got := s.call(counter, `["x"]`); got != fmt.Sprint(want) {
			t.Errorf("it gives %s, want %d", got, want)
		}
	}
}

func TestPreTriggerAddsATimestamp(t *testing.T) {
	p := compiled(t, `
	function stamp() {
		const request = getContext().getRequest();
		const item = request.getBody();
		if (!("timestamp" in item)) item.timestamp = new Date(0).getTime() + request.getOperationType().length;
		request.setBody(item);
	}`)
	request := Request{Operation: "Create", Body: []byte(`{"id":"a"}`)}
	if _, err := p.RunTrigger(context.Background(), &request, nil, newMemoryCollection(t).host()); err != nil {
		t.Fatal(err)
	}
	if got := string(request.Body); got != `{"id":"a","timestamp":6}` {
		t.Errorf("the body is %s", got)
	}
}

func TestPostTriggerUpdatesMetadata(t *testing.T) {
	p := compiled(t, `
	function count() {
		const c = getContext().getCollection();
		const made = getContext().getResponse().getBody();
		const accepted = c.queryDocuments(c.getSelfLink(), 'SELECT * FROM root r WHERE r.isMetadata = true', (err, found) => {
			if (err) throw new Error("Error" + err.message);
			if (found.length !== 1) throw "no metadata";
			found[0].names += " " + made.id;
			found[0].items += 1;
			if (!c.replaceDocument(found[0]._self, found[0], (err) => { if (err) throw "cannot update"; })) throw "late";
		});
		if (!accepted) throw "late";
	}`)
	s := newMemoryCollection(t, `{"id":"_metadata","isMetadata":true,"names":"","items":0}`)
	request, response := Request{Operation: "Create", Body: []byte(`{"id":"a"}`)}, []byte(`{"id":"a","_ts":1}`)
	if _, err := p.RunTrigger(context.Background(), &request, &response, s.host()); err != nil {
		t.Fatal(err)
	}
	if m := s.docs["_metadata"]; m["items"] != 1.0 || m["names"] != " a" {
		t.Errorf("the metadata are %v", m)
	}
	if string(response) != `{"id":"a","_ts":1}` {
		t.Errorf("the response has become %s", response)
	}
	delete(s.docs, "_metadata")
	s.ids = nil
	_, err := p.RunTrigger(context.Background(), &request, &response, s.host())
	if err == nil || !strings.Contains(err.Error(), "Exception = no metadata") {
		t.Errorf("error %v", err)
	}
}

func TestAsyncFunctions(t *testing.T) {
	const source = `
	function main(id) {
		const read = (id) => new Promise((resolve, reject) => {
			const accepted = __.readDocument(__.getAltLink() + "/docs/" + id, (err, d) => err ? reject(err) : resolve(d));
			if (!accepted) reject(new Error(429, "not accepted"));
		});
		async function work() {
			const a = await read(id);
			const b = await read(a.next);
			return a.n + b.n;
		}
		work().then((n) => getContext().getResponse().setBody(n)).catch((err) => getContext().abort(err));
	}`
	s := newMemoryCollection(t, `{"id":"a","n":1,"next":"b"}`, `{"id":"b","n":2,"next":"zz"}`)
	if got := s.call(source, `["a"]`); got != "3" {
		t.Errorf("it gives %s", got)
	}
	if err := s.fails(source, `["b"]`); !strings.Contains(err.Error(), "not there") || err.(*Exception).Number != 404 {
		t.Errorf("error %v", err)
	}
	if err := s.fails(`async function f() { throw new Error(418, "tea"); }`, `[]`); err.(*Exception).Number != 418 {
		t.Errorf("error %v", err)
	}
}
