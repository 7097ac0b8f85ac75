package rest_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// steps is the language of stories, see testdata/stories/README.md. Each function gets the rest of its line and
// returns what to print, or "".
var steps map[string]func(w *storyRunner, args string) string

func init() {
	steps = map[string]func(w *storyRunner, args string) string{
		"backlog":    (*storyRunner).backlog,
		"batch":      (*storyRunner).batch,
		"body":       (*storyRunner).body,
		"bulk":       (*storyRunner).bulk,
		"change":     (*storyRunner).change,
		"changes":    (*storyRunner).changes,
		"clear":      (*storyRunner).clear,
		"container":  (*storyRunner).container,
		"cost":       (*storyRunner).cost,
		"create":     (*storyRunner).create,
		"definition": (*storyRunner).definition,
		"delete":     (*storyRunner).delete,
		"every":      (*storyRunner).everyWay,
		"list":       (*storyRunner).list,
		"live":       (*storyRunner).live,
		"next":       (*storyRunner).next,
		"page":       (*storyRunner).firstPage,
		"patch":      (*storyRunner).patch,
		"read":       (*storyRunner).read,
		"reclaim":    (*storyRunner).reclaim,
		"replace":    (*storyRunner).replace,
		"restart":    (*storyRunner).restart,
		"same":       (*storyRunner).same,
		"tick":       (*storyRunner).tick,
		"upsert":     (*storyRunner).upsert,
	}
}

const (
	storyContainer = "/dbs/d/colls/c"
	storyItems     = storyContainer + "/docs"
	partitionKey   = "x-ms-documentdb-partitionkey"
)

// An item is what a client remembers of one.
type item struct {
	partition, id string
	etags, rids   []string // all that were ever seen, the latest last
}

// name is how a story calls an item: a in the partition p, q/a in another.
func (i *item) name() string { return nameOf(i.partition, i.id) }

func nameOf(partition, id string) string {
	if partition == "p" {
		return id
	}
	return partition + "/" + id
}

// item finds or begins what is known about an item.
func (w *storyRunner) item(name string) *item {
	partition, id, ok := strings.Cut(name, "/")
	if !ok {
		partition, id = "p", name
	}
	i := slices.IndexFunc(w.items, func(i *item) bool { return i.partition == partition && i.id == id })
	if i < 0 {
		w.items = append(w.items, &item{partition: partition, id: id})
		i = len(w.items) - 1
	}
	return w.items[i]
}

// A request is a step that writes an item, taken apart.
type request struct {
	item   *item
	body   string            // JSON
	header map[string]string // conditions and the partition key
	guard  map[string]string // the conditions as a batch has them
}

// parseItem reads `a ttl=5 if-match=last`.
func (w *storyRunner) parseItem(args string) request {
	w.t.Helper()
	fields := strings.Fields(args)
	if len(fields) == 0 {
		w.t.Fatalf("which item? %q", args)
	}
	r := request{item: w.item(fields[0]), header: map[string]string{}, guard: map[string]string{}}
	r.header[partitionKey] = keyHeader(r.item.partition)
	body := []string{`"id":` + strconv.Quote(r.item.id), `"pk":` + strconv.Quote(r.item.partition)}
	for _, field := range fields[1:] {
		name, value, ok := strings.Cut(field, "=")
		switch {
		case !ok:
			w.t.Fatalf("%q is not name=value", field)
		case name == "if-match":
			r.header["If-Match"], r.guard["ifMatch"] = w.etag(r.item, value), w.etag(r.item, value)
		case name == "if-none-match":
			r.header["If-None-Match"], r.guard["ifNoneMatch"] = w.etag(r.item, value), w.etag(r.item, value)
		default:
			body = append(body, strconv.Quote(name)+":"+value)
		}
	}
	r.body = "{" + strings.Join(body, ",") + "}"
	return r
}

func keyHeader(partition string) string { return `["` + partition + `"]` }

// etag is the ETag that a word of a story stands for.
func (w *storyRunner) etag(i *item, word string) string {
	w.t.Helper()
	switch {
	case word == "any":
		return "*"
	case word == "other":
		return `"00000000-0000-0000-0000-000000000000"`
	case len(i.etags) > 0 && word == "last":
		return i.etags[len(i.etags)-1]
	case len(i.etags) > 0 && word == "first":
		return i.etags[0]
	}
	w.t.Fatalf("%s has no ETag %q", i.name(), word)
	return ""
}

func (w *storyRunner) create(args string) string {
	r := w.parseItem(args)
	return w.written(r.item, w.ask("POST", storyItems, r.body, r.header))
}

func (w *storyRunner) upsert(args string) string {
	r := w.parseItem(args)
	r.header["x-ms-documentdb-is-upsert"] = "True"
	return w.written(r.item, w.ask("POST", storyItems, r.body, r.header))
}

func (w *storyRunner) replace(args string) string {
	r := w.parseItem(args)
	return w.written(r.item, w.ask("PUT", storyItems+"/"+r.item.id, r.body, r.header))
}

func (w *storyRunner) delete(args string) string {
	r := w.parseItem(args)
	return w.written(r.item, w.ask("DELETE", storyItems+"/"+r.item.id, "", r.header))
}

func (w *storyRunner) read(args string) string {
	r := w.parseItem(args)
	return w.say(w.ask("GET", storyItems+"/"+r.item.id, "", r.header))
}

// patch reads `a set /ttl 5 ; incr /n 1 where c.n = 1`.
func (w *storyRunner) patch(args string) string {
	r := w.parsePatch(args)
	return w.written(r.item, w.ask("PATCH", storyItems+"/"+r.item.id, r.body, r.header))
}

func (w *storyRunner) parsePatch(args string) request {
	w.t.Helper()
	args, condition, _ := strings.Cut(args, " where ")
	name, rest, _ := strings.Cut(args, " ")
	for strings.HasPrefix(rest, "if-") {
		guard, after, _ := strings.Cut(rest, " ")
		name, rest = name+" "+guard, after
	}
	r := w.parseItem(name)
	var list []string
	for _, text := range strings.Split(rest, ";") {
		fields := strings.Fields(text)
		if len(fields) < 2 {
			w.t.Fatalf("%q is no operation of a patch", text)
		}
		op := `{"op":"` + fields[0] + `","path":"` + fields[1] + `"`
		switch {
		case fields[0] == "move":
			op = `{"op":"move","from":"` + fields[1] + `","path":"` + fields[2] + `"`
		case len(fields) > 2:
			op += `,"value":` + fields[2]
		}
		list = append(list, op+"}")
	}
	r.body = `{"operations":[` + strings.Join(list, ",") + `]`
	if condition != "" {
		r.body += `,"condition":` + strconv.Quote("from c where "+condition)
	}
	r.body += "}"
	return r
}

// batch parses operations with & between them and runs all or none.
func (w *storyRunner) batch(args string) string {
	return w.many(args, map[string]string{"x-ms-cosmos-batch-atomic": "True", partitionKey: ""})
}

// bulk runs them independently.
func (w *storyRunner) bulk(args string) string {
	return w.many(args, map[string]string{"x-ms-cosmos-batch-atomic": "False",
		"x-ms-cosmos-batch-continue-on-error": "True"})
}

func (w *storyRunner) many(args string, header map[string]string) string {
	header["x-ms-cosmos-is-batch-request"] = "True"
	var list []string
	var of []*item
	for _, text := range strings.Split(args, "&") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		r := request{}
		if verb == "patch" {
			r = w.parsePatch(rest)
		} else {
			r = w.parseItem(rest)
		}
		list, of = append(list, operation(verb, r)), append(of, r.item)
	}
	if _, atomic := header[partitionKey]; atomic {
		header[partitionKey] = keyHeader(of[0].partition)
	}
	a := w.ask("POST", storyItems, "["+strings.Join(list, ",")+"]", header)
	return fmt.Sprint(a.status, " ", w.outcomes(a, of))
}

func operation(verb string, r request) string {
	parts := []string{
		`"operationType":"` + strings.ToUpper(verb[:1]) + verb[1:] + `"`,
		`"partitionKey":` + strconv.Quote(keyHeader(r.item.partition)),
	}
	if verb != "create" && verb != "upsert" {
		parts = append(parts, `"id":`+strconv.Quote(r.item.id))
	}
	if verb != "read" && verb != "delete" {
		parts = append(parts, `"resourceBody":`+r.body)
	}
	for name, etag := range r.guard {
		parts = append(parts, strconv.Quote(name)+":"+strconv.Quote(etag))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var identity = regexp.MustCompile(`"(_rid|_self|_etag)":"(?:[^"\\]|\\.)*"`)

// body shows an item as it is, apart from its ids.
func (w *storyRunner) body(args string) string {
	r := w.parseItem(args)
	a := w.ask("GET", storyItems+"/"+r.item.id, "", r.header)
	return strconv.Itoa(a.status) + " " + identity.ReplaceAllString(string(a.body), `"$1":"…"`)
}

// do does a step that is part of another one.
func (w *storyRunner) do(line string) string {
	w.t.Helper()
	word, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	do, ok := steps[word]
	if !ok {
		w.t.Fatalf("no such step: %s", line)
	}
	return do(w, strings.TrimSpace(args))
}

// cost does the rest of the line and adds its charge.
func (w *storyRunner) cost(args string) string {
	said := w.do(args)
	return said + ", " + w.last.header.Get("x-ms-request-charge") + " RU"
}

// same runs two steps and prints only whether they were answered alike.
func (w *storyRunner) same(args string) string {
	one, other, _ := strings.Cut(args, "&")
	w.do(one)
	status, text := w.last.status, message(w.last)
	w.do(other)
	if w.last.status != status || status >= 300 && message(w.last) != text {
		return fmt.Sprintf("no: %d %s, but %d %s", status, text, w.last.status, message(w.last))
	}
	return "yes"
}

// clear deletes a whole partition.
func (w *storyRunner) clear(partition string) string {
	a := w.ask("POST", storyContainer+"/operations/partitionkeydelete", "",
		map[string]string{partitionKey: keyHeader(partition)})
	return failure(a)
}

// tick makes each read of the clock advance it: `tick 1s`.
func (w *storyRunner) tick(args string) string {
	d, err := time.ParseDuration(args)
	must(w.t, err)
	w.clock.tick = d
	return ""
}

// restart closes everything and opens it again over the same files.
func (w *storyRunner) restart(string) string {
	w.close()
	w.open()
	return ""
}

// reclaim frees the space of everything that has expired.
func (w *storyRunner) reclaim(string) string {
	ctx := context.Background()
	reaper := w.nextStack().reaper
	before, err := reaper.Stats(ctx)
	must(w.t, err)
	must(w.t, reaper.ReclaimNow(ctx))
	after, err := reaper.Stats(ctx)
	must(w.t, err)
	return fmt.Sprintf("%d documents, %d left", after.Documents-before.Documents, after.Backlog)
}

// backlog counts the expired that are still on disk.
func (w *storyRunner) backlog(string) string {
	s, err := w.nextStack().reaper.Stats(context.Background())
	must(w.t, err)
	return fmt.Sprintf("%d expired on disk", s.Backlog)
}
