package rest

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxID is the longest id of an item in bytes.
const maxID = 1023

var (
	errNoItem = fault.New(fault.NotFound, "Entity with the specified id does not exist in the system. "+
		"It may have been deleted or have expired, or its partition key may be different.")
	errItemExists = fault.New(fault.Exists, "Entity with the specified id already exists in the system. "+
		"Upsert or replace it.")
	errItemStale = fault.New(fault.Precondition, "One of the specified pre-condition is not met. "+
		"The item has another ETag: read it again.")
	errNoID = fault.New(fault.Invalid,
		"The input content is invalid because the required properties - 'id; ' - are missing. "+
			"Give the item an id, a string that is not empty.")
	errLongID  = fault.New(fault.Invalid, "The id of an item has at most %d bytes.", maxID)
	errOtherID = fault.New(fault.Invalid, "The id in the request's path and the one in its body are not the same. An "+
		"id cannot be changed: create another item.")
)

// postItems creates or upserts one item, or runs a batch. Queries are answered elsewhere.
func postItems(e *exchange) (status int, err error) {
	if e.flag(hBatch) {
		return postBatch(e)
	}
	v, partition, text, err := e.enterWrite()
	if err != nil {
		return 0, adviseQuery(text, err)
	}
	op := store.Op{
		Verb: store.Create, Key: store.Key{Partition: partition},
		IfMatch: e.ifMatch(), IfNoneMatch: e.ifNoneMatch(),
	}
	if e.flag(hUpsert) {
		op.Verb = store.Upsert
	}
	if e.triggered() {
		return e.writeTriggered(op, text)
	}
	if op.Body, op.Key.ID, err = parseItem(text); err != nil {
		return 0, adviseQuery(text, err)
	}
	return e.writeItem(v, op)
}

// readItem answers with an item, rendered directly from the store's memory.
func readItem(e *exchange) (status int, err error) {
	v, partition, err := e.enterItem()
	if err != nil {
		return 0, err
	}
	key, err := e.itemKey(v, partition)
	if err != nil {
		return 0, err
	}
	status = http.StatusOK
	err = e.api.store.Read(e.Context(), v, key, func(d access.Document) error {
		if want := e.ifMatch(); want != nil && !matches(want, d.Version) {
			return errItemStale
		}
		e.etag(d.Version)
		e.charge(readCharge(len(d.Body)))
		e.sendLifetime(v, &d)
		if want := e.ifNoneMatch(); want != nil && matches(want, d.Version) {
			status = http.StatusNotModified
			return nil
		}
		if err := e.growReply(shown(d.Body)); err != nil {
			return err
		}
		e.reply = append(appendItem(e.reply, v.Container, &d), '}')
		return nil
	})
	return status, itemFault(err)
}

func matches(want *access.Version, have access.Version) bool {
	return want == store.AnyVersion || *want == have
}

// replaceItem replaces the item named by the path.
func replaceItem(e *exchange) (status int, err error) {
	v, partition, text, err := e.enterWrite()
	if err != nil {
		return 0, err
	}
	key, err := e.itemKey(v, partition)
	if err != nil {
		return 0, err
	}
	op := store.Op{Verb: store.Replace, Key: key, IfMatch: e.ifMatch(), IfNoneMatch: e.ifNoneMatch()}
	if e.triggered() {
		return e.writeTriggered(op, text)
	}
	if op.Body, err = parseReplacement(text, key.ID); err != nil {
		return 0, err
	}
	return e.writeItem(v, op)
}

// deleteItem deletes the item named by the path.
func deleteItem(e *exchange) (status int, err error) {
	v, partition, err := e.enterItem()
	if err != nil {
		return 0, err
	}
	key, err := e.itemKey(v, partition)
	if err != nil {
		return 0, err
	}
	op := store.Op{Verb: store.Delete, Key: key, IfMatch: e.ifMatch(), IfNoneMatch: e.ifNoneMatch()}
	if e.triggered() {
		return e.writeTriggered(op, nil)
	}
	result, err := e.api.store.Write(e.Context(), e.container, v.Now, op)
	if err != nil {
		return 0, itemFault(err)
	}
	e.charge(deleteCharge(result.Body))
	return http.StatusNoContent, nil
}

// enterWrite is enterItem for a request with a body. It reads the clock only after the body has arrived, so that a
// slow upload does not shorten the item's TTL.
func (e *exchange) enterWrite() (v catalog.View, partition []doc.Value, text []byte, err error) {
	e.writesItem = true
	if text, err = e.bodyThenClock(); err != nil {
		return v, nil, nil, err
	}
	v, partition, err = e.enterItem()
	return v, partition, text, err
}

// bodyThenClock reads the request's body, and then the clock.
func (e *exchange) bodyThenClock() ([]byte, error) {
	text, err := e.body()
	e.readClock()
	return text, err
}

// enterItem begins a request on items of one partition.
func (e *exchange) enterItem() (v catalog.View, partition []doc.Value, err error) {
	if v, err = e.enterItems(); err != nil {
		return v, nil, err
	}
	partition, err = e.onePartition(v.State)
	return v, partition, err
}

// enterItems begins a request on items. It rejects headers that it cannot honour.
func (e *exchange) enterItems() (catalog.View, error) {
	if e.triggered() && !e.takesTriggers() {
		return catalog.View{}, errNoTriggers
	}
	if err := e.checkIntendedRID(); err != nil {
		return catalog.View{}, err
	}
	return e.itemView()
}

// itemView is view for a request on items. It rejects views of the MongoDB API.
func (e *exchange) itemView() (catalog.View, error) {
	v, err := e.view()
	if err == nil && isView(v.State) {
		err = errMongoView
	}
	return v, err
}

// checkIntendedRID rejects a request that is meant for an earlier container of the same name.
func (e *exchange) checkIntendedRID() error {
	if want := e.given(hIntendedRID); want != "" {
		if have := containerRID(e.container).String(); want != have {
			return otherContainer(have, want)
		}
	}
	return nil
}

// A coded error has a substatus of its own, in place of that of its kind.
type coded struct {
	error
	substatus int
}

func (e coded) Unwrap() error { return e.error }

// otherContainer reports that the client's container was replaced by another one of the same name.
func otherContainer(have, want string) error {
	return coded{fault.New(fault.Invalid,
		"Collection rid '%s' in the request header does not match the rid '%s' of the container. "+
			"The container was deleted and created again: read it and drop what is cached about it.", clip(want),
		have), 1024}
}

// itemKey is the key of the item named by the path, in the partition named by the header. A client that addresses the
// container by RID may do the same with the item. Then the name is taken as a RID, and as an id only if no item has
// that RID.
func (e *exchange) itemKey(v catalog.View, partition []doc.Value) (key store.Key, err error) {
	if isMongo(v.State) {
		return e.mongoItemKey(v)
	}
	key = store.Key{Partition: partition, ID: e.name}
	if number, ok := itemNumber(v.Container, e.name); ok && e.byRID {
		if key.ID, err = e.idOfNumber(v, number); err != nil {
			return key, err
		}
	}
	return key, e.grant.authorizeItem(e, v, key, key.ID)
}

// itemNumber is the number in the RID of an item of container c.
func itemNumber(c *catalog.Container, text string) (number uint64, ok bool) {
	r, ok := parseRID(text)
	return r.number, ok && r.hasNumber && r.number != 0 && r.container == c.ID && r.kind == documentRID
}

// idOfNumber is the id of the item with that number, or the path's last segment if there is no such item.
func (e *exchange) idOfNumber(v catalog.View, number uint64) (string, error) {
	id := e.name
	err := e.api.store.Find(e.Context(), v, number, func(d access.Document) error {
		if text, ok := doc.AsString(doc.Lookup(d.Body, "id")); ok {
			id = strings.Clone(text)
		}
		return nil
	})
	if fault.KindOf(err) == fault.NotFound {
		err = nil
	}
	return id, err
}

// parseItem parses a request's body as an item. The id shares the memory of the item.
func parseItem(text []byte) (body doc.Doc, id string, err error) {
	body, err = parseDoc(make([]byte, 0, len(text)+len(text)/8), text, doc.ParseOptions{Skip: isSystemMember})
	if err != nil {
		return nil, "", err
	}
	id, err = idOf(body)
	return body, id, err
}

// parseReplacement parses a request's body as the new content of the item with that id.
func parseReplacement(text []byte, id string) (doc.Doc, error) {
	body, bodyID, err := parseItem(text)
	if err == nil && bodyID != id {
		err = errOtherID
	}
	return body, err
}

// idOf returns the id of an item. It shares the memory of body.
func idOf(body doc.Doc) (string, error) {
	v := doc.Lookup(body, "id")
	id, ok := doc.AsString(v)
	switch {
	case !ok && !doc.IsUndefined(v) && !doc.IsNull(v):
		return "", wrongID(v, maxID+1)
	case id == "":
		return "", errNoID
	case len(id) > maxID:
		return "", errLongID
	}
	return id, nil
}

// systemMembers are the properties that the server adds to an item. If a client sends them, they are dropped.
var systemMembers = []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"}

func isSystemMember(name []byte) bool {
	return len(name) > 2 && name[0] == '_' && slices.Contains(systemMembers, string(name))
}

// writeItem runs one write and answers with the new version of the item.
func (e *exchange) writeItem(v catalog.View, op store.Op) (status int, err error) {
	if !e.minimal() {
		if err := e.growReply(shown(op.Body)); err != nil {
			return 0, err
		}
	}
	result, err := e.api.store.Write(e.Context(), e.container, v.Now, op)
	if err != nil {
		return 0, itemFault(err)
	}
	e.etag(result.Version)
	e.charge(writeCharge(&result))
	e.sendNewLifetime(v, &result.Document)
	if !e.minimal() {
		e.reply = append(appendItem(e.reply, v.Container, &result.Document), '}')
	}
	return writeStatus(&result), nil
}

func writeStatus(result *store.Result) int {
	if result.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func writeCharge(result *store.Result) float64 {
	if result.Created {
		return createCharge(result.Body)
	}
	return replaceCharge(result.Body)
}

// appendItem appends an item as JSON: its own properties in their order, then the system properties. The caller adds
// the closing brace, because some answers add more properties.
func appendItem(dst []byte, c *catalog.Container, d *access.Document) []byte {
	dst = append(dst, '{')
	body := d.Body
	if isMongo(c.State()) {
		shape := itemBuffers.Get().(*[]byte)
		defer itemBuffers.Put(shape)
		body = appendMongoItem((*shape)[:0], body)
		*shape = recycle(body)
	}
	if start := len(dst); len(body) > 0 {
		if dst = doc.AppendMembers(dst, body); len(dst) > start {
			dst = append(dst, ',')
		}
	}
	rid := documentRID.in(c, d.Number)
	dst = rid.append(append(dst, `"_rid":"`...))
	dst = databaseRID(c.Database).append(append(dst, `","_self":"dbs/`...))
	dst = containerRID(c).append(append(dst, "/colls/"...))
	dst = rid.append(append(dst, "/docs/"...))
	dst = appendQuotedETag(append(dst, `/","_etag":`...), d.Version)
	dst = append(dst, `,"_attachments":"attachments/","_ts":`...)
	return strconv.AppendInt(dst, d.Stamp, 10)
}

// appendQuotedETag appends an ETag as a JSON string. The quotes of the ETag are part of it, and are escaped.
func appendQuotedETag(dst []byte, version access.Version) []byte {
	dst = append(dst, `"\`...)
	dst = appendETag(dst, version)
	return append(dst[:len(dst)-1], `\""`...)
}

// itemFault replaces faults of the store about an item with the service's texts.
func itemFault(err error) error {
	if err == nil {
		return nil
	}
	switch fault.KindOf(err) {
	case fault.NotFound:
		return errNoItem
	case fault.Exists:
		if taken, ok := errors.AsType[*store.TakenKey](err); ok {
			return fault.New(fault.Exists, "Entity with the specified id already exists in the system. "+
				"Unique index constraint violation: another item of the partition has the same values at %s.",
				clip(strings.Join(taken.Paths, ", ")))
		}
		return errItemExists
	case fault.Precondition:
		return errItemStale
	}
	return err
}

// docFault converts an error in a body to a fault.
func docFault(err error) error {
	e, ok := errors.AsType[*doc.Error](err)
	switch {
	case !ok:
		return err
	case e.TooLarge:
		return errTooLarge
	}
	return fault.New(fault.Invalid, "The request payload is invalid. Ensure to provide a valid request payload. %s",
		e.Message)
}
