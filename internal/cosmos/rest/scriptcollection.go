package rest

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A scriptCollection is one partition as the scripts of one transaction see it. It does not use the exchange, because
// a script that does not stop in time may use it after its request has ended.
type scriptCollection struct {
	ctx       context.Context
	api       *API
	view      catalog.View
	tx        *store.ContainerTransaction
	partition []doc.Value
	env       exec.Environment // for queries
	late      func() bool
	stop      func() error // stops queries
	functions *functionSet

	newIDs map[uint64]string // ids of new documents by their temporary numbers
	shown  []access.Document // the document that each operation returned
	ru     float64
	text   []byte // scratch for system properties
}

// do runs one operation in the transaction.
func (c *scriptCollection) do(op store.Op) (store.Result, error) {
	if isMongo(c.view.State) {
		if op.Verb != store.Read {
			return store.Result{}, errMongoWrite
		}
		key, err := c.api.mongoKey(c.ctx, c.view, op.Key.ID)
		if err != nil {
			return store.Result{}, err
		}
		op.Key = key
	}
	op.Key.Partition = c.partition
	result, err := c.tx.Do(c.ctx, op)
	if err != nil {
		c.ru++
		return result, scriptItemFault(err)
	}
	c.record(op, result)
	return result, nil
}

// record records the document that an operation of the transaction returned, and its cost.
func (c *scriptCollection) record(op store.Op, result store.Result) {
	c.shown = append(c.shown, result.Document)
	if result.Number >= store.StandIn {
		c.newIDs[result.Number] = op.Key.ID
	}
	switch op.Verb {
	case store.Read:
		c.ru += readCharge(len(result.Body))
	case store.Delete:
		c.ru += deleteCharge(result.Body)
	default:
		c.ru += writeCharge(&result)
	}
}

// errForeign is the service's error for documents of another partition.
var errForeign = fault.New(fault.PartitionMismatch, "Requests originating from scripts cannot reference partition "+
	"keys other than the one for which client request was submitted.")

func scriptItemFault(err error) error {
	if fault.KindOf(err) == fault.PartitionMismatch {
		return errForeign
	}
	return itemFault(err)
}

// item renders a document for scripts.
func (c *scriptCollection) item(d *access.Document) []byte {
	return append(appendItem(nil, c.view.Container, d), '}')
}

// SelfLink is the container's link by RID.
func (c *scriptCollection) SelfLink() string {
	return string(appendLink(nil, link{"dbs", databaseRID(c.view.Container.Database)}, link{"colls",
		containerRID(c.view.Container)}))
}

// AltLink is the container's link by name.
func (c *scriptCollection) AltLink() string {
	return "dbs/" + c.view.Container.Database.Name + "/colls/" + c.view.Name
}

// id returns the id of the document that a link names.
func (c *scriptCollection) id(link string) (string, error) {
	var p path
	if err := p.splitLink(link); err != nil || p.count != 6 || p.segment[4] != "docs" {
		return "", fault.New(fault.Invalid, "The link '%s' does not name a document.", clip(link))
	}
	name := p.segment[5]
	if !strings.HasPrefix(link, c.SelfLink()) {
		return name, nil
	}
	number, ok := itemNumber(c.view.Container, name)
	if !ok {
		return "", errNoItem
	}
	if id, ok := c.newIDs[number]; ok {
		return id, nil
	}
	if isMongo(c.view.State) {
		_, id, err := c.api.mongoKeyOf(c.ctx, c.view, number)
		return id, scriptItemFault(err)
	}
	id := ""
	err := c.api.store.Find(c.ctx, c.view, number, func(d access.Document) error {
		for i, path := range c.view.PartitionPaths() {
			v := path.Lookup(d.Body)
			if doc.RankOf(v) >= doc.RankArray {
				v = doc.Value{} // keys do not hold arrays and objects either
			}
			if !doc.Equal(v, c.partition[i]) {
				return errNoItem
			}
		}
		text, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		id = strings.Clone(text)
		return nil
	})
	return id, scriptItemFault(err)
}

// Read returns a document, unless its ETag is still the given one.
func (c *scriptCollection) Read(link, unless string) ([]byte, error) {
	id, err := c.id(link)
	if err != nil {
		return nil, err
	}
	result, err := c.do(store.Op{Verb: store.Read, Key: store.Key{ID: id}, IfNoneMatch: parseETag(unless)})
	if err != nil {
		return nil, err
	}
	return c.item(&result.Document), nil
}

// Create creates a document.
func (c *scriptCollection) Create(body []byte) ([]byte, error) {
	return c.put(store.Create, "", body, "")
}

// Upsert creates a document, or replaces the one with the same id.
func (c *scriptCollection) Upsert(body []byte, match string) ([]byte, error) {
	return c.put(store.Upsert, "", body, match)
}

// Replace replaces a document.
func (c *scriptCollection) Replace(link string, body []byte, match string) ([]byte, error) {
	id, err := c.id(link)
	if err != nil {
		return nil, err
	}
	return c.put(store.Replace, id, body, match)
}

// put writes a document. If an id is given, the document must have it.
func (c *scriptCollection) put(verb store.Verb, id string, text []byte, match string) ([]byte, error) {
	body, has, err := parseItem(text)
	if err == nil && id != "" && id != has {
		err = errOtherID
	}
	if err != nil {
		return nil, err
	}
	result, err := c.do(store.Op{Verb: verb, Key: store.Key{ID: has}, Body: body, IfMatch: parseETag(match)})
	if err != nil {
		return nil, err
	}
	return c.item(&result.Document), nil
}

// Delete deletes a document.
func (c *scriptCollection) Delete(link, match string) error {
	id, err := c.id(link)
	if err != nil {
		return err
	}
	_, err = c.do(store.Op{Verb: store.Delete, Key: store.Key{ID: id}, IfMatch: parseETag(match)})
	return err
}

// maxScriptPage is the largest number of rows that a script gets at a time.
const maxScriptPage = 10_000

// Query returns one page of a query over the partition.
func (c *scriptCollection) Query(query []byte, size int, token string) (script.Page, error) {
	q, err := parseScriptQuery(query)
	if err != nil {
		return script.Page{}, err
	}
	scope := c.env.Base
	var at []byte
	if token != "" {
		if at, err = parseContinuation(token, c.view.Container, scope, q.text); err != nil {
			return script.Page{}, err
		}
	}
	env := c.env
	env.Parameters = q.parameters
	env.NoIndex = env.NoIndex || c.tx.Wrote() // indexes do not have the transaction's writes yet
	prepared, err := exec.Prepare(q.tree, env, at)
	if err != nil {
		return script.Page{}, err
	}
	if size <= 0 || size > maxScriptPage {
		size = maxScriptPage
	}
	limit := exec.Limit{Rows: size, Bytes: maxPage, Stop: c.stop}
	rows, page, err := prepared.Run(c.ctx, c, limit, []byte{'['})
	c.ru += queryCharge(page.Metrics)
	if err != nil {
		return script.Page{}, err
	}
	out := script.Page{Rows: append(rows, ']')}
	if page.Next != nil {
		out.Continuation = continuation(c.view.Container, scope, page.Next, q.text)
	}
	return out, nil
}

// parseScriptQuery parses a query that is a JSON string or {query, parameters}.
func parseScriptQuery(text []byte) (q queryRequest, err error) {
	v, err := doc.ValueFromJSON(text)
	if err != nil {
		return q, docFault(err)
	}
	query, ok := doc.AsString(v)
	if body, isObject := doc.AsDoc(v); isObject {
		query, ok = doc.AsString(doc.Lookup(body, "query"))
		if q.parameters, err = parseParameters(doc.Lookup(body, "parameters")); err != nil {
			return q, err
		}
	}
	if !ok {
		return q, required("query")
	}
	q.text = strings.Clone(query)
	q.tree, err = syntax.Parse(q.text)
	return q, err
}

// Scan is the transaction's.
func (c *scriptCollection) Scan(ctx context.Context, a access.Access) iter.Seq2[*access.Document, error] {
	if isMongo(c.view.State) {
		a.Of = access.Partition(c.partition)
	}
	return asItems(c.view.State, c.tx.Scan(ctx, a))
}

// Count never counts: a script must read every document that it counts, so that the commit can check for conflicts.
func (c *scriptCollection) Count(context.Context, access.Access) (uint64, bool, error) {
	return 0, false, nil
}

// Tabulate gives no values, for the same reason.
func (c *scriptCollection) Tabulate(context.Context, access.Access, *access.Table) (access.Tabled, bool, error) {
	return access.Tabled{}, false, nil
}

// System makes the members that the service adds to an item.
func (c *scriptCollection) System(dst []byte, d *access.Document) doc.Doc {
	dst, c.text = appendSystem(dst, c.text, c.view.Container, d)
	return dst
}

// scriptStatus is the status and message that a script sees of an error. If ok is false, the error ends the script,
// which could do nothing about it.
func scriptStatus(err error) (status int, message string, ok bool) {
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		return outcomes[fault.Invalid].status, queryErrors(wrong), true
	}
	err = classify(err)
	switch kind := fault.KindOf(err); kind {
	case fault.Internal, fault.Corrupt, fault.Timeout, fault.Unavailable, fault.Conflict, fault.OwnerNotFound,
		fault.Busy, fault.Undetermined:
		return 0, "", false
	default:
		return outcomes[kind].status, fault.Message(err), true
	}
}

// withCommitted replaces the temporary RIDs, ETags and timestamps in a script's text with those that the documents
// got at the commit.
func (c *scriptCollection) withCommitted(text []byte, results []store.Result) []byte {
	if len(text) < etagLen-2 && len(text) < ridLen {
		return text
	}
	var pairs []string
	for i, was := range c.shown {
		if is := &results[i].Document; was.Number >= store.StandIn {
			pairs = append(pairs, documentRID.in(c.view.Container, was.Number).String(),
				documentRID.in(c.view.Container, is.Number).String())
		}
		if is := &results[i].Document; was.Stamp != is.Stamp {
			pairs = append(pairs, stamped(was.Version), stamped(is.Version))
		}
		if was.Sequence >= store.StandIn {
			pairs = append(pairs, bareETag(was.Version), bareETag(results[i].Version))
		}
	}
	if pairs == nil {
		return text
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// stamped is the part of an item's JSON that has its ETag and timestamp.
func stamped(v access.Version) string {
	return bareETag(v) + `\"","_attachments":"attachments/","_ts":` + strconv.FormatInt(v.Stamp, 10)
}

// ridLen is the length of the RID of an item.
const ridLen = 24

// bareETag is an ETag without its quotes.
func bareETag(v access.Version) string {
	return strings.Trim(string(appendETag(nil, v)), `"`)
}
