package admin

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// Pages of items.
const (
	pageItems = 100
	maxItems  = 1000
	itemBody  = 32 << 20 // of a request with a document: 16 MiB of BSON are more as text
)

// An itemPage is a page of items or rows.
type itemPage struct {
	Items        []json.RawMessage `json:"items"`
	Continuation string            `json:"continuation,omitempty"`

	// Of a request for lifetimes:
	Lifetimes []foresight.RowLife `json:"lifetimes,omitzero"`
	Now       int64               `json:"now,omitempty"`

	rows []foresight.Row // of MongoDB: what each item names
}

// listItems takes ?max=100&continuation=...&partitionKey=["a"]&lifetimes=true; for MongoDB ?format=canonical, too.
func (a *admin) listItems(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	most, err := number(r.URL.Query().Get("max"), pageItems, maxItems, "max")
	if err != nil {
		return err
	}
	withLives, err := flag(r, "lifetimes")
	if err != nil {
		return err
	}
	present, err := a.present(r)
	if err != nil {
		return err
	}
	asked := present.Unix()
	var page itemPage
	if isMongo(c) {
		page, err = a.listDocuments(r, c, most)
	} else {
		page, err = a.listNoSQL(r, c, most)
	}
	if err == nil && withLives {
		page.Items, page.Lifetimes, page.Now, err = a.lifetimes(r, c, asked, page)
	}
	return a.reply(w, page, err)
}

func isMongo(c *catalog.Container) bool { return c.State().Dialect == catalog.Mongo }

// isView reports whether a container is a view of MongoDB. Its rows are made of documents of other containers.
func isView(c *catalog.Container) bool {
	return isMongo(c) && !doc.IsUndefined(doc.Lookup(c.State().Echo, "viewOn"))
}

func (a *admin) listNoSQL(r *http.Request, c *catalog.Container, most int) (page itemPage, err error) {
	query := r.URL.Query()
	call := nosqlCall{method: http.MethodGet, steps: stepsOf(c, "docs"), header: http.Header{
		"X-Ms-Max-Item-Count": {strconv.Itoa(most)},
	}}
	if token := query.Get("continuation"); token != "" {
		call.header.Set("X-Ms-Continuation", token)
	}
	if key := query.Get("partitionKey"); key != "" {
		call.header.Set("X-Ms-Documentdb-Partitionkey", key)
	}
	answer, err := a.nosql(r.Context(), call)
	if err != nil {
		return page, err
	}
	return pageOf(answer)
}

// pageOf is a feed of the API for NoSQL as a page.
func pageOf(answer *nosqlAnswer) (page itemPage, err error) {
	var feed struct{ Documents []json.RawMessage }
	if err := json.Unmarshal(answer.body, &feed); err != nil {
		return page, err
	}
	page = itemPage{Items: feed.Documents, Continuation: answer.header.Get("X-Ms-Continuation")}
	if page.Items == nil {
		page.Items = []json.RawMessage{}
	}
	return page, nil
}

// showItem answers with an item and its ETag. X-Mayfly-Expires-At says when it ends.
func (a *admin) showItem(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	if isMongo(c) {
		return a.showDocument(w, r, c)
	}
	header, err := a.itemHeader(r, c, nil)
	if err != nil {
		return err
	}
	return a.passItem(w, r, nosqlCall{
		method: http.MethodGet, steps: stepsOf(c, "docs", r.PathValue("id")), header: header,
	})
}

// createItem creates an item; with ?upsert=true it replaces one that exists.
func (a *admin) createItem(w http.ResponseWriter, r *http.Request) error {
	c, text, err := a.containerAndBody(w, r)
	if err != nil {
		return err
	}
	upsert, err := flag(r, "upsert")
	if err != nil {
		return err
	}
	if isMongo(c) {
		return a.insertDocument(w, r, c, text, upsert)
	}
	header, err := a.itemHeader(r, c, text)
	if err != nil {
		return err
	}
	if upsert {
		header.Set("X-Ms-Documentdb-Is-Upsert", "true")
	}
	var head struct{ ID string }
	_ = json.Unmarshal(text, &head) // the API for NoSQL says what is wrong with it
	w.Header().Set("Location", itemPath(c, head.ID))
	err = a.passItem(w, r, nosqlCall{method: http.MethodPost, steps: stepsOf(c, "docs"), header: header, body: text})
	if err != nil {
		w.Header().Del("Location")
	}
	return err
}

func itemPath(c *catalog.Container, id string) string {
	return Base + "/databases/" + url.PathEscape(c.Database.Name) + "/containers/" + url.PathEscape(c.State().Name) +
		"/items/" + pathStep(id)
}

// pathStep is a text as one step of a path. Clients take a dot or two for a folder.
func pathStep(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// replaceItem replaces an item that exists.
func (a *admin) replaceItem(w http.ResponseWriter, r *http.Request) error {
	c, text, err := a.containerAndBody(w, r)
	if err != nil {
		return err
	}
	if isMongo(c) {
		return a.replaceDocument(w, r, c, text)
	}
	header, err := a.itemHeader(r, c, text)
	if err != nil {
		return err
	}
	return a.passItem(w, r, nosqlCall{
		method: http.MethodPut, steps: stepsOf(c, "docs", r.PathValue("id")), header: header, body: text,
	})
}

func (a *admin) deleteItem(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	if isMongo(c) {
		return a.deleteDocument(w, r, c)
	}
	header, err := a.itemHeader(r, c, nil)
	if err != nil {
		return err
	}
	return a.passItem(w, r, nosqlCall{
		method: http.MethodDelete, steps: stepsOf(c, "docs", r.PathValue("id")), header: header,
	})
}

// containerAndBody finds the container and reads the item of a request that writes it.
func (a *admin) containerAndBody(w http.ResponseWriter, r *http.Request) (*catalog.Container, []byte, error) {
	c, err := a.container(r)
	if err != nil {
		return nil, nil, err
	}
	if !isMongo(c) {
		r.Body = http.MaxBytesReader(w, r.Body, doc.MaxBytes)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, bodyError(r, err, `{"id": "1"}`)
	}
	return c, text, nil
}

// passItem answers as the API for NoSQL does.
func (a *admin) passItem(w http.ResponseWriter, r *http.Request, call nosqlCall) error {
	answer, err := a.nosql(r.Context(), call)
	if err != nil {
		return err
	}
	for _, name := range []string{"Etag", "X-Mayfly-Expires-At", "X-Mayfly-Hint"} {
		if value := answer.header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	a.writeText(w, answer.status, answer.body)
	return nil
}

// itemHeader are the conditions of a request for one item, and its partition key: as given, or of the item in text, or
// of the only item with this id.
func (a *admin) itemHeader(r *http.Request, c *catalog.Container, text []byte) (http.Header, error) {
	header, key := conditions(r), r.URL.Query().Get("partitionKey")
	var err error
	switch {
	case key != "":
	case text != nil:
		key, err = partitionKeyOf(c, text)
	default:
		key, err = a.findPartitionKey(r.Context(), c, r.PathValue("id"))
	}
	if key != "" {
		header.Set("X-Ms-Documentdb-Partitionkey", key)
	}
	return header, err
}

// partitionKeyOf is the partition key of an item, as SDKs extract it. {} stands for a member that is not there, or is
// no scalar.
func partitionKeyOf(c *catalog.Container, text []byte) (string, error) {
	var item json.RawMessage = text
	parts := []json.RawMessage{}
	for _, path := range c.State().PartitionPaths() {
		value := item
		for _, step := range path {
			var members map[string]json.RawMessage
			if json.Unmarshal(value, &members) != nil {
				members = nil
			}
			if value = members[step.Name]; value == nil {
				break
			}
		}
		if value == nil || value[0] == '{' || value[0] == '[' {
			value = json.RawMessage(`{}`)
		}
		parts = append(parts, value)
	}
	key, err := json.Marshal(parts)
	if err != nil {
		return "", fault.New(fault.Invalid, "the item is not a JSON object")
	}
	return string(key), nil
}

// findPartitionKey is the partition key of the only item with an id.
func (a *admin) findPartitionKey(ctx context.Context, c *catalog.Container, id string) (string, error) {
	body, _ := json.Marshal(map[string]any{
		"query": "SELECT * FROM c WHERE c.id = @id", "parameters": []any{map[string]string{"name": "@id", "value": id}},
	})
	answer, err := a.nosql(ctx, queryCall(c, body, 2))
	if err != nil {
		return "", err
	}
	page, err := pageOf(answer)
	switch {
	case err != nil:
		return "", err
	case len(page.Items) == 0 && page.Continuation == "":
		return "", fault.New(fault.NotFound, "there is no item %q, or it has expired", id)
	case len(page.Items) != 1:
		return "", fault.New(fault.Invalid,
			"several items may have the id %q: say which one with ?partitionKey=[...]", id)
	}
	return partitionKeyOf(c, page.Items[0])
}

// flag is a query parameter that is true or false.
func flag(r *http.Request, name string) (bool, error) {
	switch text := r.URL.Query().Get(name); text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fault.New(fault.Invalid, "%s is true or false, not %q", name, text)
	}
}
