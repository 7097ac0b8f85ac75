package admin

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Documents of MongoDB are read and written through its API, in extended JSON: the API for NoSQL would show them as
// items, without members that an item has for itself, and a document that is read, changed and sent back would lose
// those.

// canonical reports whether the sender wants canonical extended JSON, which keeps the types of numbers.
func canonical(r *http.Request) (bool, error) {
	switch text := r.URL.Query().Get("format"); text {
	case "", "relaxed":
		return false, nil
	case "canonical":
		return true, nil
	default:
		return false, fault.New(fault.Invalid, "format is relaxed or canonical, not %q", text)
	}
}

func (a *admin) listDocuments(r *http.Request, c *catalog.Container, most int) (itemPage, error) {
	if r.URL.Query().Has("partitionKey") {
		return itemPage{}, errNoPartitionKey
	}
	find := bson.D{{Key: "find", Value: c.State().Name}, {Key: "batchSize", Value: most},
		{Key: "maxTimeMS", Value: mongoTime}}
	return a.pageOfCursor(r, c, find, most, r.URL.Query().Get("continuation"))
}

var errNoPartitionKey = fault.New(fault.Invalid,
	"a container of the dialect mongodb has no partition key: leave partitionKey out")

// cursorPrefix begins the continuation of a cursor, which the server keeps for ten minutes.
const cursorPrefix = "cursor:"

// pageOfCursor runs a command that opens a cursor, or continues the one of a token.
func (a *admin) pageOfCursor(
	r *http.Request, c *catalog.Container, command bson.D, most int, token string,
) (page itemPage, err error) {
	whole, err := canonical(r)
	if err != nil {
		return page, err
	}
	keeps := keepsIdentity(command)
	if token != "" {
		digits, ok := strings.CutPrefix(token, cursorPrefix)
		id, err := strconv.ParseInt(digits, 10, 64)
		if !ok || err != nil {
			return page, errContinuation
		}
		command = bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: c.State().Name},
			{Key: "batchSize", Value: most}}
	}
	answer, err := a.mongo(r.Context(), c.Database.Name, command)
	if err != nil {
		return page, err
	}
	batch, err := cursorOf(answer)
	if err != nil {
		return page, err
	}
	page.Items, page.rows = []json.RawMessage{}, rowsOfMongo(c, batch.Batch, keeps)
	for _, d := range batch.Batch {
		text, err := extendedJSON(d, whole)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, text)
	}
	if batch.ID != 0 {
		page.Continuation = cursorPrefix + strconv.FormatInt(batch.ID, 10)
	}
	return page, nil
}

// findDocument finds the document whose _id is shown as a text. If several are, a string comes first.
func (a *admin) findDocument(r *http.Request, c *catalog.Container, id string) (bson.Raw, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: identities(id)}}}}
	answer, err := a.mongo(r.Context(), c.Database.Name, bson.D{{Key: "find", Value: c.State().Name},
		{Key: "filter", Value: filter}, {Key: "singleBatch", Value: true}, {Key: "maxTimeMS", Value: mongoTime}})
	if err != nil {
		return nil, err
	}
	page, err := cursorOf(answer)
	switch {
	case err != nil:
		return nil, err
	case len(page.Batch) == 0:
		return nil, errNoDocument(id)
	}
	for _, d := range page.Batch {
		if text, ok := d.Lookup("_id").StringValueOK(); ok && text == id {
			return d, nil
		}
	}
	return page.Batch[0], nil
}

func errNoDocument(id string) error {
	return fault.New(fault.NotFound, "there is no item %q, or it has expired", id)
}

// identities are the values that an _id in a path may stand for: a string; an ObjectId in hexadecimal; a number, true,
// false or null; extended JSON.
func identities(text string) bson.A {
	list := bson.A{text}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == 12 {
		list = append(list, bson.ObjectID(raw))
	}
	// A pattern would match other documents, and is no _id.
	if v, err := valueOf([]byte(text), "_id"); err == nil && text != "" && v.Type != bson.TypeRegex {
		list = append(list, v)
	}
	return list
}

// identityText is the text in a path that stands for an _id.
func identityText(id bson.RawValue) string {
	if text, ok := id.StringValueOK(); ok {
		return text
	}
	if raw, ok := id.ObjectIDOK(); ok {
		return raw.Hex()
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: id}}, false, false)
	if err != nil {
		return ""
	}
	var wrapped struct{ V json.RawMessage }
	_ = json.Unmarshal(text, &wrapped) // it has just been made
	return string(wrapped.V)
}

func (a *admin) showDocument(w http.ResponseWriter, r *http.Request, c *catalog.Container) error {
	if r.URL.Query().Has("partitionKey") {
		return errNoPartitionKey
	}
	d, err := a.findDocument(r, c, r.PathValue("id"))
	if err != nil {
		return err
	}
	if isView(c) { // its rows have no versions
		if len(r.Header["If-Match"]) > 0 {
			return fault.New(fault.Precondition, "an item of a view has no ETag")
		}
		return a.writeDocument(w, r, http.StatusOK, d)
	}
	id, err := bson.Marshal(bson.D{{Key: "_id", Value: d.Lookup("_id")}})
	if err != nil {
		return err
	}
	etag, err := a.MongoETag(r.Context(), c, id)
	if err != nil {
		return err
	}
	if err := meets(conditions(r), etag); err != nil {
		if meets(http.Header{"If-Match": r.Header["If-Match"]}, etag) == nil {
			w.Header().Set("ETag", etag)
			return fault.New(fault.NotModified, "the item has this ETag")
		}
		return err
	}
	// Read after its ETag: if a write has come between, the ETag is that of the version before, and guards no write.
	if d, err = a.findDocument(r, c, r.PathValue("id")); err != nil {
		return err
	}
	w.Header().Set("ETag", etag)
	return a.writeDocument(w, r, http.StatusOK, d)
}

// A guarded is a request that writes a document of MongoDB, with its condition.
type guarded struct {
	*http.Request
	done func() (etag string, refused bool)
}

// guardWrite reads the condition of a request that writes a document of MongoDB.
func (a *admin) guardWrite(r *http.Request) (guarded, error) {
	switch when := r.Header["If-Match"]; {
	case r.URL.Query().Has("partitionKey"):
		return guarded{}, errNoPartitionKey
	case len(r.Header["If-None-Match"]) > 0:
		return guarded{}, fault.New(fault.Unsupported, "If-None-Match is for GET: use If-Match")
	case len(when) > 1 || len(when) == 1 && strings.Contains(when[0], ","):
		return guarded{}, fault.New(fault.Unsupported, "If-Match has one ETag, or *")
	}
	ctx, done := a.MongoGuard(r.Context(), r.Header.Get("If-Match"))
	return guarded{r.WithContext(ctx), done}, nil
}

// answer sets the ETag after a write, and turns the error of a condition that is not met into one.
func (g guarded) answer(w http.ResponseWriter, err error) error {
	etag, refused := g.done()
	if refused {
		return fault.New(fault.Precondition, "the item has another ETag, or is not there: read it again")
	}
	if err == nil && etag != "" {
		w.Header().Set("ETag", etag)
	}
	return err
}

func (a *admin) writeDocument(w http.ResponseWriter, r *http.Request, status int, d bson.Raw) error {
	whole, err := canonical(r)
	if err != nil {
		return err
	}
	text, err := extendedJSON(d, whole)
	if err != nil {
		return err
	}
	a.writeText(w, status, text)
	return nil
}

// insertDocument answers with the document as it was sent, with its _id.
func (a *admin) insertDocument(
	w http.ResponseWriter, r *http.Request, c *catalog.Container, text []byte, upsert bool,
) error {
	if !upsert && len(r.Header["If-Match"]) > 0 {
		return fault.New(fault.Unsupported,
			"If-Match is for an item that exists, and this request creates one: use PUT, or upsert=true")
	}
	g, err := a.guardWrite(r)
	if err != nil {
		return err
	}
	d, err := bsonOf(text, "the item")
	if err != nil {
		return err
	}
	if _, err := canonical(r); err != nil {
		return err
	}
	id, err := d.LookupErr("_id")
	if err != nil {
		if d, id, err = withIdentity(d, bson.NewObjectID()); err != nil { // as drivers do
			return err
		}
	}
	status := http.StatusCreated
	if upsert {
		var replaced bool
		if replaced, err = a.update(g.Request, c, id, d, true); replaced {
			status = http.StatusOK
		}
	} else {
		_, err = a.mongo(g.Context(), c.Database.Name,
			bson.D{{Key: "insert", Value: c.State().Name}, {Key: "documents", Value: bson.A{d}}})
	}
	if err := g.answer(w, err); err != nil {
		return err
	}
	w.Header().Set("Location", itemPath(c, identityText(id)))
	return a.writeDocument(w, r, status, d)
}

// withIdentity puts an _id before the members of a document.
func withIdentity(d bson.Raw, id any) (bson.Raw, bson.RawValue, error) {
	elements, err := d.Elements()
	if err != nil {
		return nil, bson.RawValue{}, err
	}
	whole := bson.D{{Key: "_id", Value: id}}
	for _, e := range elements {
		whole = append(whole, bson.E{Key: e.Key(), Value: e.Value()})
	}
	out, err := bson.Marshal(whole)
	return out, bson.Raw(out).Lookup("_id"), err
}

// update replaces a document, or inserts it if upsert is set. It reports whether there was one.
func (a *admin) update(
	r *http.Request, c *catalog.Container, id bson.RawValue, d bson.Raw, upsert bool,
) (replaced bool, err error) {
	statement := bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}},
		{Key: "u", Value: d}, {Key: "upsert", Value: upsert}}
	answer, err := a.mongo(r.Context(), c.Database.Name,
		bson.D{{Key: "update", Value: c.State().Name}, {Key: "updates", Value: bson.A{statement}}})
	if err != nil {
		return false, err
	}
	n, _ := answer.Lookup("n").AsInt64OK()
	upserted, _ := answer.Lookup("upserted").ArrayOK()
	return n > 0 && len(upserted) == 0, nil
}

// replaceDocument replaces the document whose _id the body has; without one, the document that the path names.
func (a *admin) replaceDocument(w http.ResponseWriter, r *http.Request, c *catalog.Container, text []byte) error {
	g, err := a.guardWrite(r)
	if err != nil {
		return err
	}
	if _, err := canonical(r); err != nil {
		return err
	}
	d, err := bsonOf(text, "the item")
	if err != nil {
		return err
	}
	name := r.PathValue("id")
	id, err := d.LookupErr("_id")
	if err == nil && identityText(id) != name {
		return fault.New(fault.Invalid, "the _id in the body is not that of the path, and it cannot be changed")
	}
	if err != nil {
		found, err := a.findDocument(r, c, name)
		if err != nil {
			return err
		}
		if d, id, err = withIdentity(d, found.Lookup("_id")); err != nil {
			return err
		}
	}
	replaced, err := a.update(g.Request, c, id, d, false)
	switch err = g.answer(w, err); {
	case err != nil:
		return err
	case !replaced:
		return errNoDocument(name)
	}
	return a.writeDocument(w, r, http.StatusOK, d)
}

func (a *admin) deleteDocument(w http.ResponseWriter, r *http.Request, c *catalog.Container) error {
	g, err := a.guardWrite(r)
	if err != nil {
		return err
	}
	name := r.PathValue("id")
	found, err := a.findDocument(r, c, name)
	if err != nil {
		return err
	}
	statement := bson.D{{Key: "limit", Value: 1},
		{Key: "q", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: found.Lookup("_id")}}}}}}
	answer, err := a.mongo(g.Context(), c.Database.Name,
		bson.D{{Key: "delete", Value: c.State().Name}, {Key: "deletes", Value: bson.A{statement}}})
	if _, refused := g.done(); refused {
		return g.answer(w, err)
	}
	if err != nil {
		return err
	}
	if n, _ := answer.Lookup("n").AsInt64OK(); n == 0 {
		return errNoDocument(name)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
